"""Sums over all pairs of points, each kernel entry computed once.

Solves
    product   Kv for a v without zeros.
    scatter   Σ_ij w_i w_j (K_ij − m_i)², m_i = Σ_j w_j K_ij / Σw: how much the kernel rows vary over the data; and Kv
              on the way.
    A tile of the upper triangle, while it is hot in a core's cache, is read from both sides: its entries are computed
    once and serve twice, which pays where an entry costs more than a product.
Given
    A matrix that produces tiles of rows, v or w.
Returns
    Kv, the scatter. Entries in the precision asked for, sums of tiles in float64. The scatter is
        Σ w_i w_j (K_ij − c)² − Σ w_i (Σ_j w_j (K_ij − c))² / Σw
    for any c, and c is the mean of the entries where they are nearly equal: rows of a symmetric matrix can only be flat
    together, so nothing is lost to rounding where a wide kernel makes them so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.threads import spans, workers

Array = NDArray[Any]
Vector = NDArray[np.float64]

TILE_ROWS, TILE_COLUMNS = 256, 512  # a megabyte in float64 at most: what a core keeps


def symmetric_product(matrix: Any, v: Vector, dtype: Any = np.float64) -> Vector:
    """Kv, in threads."""
    total, v, lock = np.zeros(matrix.n), v.astype(dtype, copy=False), threading.Lock()

    def work(first: int, last: int) -> None:
        part = np.zeros(matrix.n)
        for begin, end, tile in _tiles(matrix, first, last, dtype):
            part[first:last] += tile @ v[begin:end]
            beyond = max(begin, last)  # the square on the diagonal has both its sides already
            part[beyond:end] += v[first:last] @ tile[:, beyond - begin :]
        with lock:
            np.add(total, part, out=total)

    _over_rows(matrix, dtype, work)
    return total


def symmetric_scatter(matrix: Any, weight: Vector, v: Vector, dtype: Any = np.float64) -> tuple[float, Vector]:
    """Σ_ij w_i w_j (K_ij − m_i)² and Kv, in threads."""
    some = matrix.block(np.unique(np.linspace(0, matrix.n - 1, 64).astype(np.int64)), np.float64)
    level = float(some.mean()) if some.std() < 0.1 * abs(some.mean()) else 0.0
    sums, squares, lock = np.zeros((matrix.n, 2)), [0.0], threading.Lock()
    pair = np.column_stack([weight, v]).astype(dtype)

    def work(first: int, last: int) -> None:
        part, own = np.zeros((matrix.n, 2)), 0.0
        for begin, end, tile in _tiles(matrix, first, last, dtype):
            if level:
                tile -= tile.dtype.type(level)
            part[first:last] += tile @ pair[begin:end]
            beyond = max(begin, last)
            part[beyond:end] += tile[:, beyond - begin :].T @ pair[first:last]
            own += 2.0 * _squares(tile, pair[first:last, 0], pair[begin:end, 0])
            if begin < last:  # the square on the diagonal counts once
                own -= _squares(tile[:, : last - begin], pair[first:last, 0], pair[begin : min(end, last), 0])
        with lock:
            np.add(sums, part, out=sums)
            squares[0] += own

    _over_rows(matrix, dtype, work)
    scatter = squares[0] - float(weight @ np.square(sums[:, 0])) / float(weight.sum())
    return max(0.0, scatter), sums[:, 1] + level * float(v.sum())


def _squares(tile: Array, left: Array, right: Array) -> float:
    """Σ left_i right_j tile_ij²."""
    if left[0] == right[0] and (left == left[0]).all() and (right == right[0]).all():
        return float(left[0]) ** 2 * float(np.vdot(tile, tile))
    return float(left @ (np.square(tile) @ right))


def _tiles(matrix: Any, first: int, last: int, dtype: Any) -> Any:
    """The tiles of some rows from the diagonal to the right, in one piece of memory."""
    prepared = matrix.prepare(np.arange(first, last), dtype)
    memory = np.empty((last - first) * min(TILE_COLUMNS, matrix.n - first), dtype)
    for begin, end in spans(matrix.n - first, TILE_COLUMNS):
        out = memory[: (last - first) * (end - begin)].reshape(last - first, end - begin)
        yield first + begin, first + end, matrix.tile(prepared, slice(first + begin, first + end), out)


def _over_rows(matrix: Any, dtype: Any, work: Callable[[int, int], None]) -> None:
    matrix.tile(matrix.prepare(np.arange(1), dtype), slice(0, 1))  # operands are made once, not per thread
    with workers() as pool:
        pool.map(work, spans(matrix.n, TILE_ROWS))
