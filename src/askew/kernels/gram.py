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
from scipy import sparse

from askew.kernels.function import KernelFunction
from askew.kernels.points import as_points
from askew.qp import Ability, SignedPoints
from askew.qp.matrix import RowsOfTiles
from askew.threads import spans, workers

Array = NDArray[Any]
DELICATE = 1e9  # arguments summed from terms this large may round to the wrong side of zero by 1e-7


class Gram(RowsOfTiles):
    """Kernel matrix of ``function`` on the rows of ``X``.

    Parameters
    ----------
    function : KernelFunction
    X : array, sparse matrix or SignedPoints of shape (n, d)
    """

    def __init__(self, function: KernelFunction, X: Any) -> None:
        self.function = function
        self.points = as_points(X, function)
        self.n = self.points.n
        self.is_psd: bool | None = function.is_psd
        self._is_delicate = self.points.cancels or function.argument_bound(self.points.squared_norms) > DELICATE

    @property
    def abilities(self) -> frozenset[Ability]:
        """``POINTS`` where a kernel value is an inner product of points."""
        return frozenset({Ability.ROWS, Ability.POINTS} if self.function.is_bilinear else {Ability.ROWS})

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
        return self._finish(self.points.products(prepared, columns, out), self._is_delicate)

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K[indices][:, indices]."""
        out = np.empty((len(indices), len(indices)), dtype)
        pairs = self.points.pairs(indices, dtype)

        def work(first: int, last: int) -> None:
            out[first:last] = self._finish(self.points.pair_products(pairs, first, last), self._is_delicate)

        with workers() as pool:
            pool.map(work, spans(len(indices), 256))
        return out

    def matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Kv in float64."""
        support = np.flatnonzero(v)
        if self.function.is_bilinear:
            return self.points.sum_inner(self.points.X, v)
        return self.subset(support)._sum(self.points.X, v[support, None], self._is_delicate)[:, 0]

    def weighted_sum(self, Z: Any, coefficients: Array) -> NDArray[np.float64]:
        """Σ_j k(z, x_j) coefficients[j] for every row z of Z; coefficients may have several columns."""
        columns = coefficients.reshape(self.n, -1)
        if self.function.is_bilinear:
            scores = self.points.sum_inner(Z, columns)
        else:
            scores = self._sum(Z, columns, is_delicate=True)
        return scores.reshape(Z.shape[0], *coefficients.shape[1:])

    def cross(self, Z: Any, dtype: Any = np.float64) -> Array:
        """k(z, x_j) as a (len(Z), n) array."""
        return self._finish(self.points.products(self.points.left(Z, dtype), slice(0, self.n)), is_delicate=True)

    def inner_points(self) -> SignedPoints:
        """Points z in float64 with K_ij = z_i'z_j."""
        if not self.function.is_bilinear:
            raise TypeError(f"Entries of {self.function} are no inner products of points.")
        return self.points.inner()

    def filled(self, dtype: Any = np.float64) -> Array:
        """All of K, for those few enough to store it."""
        if not (self.function.is_bilinear and sparse.issparse(self.points.inner().rows)):
            return self.rows(np.arange(self.n), dtype)
        from askew.kernels.sparse_products import gram_of_rows

        z = self.inner_points()
        matrix: Array = gram_of_rows(z.rows.data, z.rows.indices, z.rows.indptr, z.rows.shape[1])
        matrix += (z.columns * z.signs) @ z.columns.T
        return matrix.astype(dtype, copy=False)

    def subset(self, indices: NDArray[np.int64]) -> Gram:
        """The same kernel on some of the points."""
        some = object.__new__(Gram)
        some.function, some.is_psd = self.function, self.is_psd
        some.points = self.points.subset(indices)
        some.n, some._is_delicate = len(indices), self._is_delicate
        return some

    def _finish(self, products: Array, is_delicate: bool) -> Array:
        if is_delicate:
            self.function.tame(products)
        self.function.finish(products)
        return products

    def _sum(self, Z: Any, coefficients: Array, is_delicate: bool) -> NDArray[np.float64]:
        """Σ_j k(z, x_j) coefficients[j], tiles of Z by tiles of the points, in threads."""
        scores = np.zeros((Z.shape[0], coefficients.shape[1]))
        height, width = self.points.sum_tile

        def work(start: int, stop: int) -> None:
            left = self.points.left(Z[start:stop], np.float64)
            for begin, end in spans(self.n, width):
                tile = self._finish(self.points.products(left, slice(begin, end)), is_delicate)
                scores[start:stop] += tile @ coefficients[begin:end]

        with workers() as pool:
            pool.map(work, spans(Z.shape[0], height))
        return scores
