"""The one way to compile: Numba, with a cache on disk wherever one can be read or written.

A compiled function is looked for in the folders of ``_folders`` in their order, and kept in the first of them that can
be written. Where none can (a read-only container, no home), it is compiled in memory for the life of the process: a fit
never fails for want of a cache. A folder that can only be read still serves, so that what ``python -m askew.warm`` has
compiled while an image was built is found by whoever runs the image.

Numba's own cache knows a function by the source of its file alone. Here its key holds the sources of all askew modules
it is compiled from, so that a callee edited in another file is noticed.

Numba is imported when the first module with a compiled function is, never on ``import askew``.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import logging
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from (askew[\w.]*) import ([\w, ]*)", re.MULTILINE)
_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)  # a folder that is not there, a file cut off or foreign
_listeners: list[Callable[[], None]] = []
_compiled: list[str] = []
_kept: set[str] = set()


def compiled(*, signatures: Any = None, **flags: Any) -> Callable[[Any], Any]:
    """Decorator that compiles a function with Numba when it is first called.

    Parameters
    ----------
    signatures : list of signatures, optional
        Compile for these at once, and for no others.
    **flags
        Options of ``numba.njit``. The interpreter lock is always released, and no entry point for C is made.
    """
    import numba

    def decorate(function: Any) -> Any:
        dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True, **flags)(function)
        dispatcher._cache = _make_cache(function)
        compile_one = dispatcher.compile

        def compile_undisturbed(signature: Any) -> Any:
            with _without_collection():
                return compile_one(signature)

        dispatcher.compile = compile_undisturbed
        for signature in signatures or ():
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
        return dispatcher

    return decorate


@contextmanager
def _without_collection() -> Iterator[None]:
    """Hold the search for cyclic garbage: a compiler makes millions of objects that live, a sixth of its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def when_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once if anything has to be compiled inside the block, before it is."""

    def listen() -> None:
        if listen in _listeners:
            _listeners.remove(listen)
            tell()

    _listeners.append(listen)
    try:
        yield
    finally:
        if listen in _listeners:
            _listeners.remove(listen)


def compilations() -> tuple[int, list[str]]:
    """How often this process has compiled, and the folders where it has kept the results."""
    return len(_compiled), sorted(_kept)


def _announce(name: str) -> None:
    """Tell the log, once in a process, and whoever listens that a function is about to be compiled."""
    _compiled.append(name)
    _log_compilation()
    logging.getLogger("askew").debug("Compiling %s.", name)
    for listener in tuple(_listeners):
        listener()


@cache
def _log_compilation() -> None:
    logging.getLogger("askew").info(
        "Compiling for this machine: seconds, once where the result can be kept on disk. "
        "`python -m askew.warm` does it in advance."
    )


def _make_cache(function: Any) -> Any:
    """Numba's cache of a function, over all folders."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

    class Locator(_CacheLocator):  # type: ignore[misc]
        """Numba's idea of where a cache is; the folders are ours to try."""

        _py_file = inspect.getfile(function)

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

        def ensure_cache_path(self) -> None:
            """Nothing: a folder is made when it is written to."""

        def get_cache_path(self) -> str:
            return folders[0]

        def get_source_stamp(self) -> str:
            return source_stamp(function.__module__)

        def get_disambiguator(self) -> str:
            return str(function.__code__.co_firstlineno)

    class Implementation(CompileResultCacheImpl):  # type: ignore[misc]
        """The part of Numba's cache that writes and reads a compiled function."""

        _locator_classes = (Locator,)

    class Cache(FunctionCache):  # type: ignore[misc]
        """Numba's cache of one function."""

        _impl_class = Implementation

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)
            if found is None:
                _announce(f"{function.__module__}.{function.__qualname__}")
            return found

    folders = _folders(Locator._py_file)
    held = Cache(function)
    stamp = source_stamp(function.__module__)
    held._cache_file = _Files([IndexDataCacheFile(folder, held._impl.filename_base, stamp) for folder in folders])
    return held


class _Files:
    """The files of one function in several folders: read where they are, written where that is possible."""

    def __init__(self, files: list[Any]) -> None:
        self._files = files

    def load(self, key: Any) -> Any:
        """Return what is kept under a key, or None."""
        for file in self._files:
            try:
                data = file.load(key)
            except _UNREADABLE:
                continue
            if data is not None:
                return data
        return None

    def save(self, key: Any, data: Any) -> None:
        """Keep ``data`` in the first folder that can be written, if there is one."""
        for file in self._files:
            try:
                os.makedirs(file._cache_path, exist_ok=True)
                file.save(key, data)
            except _UNREADABLE:
                continue
            _kept.add(str(file._cache_path))
            return

    def flush(self) -> None:
        """Forget all that is kept."""
        for file in self._files:
            try:
                file.flush()
            except _UNREADABLE:
                continue


def _folders(source: str) -> list[str]:
    """Folders for what a source file compiles to: in ``NUMBA_CACHE_DIR``, or else beside the source and at home."""
    from numba.core import config
    from numba.core.caching import _CacheLocator
    from numba.misc.appdirs import AppDirs

    own = _CacheLocator.get_suitable_cache_subpath(source)
    if config.CACHE_DIR:
        return [os.path.join(config.CACHE_DIR, own)]
    home = AppDirs(appname="numba", appauthor=False).user_cache_dir
    return [os.path.join(os.path.dirname(source), "__pycache__"), os.path.join(home, own)]


@cache
def source_stamp(module: str) -> str:
    """Hash of the source of a module and of every askew module it imports at its top, and they at theirs."""
    sources: dict[str, bytes] = {}
    _collect(module, sources)
    whole = hashlib.sha256()
    for name in sorted(sources):
        whole.update(name.encode() + b"\0" + hashlib.sha256(sources[name]).digest())
    return whole.hexdigest()


def _collect(module: str, sources: dict[str, bytes]) -> None:
    path = getattr(sys.modules.get(module), "__file__", None)
    if module in sources or path is None:
        return
    try:
        sources[module] = Path(path).read_bytes()
    except OSError:  # inside an archive: the version stands for the source
        sources[module] = sys.modules["askew"].__version__.encode()
        return
    for package, names in _IMPORT.findall(sources[module].decode()):
        for name in (package, *(f"{package}.{name.strip()}" for name in names.split(","))):
            _collect(name, sources)
