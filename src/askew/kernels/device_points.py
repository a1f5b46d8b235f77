"""Points of a kernel matrix that live in another array library, on a GPU say.

Given
    X of shape (n, d), an array of any library that array-api-compat knows, and a kernel function.
Returns
    What ``points`` returns for arrays of the host: tiles u(a)'v(b). Operands are made in float64 a tile at a time, as
    float64 ones of all points would take twice the memory of the points; those in float32 are kept, since every round
    of a solver reads them. They are filled with zeros up to a width that matrix units like.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from askew.arrays import Home
from askew.kernels import fused
from askew.kernels.function import KernelFunction
from askew.kernels.points import Left, Points, some_rows
from askew.threads import spans

TILE_BYTES = 2**28
"""Memory of one tile of kernel values."""
_COLUMN_MULTIPLE = 16  # columns of the operands: what matrix units want
_SUM_COLUMNS = 8192  # points of a tile of a sum


class DevicePoints(Points):
    """Rows of an array that is not NumPy's; see ``DensePoints`` for what the methods return.

    Parameters
    ----------
    X : array of shape (n, d)
    function : KernelFunction
    tile_bytes : int
    shift : array of shape (d,), optional
        What is subtracted from every point first; where the kernel allows it and none is given, the mean, or the median
        where the mean leaves points far out.
    """

    def __init__(self, X: Any, function: KernelFunction, tile_bytes: int = TILE_BYTES, shift: Any = None) -> None:
        self.X, self.function, self.home, self.tile_bytes = X, function, Home(X), tile_bytes
        self.n = int(X.shape[0])
        self.shift = self._zeros(X.shape[1]) if shift is None else shift
        if shift is None and function.is_translation_invariant and self.n:
            self._centre()

    def _centre(self) -> None:
        """Shift by the mean, or by the median where the mean leaves points far out: one cell may have moved it."""
        if self.function.distance_factor is not None:
            self.shift = self._mean()
            if not len(self.far):
                return
        self.shift = self._median()
        for name in ("squared_norms", "far"):
            self.__dict__.pop(name, None)

    @cached_property
    def squared_norms(self) -> Any:
        xp = self.home.xp
        return self._by_rows(lambda rows: xp.sum(self._centred(rows) ** 2, axis=1), self.X)

    def height(self, width: int, dtype: Any) -> int:
        """How many rows of a tile so wide fit into its memory."""
        return max(64, self.tile_bytes // max(1, width * np.dtype(dtype).itemsize))

    def tile_width(self, m: int, itemsize: int) -> int:
        return max(64, self.tile_bytes // max(1, m * itemsize))

    @property
    def sum_tile(self) -> tuple[int, int]:
        width = min(max(1, self.n), _SUM_COLUMNS)
        return self.height(width, np.float64), width

    def like(self, Z: Any) -> Any:
        return self.home.put(Z)

    @staticmethod
    def cut(X: Any, first: int, last: int) -> Any:
        return X[first:last, :]

    def left(self, rows: Any, dtype: Any) -> Left:
        centred = self._centred(rows)
        norms = self.home.xp.sum(centred * centred, axis=1)
        operand = self._lengthen(self.function.scale * centred, self.function.left(norms), dtype)
        return Left(operand, *self.far_among(rows, norms))

    def right(self, rows: Any, dtype: Any) -> Any:
        """v(b) for the given rows of data."""
        rows = self._centred(rows)
        norms = self.home.xp.sum(rows * rows, axis=1)
        return self._lengthen(rows, self.function.right(norms), dtype)

    def rows_left(self, indices: Any, dtype: Any) -> Left:
        xp = self.home.xp
        if dtype == np.float32 and not len(self.far):
            return Left(xp.take(self._kept[0], indices, axis=0), self.far, None)
        return self.left(xp.take(self.X, indices, axis=0), dtype)

    def right_operand(self, window: slice, dtype: Any) -> Any:
        """v(b) for b in a window of the points."""
        return self._kept[1][window, :] if dtype == np.float32 else self.right(self.X[window, :], dtype)

    def products(self, left: Left, window: slice, out: None = None) -> Any:
        is_single = left.operand.dtype == self.home.dtype(np.float32)
        products = left.operand @ self.right_operand(window, np.float32 if is_single else np.float64).T
        return self.mend(products, left, window)

    def pairs(self, indices: Any, dtype: Any) -> tuple[Left, Any]:
        if dtype == np.float32:
            return self.rows_left(indices, dtype), self.home.xp.take(self._kept[1], indices, axis=0).T
        rows = self.home.xp.take(self.X, indices, axis=0)
        return self.left(rows, dtype), self.right(rows, dtype).T

    def pair_products(self, pairs: tuple[Left, Any], first: int, last: int) -> Any:
        left, right = pairs
        return self.mend_pairs(left.operand[first:last, :] @ right, left, first, last)

    def sum_inner(self, Z: Any, v: Any) -> Any:
        w = self._zeros((self.X.shape[1], *v.shape[1:]))
        for first, last in spans(self.n, self.height(self.X.shape[1], np.float64)):
            w = w + self.home.put(self.X[first:last, :], np.float64).T @ v[first:last, ...]
        return self._by_rows(lambda rows: self.home.put(rows, np.float64) @ w, Z)

    def subset(self, indices: Any) -> DevicePoints:
        xp, some = self.home.xp, copy(self)
        some.X, some.n = xp.take(self.X, indices, axis=0), int(indices.shape[0])
        for name in ("_kept", "far") if len(self.far) else ("_kept",):
            some.__dict__.pop(name, None)
        some.squared_norms = xp.take(self.squared_norms, indices, axis=0)
        return some

    def can_fuse(self, operand: Any) -> bool:
        """Whether sums of kernel rows need no rows here; see ``fused``."""
        return not len(self.far) and fused.can_fuse(self.function, operand)

    def add_rows(self, g: Any, right: Any, left: Any, steps: Any) -> Any:
        """g += Σ_j steps_j finish(right left_j), fused."""
        return fused.add_rows(self.function, g, right, left, steps)

    def fused_sum(self, Z: Any, coefficients: Any) -> Any:
        """Σ_j k(z, x_j) coefficients[j] for every row z of Z in float64, fused, one column after the other."""
        left, columns = self.left(self.X, np.float64).operand, []
        for k in range(coefficients.shape[1]):
            scores = self._zeros(Z.shape[0])
            for first, last in spans(Z.shape[0], self.height(4 * left.shape[1], np.float64)):
                right = self.right(Z[first:last, :], np.float64)
                self.add_rows(scores[first:last], right, left, coefficients[:, k])
            columns.append(scores)
        return self.home.xp.stack(columns, axis=1)

    @cached_property
    def _kept(self) -> tuple[Any, Any]:
        """u(X) and v(X) in float32, made once: what every round reads."""
        height = self.height(4 * self.X.shape[1], np.float64)
        operands = (
            self._by_rows(lambda rows: self.left(rows, np.float32).operand, self.X, height),
            self._by_rows(lambda rows: self.right(rows, np.float32), self.X, height),
        )
        self.home.finish()  # another thread may read them in a lane of its own
        return operands

    def _mean(self) -> Any:
        """Mean of the points in float64, a tile at a time."""
        total = self._zeros(self.X.shape[1])
        for first, last in spans(self.n, self.height(self.X.shape[1], np.float64)):
            total = total + self.home.xp.sum(self.home.put(self.X[first:last, :], np.float64), axis=0)
        return total / self.n

    def _median(self) -> Any:
        """The upper median of every column over some of the rows, in float64: no single cell moves it."""
        rows = self.home.xp.sort(self.home.put(self.X[some_rows(self.n), :], np.float64), axis=0)
        return rows[rows.shape[0] // 2, :]

    def distances(self, rows: Any, others: Any) -> Any:
        """‖a − b‖² from differences in float64, a few rows at a time."""
        a, b = self.home.put(rows, np.float64), self.home.put(others, np.float64)
        height = max(1, self.height(b.shape[0] * b.shape[1], np.float64) // 64)
        xp = self.home.xp
        parts = [
            xp.sum((a[first:last, None, :] - b[None, :, :]) ** 2, axis=2) for first, last in spans(a.shape[0], height)
        ]
        return xp.concat(parts)

    def _with_distances(self, products: Any, places: Any, columns: Any, rows: Any, others: Any) -> Any:
        xp, factor = self.home.xp, self.function.distance_factor
        assert factor is not None
        arguments = xp.astype(-factor * self.distances(rows, others), products.dtype, copy=False)
        here, there = (self._counts(k, n) for k, n in zip((places, columns), products.shape, strict=True))
        mended = xp.take(xp.take(arguments, here[0], axis=0), there[0], axis=1)
        return xp.where(here[1][:, None] & there[1][None, :], mended, products)

    def _counts(self, places: Any, n: int) -> tuple[Any, Any]:
        """For each of n rows the number it has among ``places`` (0 where it has none), and whether it has one."""
        numbers, mask = np.zeros(n, np.int64), np.zeros(n, bool)
        numbers[places], mask[places] = np.arange(len(places)), True
        return self.home.put(numbers), self.home.put(mask)

    def _by_rows(self, of: Any, X: Any, height: int | None = None) -> Any:
        """What ``of`` makes of the rows of X, a tile at a time."""
        edges = spans(X.shape[0], height or self.height(X.shape[1], np.float64)) or [(0, 0)]
        return self.home.xp.concat([of(X[first:last, :]) for first, last in edges])

    def _zeros(self, shape: Any) -> Any:
        return self.home.put(np.zeros(shape))

    def _centred(self, rows: Any) -> Any:
        return self.home.put(rows, np.float64) - self.shift

    def _lengthen(self, rows: Any, columns: list[Any], dtype: Any) -> Any:
        """Points with the kernel's columns appended, and zeros up to a width that matrix units like."""
        xp, width = self.home.xp, rows.shape[1] + len(columns)
        parts = [rows, *(c[:, None] for c in columns)]
        if width % _COLUMN_MULTIPLE:
            parts.append(self._zeros((rows.shape[0], _COLUMN_MULTIPLE - width % _COLUMN_MULTIPLE)))
        return xp.astype(xp.concat(parts, axis=1), self.home.dtype(dtype), copy=False)
