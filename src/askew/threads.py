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
from typing import Any

from threadpoolctl import ThreadpoolController


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


@contextmanager
def workers() -> Iterator[Workers]:
    """Enter the pool: a new one, or the one this computation already holds."""
    held = _current.get()
    if held is not None:
        yield held
        return
    controller = _controller(os.getpid()).select(user_api="blas")
    count = max([pool["num_threads"] for pool in controller.info()], default=1)
    with controller.limit(limits=1):
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
