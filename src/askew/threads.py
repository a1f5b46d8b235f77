"""One pool of threads, not two.

Kernel tiles and gradient updates are cut into pieces that run side by side in Python threads (NumPy and the
compiled loops release the interpreter lock), with BLAS held at one thread meanwhile: two pools fighting for the
same cores were measured to cost a factor of five. The number of threads is what BLAS would have used, so limits
set by ``threadpoolctl``, ``OMP_NUM_THREADS`` or joblib's workers are kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import RLock
from typing import Any

from threadpoolctl import LibController, ThreadpoolController


class Workers:
    """A pool of threads that exists while a computation runs."""

    def __init__(self, count: int, executor: ThreadPoolExecutor | None) -> None:
        self.count = count
        self._executor = executor

    def map(self, work: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> None:
        """Call ``work(*piece)`` for every piece; the calling thread takes part."""
        if self._executor is None or len(pieces) < 2:
            for piece in pieces:
                work(*piece)
            return
        queue = iter(pieces)

        def drain() -> None:
            # next() on a list iterator is atomic: each piece goes to whichever thread is free
            for piece in queue:
                work(*piece)

        futures = [self._executor.submit(drain) for _ in range(self.count - 1)]
        drain()
        for future in futures:
            future.result()


_current: ContextVar[Workers | None] = ContextVar("askew_workers", default=None)


@cache
def _controller(pid: int) -> ThreadpoolController:
    return ThreadpoolController()


class _BlasLimit:
    """BLAS held at one thread while anything is computed, in whichever thread of the process.

    Most BLAS libraries have one number of threads for the process: the first computation that enters saves it, the last
    one that leaves restores it. If each restored what it found, computations that overlap would leave BLAS at one
    thread. Libraries with a number for each thread are limited and restored by every computation for itself.
    """

    def __init__(self) -> None:
        self._lock, self._entries = RLock(), 0
        self._saved: list[tuple[LibController, int]] = []

    @contextmanager
    def entered(self) -> Iterator[int]:
        """Hold BLAS at one thread meanwhile; gives the number of threads BLAS had on entering."""
        libraries = _controller(os.getpid()).select(user_api="blas").lib_controllers
        own = [library for library in libraries if _is_of_thread(library)]
        with self._lock:
            count = max([library.get_num_threads() or 1 for library in libraries], default=1)
            if self._entries == 0:
                self._saved = _limited([library for library in libraries if library not in own])
            self._entries += 1
        saved = _limited(own)
        try:
            yield count
        finally:
            _restore(saved)
            with self._lock:
                self._entries -= 1
                self._restore_if_last()

    def before_fork(self) -> None:
        """Nobody enters or leaves while the process is copied."""
        self._lock.acquire()

    def after_fork(self) -> None:
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Only the thread that forked goes on in the child: the other ones will never leave."""
        self._entries = min(self._entries, 0 if _current.get() is None else 1)
        self._restore_if_last()
        self._lock.release()

    def _restore_if_last(self) -> None:
        if self._entries == 0:
            saved, self._saved = self._saved, []
            _restore(saved)


def _is_of_thread(library: LibController) -> bool:
    """Whether each thread has a number of BLAS threads of its own."""
    return library.internal_api == "mkl" or (library.internal_api == "openblas" and library.threading_layer == "openmp")


def _limited(libraries: list[LibController]) -> list[tuple[LibController, int]]:
    """Hold libraries at one thread; gives those that obeyed, with the number they had."""
    saved = []
    for library in libraries:
        before = library.get_num_threads() or 1
        if before > 1:
            library.set_num_threads(1)
            if library.get_num_threads() == 1:  # a thread that set a limit by threadpoolctl before may not allow it
                saved.append((library, before))
    return saved


def _restore(saved: list[tuple[LibController, int]]) -> None:
    for library, before in saved:
        # threadpoolctl lets the thread that limited OpenBLAS change it and ignores all others, until it is told so
        let_go = getattr(library, "clear_controlling_thread", lambda force: None)
        let_go(force=True)
        library.set_num_threads(before)
        let_go(force=True)


_blas = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_blas.before_fork, after_in_parent=_blas.after_fork, after_in_child=_blas.after_fork_in_child
    )


@contextmanager
def workers() -> Iterator[Workers]:
    """Enter the pool: a new one, or the one this computation already holds."""
    held = _current.get()
    if held is not None:
        yield held
        return
    with _blas.entered() as count:
        executor = ThreadPoolExecutor(count - 1) if count > 1 else None
        token = _current.set(Workers(count, executor))
        try:
            yield _current.get()  # type: ignore[misc]
        finally:
            _current.reset(token)
            if executor is not None:
                executor.shutdown(wait=False)


@contextmanager
def alone() -> Iterator[None]:
    """Keep to the calling thread: for tasks that run side by side in threads of their own, inside ``workers()``."""
    token = _current.set(Workers(1, None))
    try:
        yield
    finally:
        _current.reset(token)


def for_each(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    """Call ``work(item)`` for every item, several at a time, each keeping to one thread; a single item has them all."""
    if len(items) < 2:
        for item in items:
            work(item)
        return

    def task(item: Any) -> None:
        with alone():
            work(item)

    with workers() as pool:
        pool.map(task, [(item,) for item in items])


def spans(n: int, width: int) -> list[tuple[int, int]]:
    """Cut range(n) into pieces of at most ``width``."""
    return [(start, min(n, start + width)) for start in range(0, n, max(1, width))]
