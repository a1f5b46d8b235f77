"""The next blocks are read while the last one is worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def read_ahead(blocks: Iterator[T], ahead: int = 1) -> Iterator[T]:
    """The same blocks, so many of them always ahead on another thread; memory is that of as many blocks more.

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
