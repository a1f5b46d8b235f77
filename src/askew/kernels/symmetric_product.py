"""A product with a whole symmetric matrix, each entry computed once.

Solves
    Kv for a v without zeros. A tile of the upper triangle, while it is hot in a core's cache, is multiplied from both
    sides: its entries are computed once and serve twice, which pays where an entry costs more than a product.
Given
    A matrix that produces tiles of rows, v.
Returns
    Kv in float64.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.threads import spans, workers

Vector = NDArray[np.float64]

HEIGHT, WIDTH = 128, 512  # half a megabyte: what a core keeps


def symmetric_product(matrix: Any, v: Vector) -> Vector:
    """Kv, in threads."""
    total = np.zeros(matrix.n)
    lock = threading.Lock()

    def work(first: int, last: int) -> None:
        part = np.zeros(matrix.n)
        prepared = matrix.prepare(np.arange(first, last), np.float64)
        for begin, end in spans(matrix.n - first, WIDTH):
            begin, end = first + begin, first + end
            tile = matrix.tile(prepared, slice(begin, end))
            part[first:last] += tile @ v[begin:end]
            beyond = max(begin, last)  # the square on the diagonal has both its sides already
            part[beyond:end] += v[first:last] @ tile[:, beyond - begin :]
        with lock:
            np.add(total, part, out=total)

    matrix.tile(matrix.prepare(np.arange(1), np.float64), slice(0, 1))  # operands are made once, not per thread
    with workers() as pool:
        pool.map(work, spans(matrix.n, HEIGHT))
    return total
