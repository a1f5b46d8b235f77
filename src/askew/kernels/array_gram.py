"""The kernel matrix of points that live in another array library, on a GPU say.

Solves
    What ``Gram`` solves, where the points are: K_ij = finish(u(x_i)'v(x_j)) for blocks, sums of rows, products Kv, and
    against new points. No row is kept: on such a device computing one again costs less than storing it, so memory is
    that of the points, O(n·d), and of one tile.
Given
    A kernel function and X of any library that array-api-compat knows.
Returns
    Methods that end in ``_at`` take and give arrays of that library; a solver's loop uses those. The others speak NumPy
    like every matrix here, so that whatever needs a matrix now and then does not care where it lives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home, host, is_elsewhere
from askew.kernels.function import KernelFunction
from askew.kernels.fused import add_rows, can_fuse
from askew.kernels.gram import Gram, product_rounding
from askew.kernels.points import some_rows
from askew.threads import spans

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

TILE_BYTES = 2**28
"""Memory of one tile of kernel values."""
_MULTIPLE = 16  # columns of the operands: what matrix units want


class ArrayGram:
    """Kernel matrix of ``function`` on the rows of ``X``.

    Parameters
    ----------
    function : KernelFunction
    X : array of shape (n, d)
    shift : array of shape (d,), optional
        What is subtracted from every point first; where the kernel allows it and none is given, the mean, or the median
        where the mean leaves points far out.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.kernels import RBF
    >>> ArrayGram(RBF(0.5), np.array([[0.0], [1.0]])).block(np.arange(2)).round(3).tolist()
    [[1.0, 0.607], [0.607, 1.0]]
    """

    def __init__(self, function: KernelFunction, X: Any, shift: Any = None) -> None:
        self.function, self.X = function, X
        self.home = Home(X)
        self.n, self.is_psd = int(X.shape[0]), function.is_psd
        self.tile_bytes = TILE_BYTES
        self._operands: tuple[Any, Any] | None = None
        self._norms: Any = None
        self.far_limit = function.far_limit(int(X.shape[1]))
        is_centred = shift is None and function.is_translation_invariant and self.n > 0
        self.shift = self._mean() if is_centred else self.home.put(np.zeros(X.shape[1])) if shift is None else shift
        self.has_far = self._has_far()
        if is_centred and (self.has_far or function.distance_factor is None):  # one cell may have moved the mean
            self.shift, self._norms = self._median(), None
            self.has_far = self._has_far()

    def argument_bound(self) -> float:
        """Size of the terms summed for one entry, of a typical point: what float32 rounding is relative to."""
        return self._bound(self.home.xp.mean)

    def diagonal(self) -> Vector:
        return host(self.diagonal_at())

    def diagonal_at(self) -> Any:
        """K_ii in float64, here."""
        return self.function.diagonal(self._squared_norms())

    def block(self, indices: Indices, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices][:, indices]."""
        return host(self.block_at(self.home.put(indices), dtype))

    def block_at(self, indices: Any, dtype: Any) -> Any:
        """K[indices][:, indices], here."""
        products = self._left_at(indices, dtype) @ self._right_at(indices, dtype).T
        rows = self._rows_if_far(indices)
        return self._finish(products, rows, rows)

    def rows_at(self, first: int, last: int, dtype: Any) -> Any:
        """K[first:last, :], here."""
        products = self._left(self.X[first:last, :], dtype) @ self._right(self.X, dtype).T
        return self._finish(products, self.X[first:last, :], self.X)

    def rows(self, indices: Indices, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices, :]."""
        return self.tile(self.prepare(indices, dtype), slice(0, self.n))

    def prepare(self, indices: Indices, dtype: Any) -> Any:
        """The left-hand side of K[indices, :], for ``tile``."""
        indices = self.home.put(indices)
        return self._left_at(indices, dtype), indices, dtype

    def tile(self, prepared: Any, columns: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        left, indices, dtype = prepared
        window = self.X[columns, :]
        tile = host(self._finish(left @ self._right(window, dtype).T, self._rows_if_far(indices), window))
        if out is None:
            return tile
        out[...] = tile
        return out

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns of m rows are best produced at a time."""
        return max(64, self.tile_bytes // max(1, m * itemsize))

    def add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K[indices], with rows in the given precision and sums in float64; g may be changed in place."""
        left, steps = self._left_at(indices, dtype), self.home.put(steps, dtype)
        if can_fuse(self.function, left) and dtype == np.float32 and not self.has_far:
            return add_rows(self.function, g, self._kept()[1], left, steps)
        moved = self._rows_if_far(indices)
        for first, last in spans(self.n, self._height(left.shape[0], dtype)):
            window = self.X[first:last, :]
            tile = self._finish(self._right(window, dtype) @ left.T, window, moved)
            g[first:last] = g[first:last] + self.home.put(tile @ steps, np.float64)
        return g

    def matvec(self, v: Vector) -> Vector:
        """Kv in float64."""
        return host(self.matvec_at(self.home.put(v, np.float64)))

    def matvec_at(self, v: Any) -> Any:
        """Kv in float64, here."""
        xp = self.home.xp
        (support,) = xp.nonzero(v)
        coefficients = xp.take(v, support, axis=0)
        if self.function.is_bilinear:
            w = self.home.put(self._rows(support), np.float64).T @ coefficients
            return self._each(lambda rows: self.home.put(rows, np.float64) @ w, self.X)
        return self._sum(self._rows(support), self.X, coefficients)

    def weighted_sum(self, Z: Any, coefficients: Any) -> Any:
        """Σ_j k(z, x_j) coefficients[j] for every row z of Z; coefficients may have several columns."""
        Z, coefficients = self.home.put(Z), self.home.put(coefficients, np.float64)
        if coefficients.ndim == 1:
            return host(self._sum(self.X, Z, coefficients))
        columns = [self._sum(self.X, Z, coefficients[:, k]) for k in range(coefficients.shape[1])]
        return host(self.home.xp.stack(columns, axis=1))

    def cross(self, Z: Any, dtype: Any = np.float64) -> NDArray[Any]:
        """k(z, x_j) as a (len(Z), n) array."""
        Z = self.home.put(Z)
        return host(self._finish(self._left(Z, dtype) @ self._right(self.X, dtype).T, Z, self.X))

    def subset(self, indices: Indices) -> ArrayGram:
        """The same kernel on some of the points."""
        some = ArrayGram(self.function, self._rows(self.home.put(indices)), self.shift)
        some.tile_bytes = self.tile_bytes
        return some

    def argument_sizes(self) -> Vector:
        """What the rounding of each point's arguments grows with."""
        return host(self._squared_norms())

    def product_rounding(self, v: Vector) -> float:
        """Bound of the error of an entry of Kv as ``matvec`` computes it."""
        return product_rounding(self.function, self.argument_sizes(), int(self.X.shape[1]), v)

    def careful_product(self, v: Vector, indices: Indices) -> Vector:
        """(Kv)[indices] in float64, from entries whose argument was computed without cancellation, on the host."""
        support = np.flatnonzero(v)
        rows = np.concatenate([support, indices])
        own = np.zeros(len(rows))
        own[: len(support)] = v[support]
        held = Gram(self.function, host(self._rows(self.home.put(rows))))
        return held.careful_product(own, np.arange(len(support), len(rows)))

    @property
    def _float64(self) -> Any:
        return self.home.dtype(np.float64)

    def _bound(self, of: Any) -> float:
        return self.function.argument_bound(np.array([float(of(self._squared_norms())) if self.n else 0.0]))

    def _mean(self) -> Any:
        """Mean of the points in float64, a tile at a time."""
        xp, total = self.home.xp, self.home.put(np.zeros(self.X.shape[1]))
        for first, last in spans(self.n, self._height(self.X.shape[1], np.float64)):
            total = total + xp.sum(self.home.put(self.X[first:last, :], np.float64), axis=0)
        return total / self.n

    def _median(self) -> Any:
        """The upper median of every column over some of the rows, in float64: no single cell moves it."""
        rows = self.home.xp.sort(self.home.put(self.X[some_rows(self.n), :], np.float64), axis=0)
        return rows[rows.shape[0] // 2, :]

    def _is_far(self, squared_norms: Any) -> Any:
        """Which points are too far out for products; see ``points``."""
        return ~(squared_norms <= self.far_limit)

    def _height(self, width: int, dtype: Any) -> int:
        """How many rows of a tile so wide fit into its memory."""
        return max(64, self.tile_bytes // max(1, width * np.dtype(dtype).itemsize))

    def _rows(self, indices: Any) -> Any:
        return self.home.xp.take(self.X, indices, axis=0)

    def _squared_norms(self) -> Any:
        if self._norms is None:
            xp = self.home.xp
            self._norms = self._each(lambda rows: xp.sum(self._centred(rows) ** 2, axis=1), self.X)
        return self._norms

    def _each(self, of: Any, X: Any) -> Any:
        """A value per row of X, a tile at a time."""
        parts = [of(X[first:last, :]) for first, last in spans(X.shape[0], self._height(X.shape[1], np.float64))]
        return self.home.xp.concat(parts) if parts else self.home.put(np.empty(0))

    def _centred(self, rows: Any) -> Any:
        return self.home.put(rows, np.float64) - self.shift

    def _left(self, rows: Any, dtype: Any) -> Any:
        rows = self._centred(rows)
        norms = self.home.xp.sum(rows * rows, axis=1)
        return self._lengthen(self.function.scale * rows, self.function.left(norms), dtype)

    def _right(self, rows: Any, dtype: Any) -> Any:
        rows = self._centred(rows)
        norms = self.home.xp.sum(rows * rows, axis=1)
        return self._lengthen(rows, self.function.right(norms), dtype)

    def _lengthen(self, rows: Any, columns: list[Any], dtype: Any) -> Any:
        """Points with the kernel's columns appended, and zeros up to a width that matrix units like."""
        xp, width = self.home.xp, rows.shape[1] + len(columns)
        parts = [rows, *(c[:, None] for c in columns)]
        if width % _MULTIPLE:
            missing = _MULTIPLE - width % _MULTIPLE
            parts.append(xp.zeros((rows.shape[0], missing), dtype=rows.dtype, device=self.home.device))
        return xp.astype(xp.concat(parts, axis=1), self.home.dtype(dtype), copy=False)

    def _left_at(self, indices: Any, dtype: Any) -> Any:
        """u(x) of some of the points; float32 is at hand."""
        if dtype == np.float32:
            return self.home.xp.take(self._kept()[0], indices, axis=0)
        return self._left(self._rows(indices), dtype)

    def _right_at(self, indices: Any, dtype: Any) -> Any:
        if dtype == np.float32:
            return self.home.xp.take(self._kept()[1], indices, axis=0)
        return self._right(self._rows(indices), dtype)

    def _kept(self) -> tuple[Any, Any]:
        """u(X) and v(X) in float32, made once: what every round reads."""
        if self._operands is None:
            parts = [
                (self._left(self.X[a:z, :], np.float32), self._right(self.X[a:z, :], np.float32))
                for a, z in spans(self.n, self._height(4 * self.X.shape[1], np.float64))
            ]
            left, right = zip(*parts, strict=True)
            operands = self.home.xp.concat(left), self.home.xp.concat(right)
            self.home.finish()  # another thread may read them in a lane of its own
            self._operands = operands
        return self._operands

    def _has_far(self) -> bool:
        """Whether any point is too far out for products."""
        is_of_distances = self.function.distance_factor is not None
        return is_of_distances and bool(self.home.xp.any(self._is_far(self._squared_norms())))

    def _rows_if_far(self, indices: Any) -> Any:
        """The points at the indices, where differences may be needed; else None."""
        return self._rows(indices) if self.has_far else None

    def _finish(self, products: Any, rows: Any, others: Any) -> Any:
        """The kernel from u(a)'v(b) of two sets of rows, which far points need for their differences."""
        if self.has_far:
            products = self._mended(products, rows, others)
        self.function.finish(products)
        return products

    def _mended(self, products: Any, rows: Any, others: Any) -> Any:
        """The products with −γ‖a − b‖² where both points are far."""
        xp, factor = self.home.xp, self.function.distance_factor
        assert factor is not None
        places = [xp.nonzero(self._is_far(xp.sum(self._centred(x) ** 2, axis=1)))[0] for x in (rows, others)]
        if not (places[0].shape[0] and places[1].shape[0]):
            return products
        a, b = (self.home.put(xp.take(x, k, axis=0), np.float64) for x, k in zip((rows, others), places, strict=True))
        height = max(1, self._height(b.shape[0] * b.shape[1], np.float64) // 64)
        parts = [
            xp.sum((a[first:last, None, :] - b[None, :, :]) ** 2, axis=2) for first, last in spans(a.shape[0], height)
        ]
        arguments = xp.astype(-factor * xp.concat(parts), products.dtype, copy=False)
        here, there = (self._counts(k, n) for k, n in zip(places, products.shape, strict=True))
        mended = xp.take(xp.take(arguments, here[0], axis=0), there[0], axis=1)
        return xp.where(here[1][:, None] & there[1][None, :], mended, products)

    def _counts(self, places: Any, n: int) -> tuple[Any, Any]:
        """For each of n rows the number it has among ``places`` (0 where it has none), and whether it has one."""
        numbers, mask = np.zeros(n, np.int64), np.zeros(n, bool)
        numbers[host(places)], mask[host(places)] = np.arange(places.shape[0]), True
        return self.home.put(numbers), self.home.put(mask)

    def _sum(self, points: Any, Z: Any, coefficients: Any) -> Any:
        """Σ_j k(z, points_j) coefficients[j] in float64 for every row z of Z, tile by tile."""
        xp, m = self.home.xp, points.shape[0]
        out = xp.zeros(Z.shape[0], dtype=self._float64, device=self.home.device)
        if can_fuse(self.function, coefficients) and not self.has_far:
            left = self._left(points, np.float64)
            for first, last in spans(Z.shape[0], self._height(4 * left.shape[1], np.float64)):
                add_rows(self.function, out[first:last], self._right(Z[first:last, :], np.float64), left, coefficients)
            return out
        width = min(max(1, m), 8192)
        for begin, end in spans(m, width):
            some = points[begin:end, :]
            left = self._left(some, np.float64).T
            for first, last in spans(Z.shape[0], self._height(width, np.float64)):
                window = Z[first:last, :]
                tile = self._finish(self._right(window, np.float64) @ left, window, some)
                out[first:last] = out[first:last] + tile @ coefficients[begin:end]
        return out


def gram(function: KernelFunction, X: Any) -> Gram | ArrayGram:
    """The kernel matrix on the rows of X, wherever they live."""
    return ArrayGram(function, X) if is_elsewhere(X) else Gram(function, X)
