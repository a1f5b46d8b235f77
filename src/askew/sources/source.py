"""What every source of rows offers: blocks in order, and a reduction over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from askew.exceptions import DataError
from askew.threads import alone

S = TypeVar("S")
T = TypeVar("T")

BLOCK_ROWS = 65_536
"""Rows of a block where the source may choose: large enough for fast products, small enough to forget."""
WAITING = 2
"""Items that wait for a thread: enough that none is ever idle while the next one is on its way."""


class Source(ABC):
    """Rows that arrive in blocks, the same blocks in the same order on every pass.

    A block is whatever the source's kind is made of: an array, a sparse matrix or an Arrow table. Memory is that of a
    few blocks, whatever the number of rows.

    Attributes
    ----------
    name : str
        For messages: a file name, "standard input", "memory".
    columns : tuple of str
        Empty where rows carry no names.
    categories : tuple of str
        Those of the columns that hold text, or a dictionary of any kind.
    n_rows : int or None
        None where only a pass would tell.
    files : tuple of str
        Those that are read; empty where rows come from elsewhere.
    """

    name: str = "memory"
    columns: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    n_rows: int | None = None
    files: tuple[str, ...] = ()

    @abstractmethod
    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Blocks in order, none of them empty; with ``columns``, only these are read."""

    def located_blocks(self, columns: Sequence[str] | None = None) -> Iterator[tuple[str, Any]]:
        """The blocks, each with the words that say where it stands."""
        start = 0
        for block in self.blocks(columns):
            stop = start + count_rows(block)
            yield f"{self.name}, rows {start + 1:,} to {stop:,}", block
            start = stop

    def map_reduce(self, of: Callable[[Any], T], merge: Callable[[T, T], T], columns: Sequence[str] | None = None) -> T:
        """``of`` every block, merged with its neighbours; what ``of`` refuses is named by where it stands.

        Parameters
        ----------
        of : callable
            Of a block.
        merge : callable
            Of two results, the earlier rows first; associative up to rounding.
        columns : sequence of str, optional
            Read only these.

        Examples
        --------
        >>> import numpy as np
        >>> from askew.moments import Moments
        >>> from askew.sources import MemorySource
        >>> X = np.arange(20.0).reshape(10, 2)
        >>> moments = MemorySource(X, block_rows=3).map_reduce(Moments.of, Moments.merge)
        >>> bool(np.allclose(moments.covariance, np.cov(X.T, bias=True)))
        True
        """
        total: T | None = None
        for part in self._parts(of, columns):
            total = part if total is None else merge(total, part)
        return self._required(total)

    def _parts(self, of: Callable[[Any], T], columns: Sequence[str] | None) -> Iterator[T]:
        """``of`` every block, in order."""
        return (naming(where, of, block) for where, block in self.located_blocks(columns))

    def _required(self, total: T | None) -> T:
        if total is None:
            raise DataError(f"{self.name} holds no rows.")
        return total

    def map(self, function: Callable[[Any], Any]) -> MappedSource:
        """The same rows with ``function`` applied to each block when it is read."""
        return MappedSource(self, function)


def naming(where: str, of: Callable[[Any], T], block: Any) -> T:
    """``of(block)``; an error about the data says where they are."""
    try:
        return of(block)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error


def count_rows(block: Any) -> int:
    """Rows of a block of any kind."""
    if hasattr(block, "num_rows"):
        return int(block.num_rows)
    return int((block if hasattr(block, "shape") else block.X).shape[0])


class MappedSource(Source):
    """A source seen through a function of its blocks."""

    def __init__(self, source: Source, function: Callable[[Any], Any]) -> None:
        self._source, self._function = source, function
        self.name, self.n_rows, self.files = source.name, source.n_rows, source.files

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        return map(self._function, self._source.blocks(columns))


def read_ahead(blocks: Iterator[T], ahead: int = 1) -> Iterator[T]:
    """Blocks, so many of them always read ahead on another thread; memory is that of as many blocks more.

    Examples
    --------
    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(1) as pool:
        coming = deque(pool.submit(next, blocks, None) for _ in range(ahead))
        while (block := coming.popleft().result()) is not None:
            coming.append(pool.submit(next, blocks, None))
            yield block


def side_by_side(work: Callable[[S], T], items: Iterable[S], count: int) -> Iterator[T]:
    """``work`` of every item in ``count`` threads, each of which keeps to itself; never more than a few items at once.

    Examples
    --------
    >>> list(side_by_side(lambda n: n * n, range(5), 2))
    [0, 1, 4, 9, 16]
    """

    def task(item: S) -> T:
        with alone():
            return work(item)

    with ThreadPoolExecutor(count) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(task, item))
            if len(waiting) > count + WAITING:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
