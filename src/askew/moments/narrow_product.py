"""The scatter of rows of few features about a point, compiled.

Solves
    Z'Z for Z = (W^½(X − 1s'), W^½1): rows shifted by s and weighted, and a column with the roots of their weights.
Given
    X of shape (n, d) in float64 or float32 and any memory order, s, the roots of the weights, and memory for a tile.
Returns
    The (d + 1) × (d + 1) product in float64: the scatter about s, W'(X − 1s') beside it, and Σ w at the end.
Why it is fast
    A BLAS product of so few columns spends its time packing them. Here some rows at a time are shifted into a tile that
    stays in the first cache, feature by feature, and three features are multiplied with three at once: nine sums in
    registers for six numbers read, and half of all pairs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from askew.compiled import compiled

TILE = 256
"""Rows of a tile."""


def empty_tile(d: int, dtype: Any) -> NDArray[Any]:
    """Memory for :func:`narrow_scatter`: a line for each feature, one for the weights, a multiple of three in all."""
    return np.zeros((-(-(d + 1) // 3) * 3, TILE), dtype)


def narrow_scatter(rows: Any, shift: Any, factor: Any, tile: NDArray[Any]) -> NDArray[np.float64]:
    """The product of the shifted rows, each times its factor, with the factors as a last column.

    Everything is of the same precision.

    Examples
    --------
    >>> import numpy as np
    >>> X, shift, ones = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([1.0, 1.0]), np.ones(2)
    >>> narrow_scatter(X, shift, ones, empty_tile(2, np.float64)).tolist()
    [[4.0, 8.0, 2.0], [8.0, 17.0, 5.0], [2.0, 5.0, 2.0]]
    """
    size, total = rows.shape[1] + 1, np.zeros((len(tile), len(tile)))
    _compiled(tile.dtype)(rows, shift, factor, tile, total)
    return total[:size, :size]


@cache
def _compiled(dtype: Any) -> Any:
    """``add_rows`` for one precision and rows of any strides, so that it is compiled once and not for every order."""
    number = numba.from_dtype(dtype)
    given = numba.types.Array(number, 2, "A", readonly=True), numba.types.Array(number, 1, "C", readonly=True)
    signature = (given[0], given[1], given[1], number[:, ::1], numba.float64[:, ::1])
    return compiled(signatures=[signature], fastmath={"reassoc", "contract", "nsz"})(add_rows)


def add_rows(rows, shift, factor, tile, total):  # type: ignore[no-untyped-def]
    """Add the products of all rows to ``total``, tile by tile: its upper half first, which is then mirrored."""
    n, d = rows.shape
    zero = tile.dtype.type(0)
    for start in range(0, n, tile.shape[1]):
        m = min(tile.shape[1], n - start)
        weights = factor[start : start + m]
        for j in range(d):
            line, column, away = tile[j], rows[start : start + m, j], shift[j]
            for k in range(m):
                line[k] = (column[k] - away) * weights[k]
        tile[d, :m] = weights
        for i in range(0, tile.shape[0], 3):
            a, b, c = tile[i], tile[i + 1], tile[i + 2]
            for j in range(i, tile.shape[0], 3):
                u, v, w = tile[j], tile[j + 1], tile[j + 2]
                au, av, aw, bu, bv, bw, cu, cv, cw = zero, zero, zero, zero, zero, zero, zero, zero, zero
                for k in range(m):
                    au += a[k] * u[k]
                    av += a[k] * v[k]
                    aw += a[k] * w[k]
                    bu += b[k] * u[k]
                    bv += b[k] * v[k]
                    bw += b[k] * w[k]
                    cu += c[k] * u[k]
                    cv += c[k] * v[k]
                    cw += c[k] * w[k]
                total[i, j] += au
                total[i, j + 1] += av
                total[i, j + 2] += aw
                total[i + 1, j] += bu
                total[i + 1, j + 1] += bv
                total[i + 1, j + 2] += bw
                total[i + 2, j] += cu
                total[i + 2, j + 1] += cv
                total[i + 2, j + 2] += cw
    for i in range(1, tile.shape[0]):
        for j in range(i):
            total[i, j] = total[j, i]
