"""The matrix of a kernel function on given points, produced tile by tile and never held whole.

Solves
    K_ij = k(x_i, x_j) for rows, blocks, the diagonal, products Kv, and against new points.
Given
    A kernel function and X, dense or sparse.
Returns
    Rows and blocks in float32 or float64 as asked; products and scores always in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.function import EPSILON, KernelFunction
from askew.kernels.points import as_points
from askew.threads import spans, workers

Array = NDArray[Any]


class Gram:
    """Kernel matrix of ``function`` on the rows of ``X``.

    Parameters
    ----------
    function : KernelFunction
    X : array or sparse matrix of shape (n, d)
    """

    def __init__(self, function: KernelFunction, X: Any) -> None:
        self.function = function
        self.points = as_points(X, function)
        self.n = self.points.n
        self.is_psd: bool | None = function.is_psd

    def argument_bound(self) -> float:
        """Size of the terms summed for one entry, of a typical point: what float32 rounding is relative to."""
        squares = self.points.squared_norms
        return self.function.argument_bound(np.array([squares.mean() if len(squares) else 0.0]))

    def diagonal(self) -> NDArray[np.float64]:
        return self.function.diagonal(self.points.squared_norms)

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns of m rows are best produced at a time."""
        return self.points.tile_width(m, itemsize)

    def prepare(self, indices: NDArray[np.int64], dtype: Any) -> Any:
        """The left-hand side of K[indices, :], for ``tile``."""
        return self.points.rows_left(indices, dtype)

    def tile(self, prepared: Any, columns: slice, out: Array | None = None) -> Array:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        return self._finish(self.points.products(prepared, columns, out))

    def rows(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K[indices, :]."""
        return self.tile(self.prepare(indices, dtype), slice(0, self.n))

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K[indices][:, indices]."""
        out = np.empty((len(indices), len(indices)), dtype)
        pairs = self.points.pairs(indices, dtype)

        def work(first: int, last: int) -> None:
            out[first:last] = self._finish(self.points.pair_products(pairs, first, last))

        with workers() as pool:
            pool.map(work, spans(len(indices), 256))
        return out

    def matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Kv in float64."""
        support = np.flatnonzero(v)
        if self.function.is_bilinear:
            return np.asarray(self.points.X @ self.points.combine(v), dtype=np.float64)
        return self.subset(support)._sum(self.points.X, v[support, None])[:, 0]

    def weighted_sum(self, Z: Any, coefficients: Array) -> NDArray[np.float64]:
        """Σ_j k(z, x_j) coefficients[j] for every row z of Z; coefficients may have several columns."""
        columns = coefficients.reshape(self.n, -1)
        if self.function.is_bilinear:
            scores = np.asarray(Z @ self.points.combine(columns), dtype=np.float64)
        else:
            scores = self._sum(Z, columns)
        return scores.reshape(Z.shape[0], *coefficients.shape[1:])

    def cross(self, Z: Any, dtype: Any = np.float64) -> Array:
        """k(z, x_j) as a (len(Z), n) array."""
        return self._finish(self.points.products(self.points.left(Z, dtype), slice(0, self.n)))

    def subset(self, indices: NDArray[np.int64]) -> Gram:
        """The same kernel on some of the points."""
        some = object.__new__(Gram)
        some.function, some.is_psd = self.function, self.is_psd
        some.points = self.points.subset(indices)
        some.n = len(indices)
        return some

    def argument_sizes(self) -> NDArray[np.float64]:
        """What the rounding of each point's arguments grows with."""
        return self.points.sizes

    def product_rounding(self, v: NDArray[np.float64]) -> float:
        """Bound of the error of an entry of Kv as ``matvec`` computes it: of the entries, and of their sum."""
        return product_rounding(self.function, self.points.sizes, self.points.terms, v)

    def careful_product(self, v: NDArray[np.float64], indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """(Kv)[indices] in float64, from arguments computed without cancellation."""
        if self.function.is_bilinear:
            return self.points.careful_combination(v, self.points.X[indices])
        support, out = np.flatnonzero(v), np.empty(len(indices))
        others, weights = self.points.X[support], v[support]

        def work(first: int, last: int) -> None:
            entries = self.points.careful_arguments(self.points.X[indices[first:last]], others)
            out[first:last] = self._finish(entries) @ weights

        with workers() as pool:
            pool.map(work, spans(len(indices), max(1, 2**20 // max(1, len(support)))))
        return out

    def _finish(self, products: Array) -> Array:
        self.function.finish(products)
        return products

    def _sum(self, Z: Any, coefficients: Array) -> NDArray[np.float64]:
        """Σ_j k(z, x_j) coefficients[j], tiles of Z by tiles of the points, in threads."""
        scores = np.zeros((Z.shape[0], coefficients.shape[1]))
        height, width = self.points.sum_tile

        def work(start: int, stop: int) -> None:
            left = self.points.left(Z[start:stop], np.float64)
            for begin, end in spans(self.n, width):
                tile = self._finish(self.points.products(left, slice(begin, end)))
                scores[start:stop] += tile @ coefficients[begin:end]

        with workers() as pool:
            pool.map(work, spans(Z.shape[0], height))
        return scores


def product_rounding(function: KernelFunction, sizes: Array, terms: int, v: Array) -> float:
    """Bound of the error of an entry of Kv in float64, from the squared norms of the points and their terms."""
    support = np.flatnonzero(v)
    largest, own = float(np.max(sizes, initial=0.0)), sizes[support]
    entries = function.entry_rounding(own, largest, terms)
    sums = 0.5 * EPSILON * len(support) * function.entry_size(own, largest)
    return float(np.abs(v[support]) @ (entries + sums))
