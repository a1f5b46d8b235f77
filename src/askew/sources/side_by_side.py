"""Work on blocks side by side, results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from askew.threads import alone

S = TypeVar("S")
T = TypeVar("T")
WAITING = 2
"""Items that wait for a thread: enough that none is ever idle while the next one is on its way."""


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
