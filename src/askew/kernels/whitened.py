"""Kernels on whitened points: K̂(x, x') = k(Σ^{-½}(x − x̄), Σ^{-½}(x' − x̄)) without Σ^{-½}.

Solves
    Linear, rbf, polynomial and sigmoid kernels depend on inner products z'z' alone. Those are given either by
    whitened points z (an array), or by sparse rows s and signed columns e with z_i'z_j = s_i's_j + Σ_k σ_k e_ik e_jk,
    σ_k = ±1, which hold a centring and a low-rank correction while the rows stay sparse.
Given
    A kernel function and the points in one of the two forms (see ``askew.moments.structure``).
Returns
    A ``Gram`` like any other: rows, blocks, products, sums against new points of the same form.
Reference
    Leclère, Grave, El Ghaoui, figure 2.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.kernels.function import KernelFunction
from askew.kernels.gram import Gram
from askew.kernels.points import Left, SparsePoints

Array = NDArray[Any]


class SignedRows:
    """Sparse rows with signed columns, cut like an array."""

    def __init__(self, rows: Any, columns: Array, signs: Array) -> None:
        self.rows, self.columns, self.signs = rows.tocsr(), columns, signs
        self.shape = rows.shape

    def __getitem__(self, key: Any) -> SignedRows:
        return SignedRows(self.rows[key], self.columns[key], self.signs)

    @cached_property
    def squared_norms(self) -> NDArray[np.float64]:
        return np.maximum(self._squares + (self.columns**2) @ self.signs, 0.0)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """‖s‖² + ‖e‖² of every row: what the rounding of ‖z‖² is relative to."""
        return np.asarray(self._squares + np.square(self.columns).sum(axis=1))

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        sums = np.concatenate([[0.0], np.cumsum(self.rows.data**2)])
        return np.diff(sums[self.rows.indptr])

    @cached_property
    def transposed(self) -> Any:
        """The sparse rows as columns."""
        return self.rows.T


class SignedPoints(SparsePoints):
    """Points of a kernel matrix given as signed rows."""

    def __init__(self, X: SignedRows, function: KernelFunction) -> None:
        self.X, self.function, self.n = X, function, X.shape[0]

    @property
    def terms(self) -> int:
        return int(np.max(np.diff(self.X.rows.indptr), initial=0)) + self.X.columns.shape[1]

    @property
    def squared_norms(self) -> NDArray[np.float64]:
        return self.X.squared_norms

    @property
    def sizes(self) -> NDArray[np.float64]:
        return self.X.sizes

    def left(self, rows: SignedRows, dtype: Any) -> Left:
        operand = rows, self.function.left(rows.squared_norms), dtype
        return Left(operand, *self.far_among(rows, rows.sizes))

    def rows_left(self, indices: Array, dtype: Any) -> Left:
        return self.left(self.X[indices], dtype)

    def products(self, left: Left, window: slice, out: Array | None = None) -> Array:
        rows, columns, dtype = left.operand
        tile = self._between(rows, columns, self.X[window])
        self.mend(tile, left, window)
        if out is None:
            return tile.astype(dtype, copy=False)
        out[...] = tile
        return out

    def pair_products(self, pairs: tuple[Left, Any], first: int, last: int) -> Array:
        left, right = pairs
        rows, columns, dtype = left.operand
        tile = self._between(rows[first:last], [column[first:last] for column in columns], right)
        self.mend_pairs(tile, left, first, last)
        return tile.astype(dtype, copy=False)

    def subset(self, indices: Array) -> SignedPoints:
        return SignedPoints(self.X[indices], self.function)

    def careful_combination(self, v: NDArray[np.float64], rows: SignedRows) -> NDArray[np.float64]:
        w = SparsePoints.inner_products(self, self.X.rows.T.tocsr(), sparse.csr_array(v[None, :]))
        own = SparsePoints.inner_products(self, rows.rows, sparse.csr_array(w.T))[:, 0]
        return np.asarray(own + rows.columns @ (rows.signs * (self.X.columns.T @ v)))

    def distances(self, rows: SignedRows, others: SignedRows) -> NDArray[np.float64]:
        out = super().distances(rows.rows, others.rows)
        for k, sign in enumerate(rows.signs):
            out += sign * np.square(np.subtract.outer(rows.columns[:, k], others.columns[:, k]))
        return np.maximum(out, 0.0, out=out)

    def inner_products(self, rows: SignedRows, others: SignedRows) -> NDArray[np.float64]:
        out = super().inner_products(rows.rows, others.rows)
        out += (rows.columns * rows.signs) @ others.columns.T
        return out

    def _between(self, rows: SignedRows, left_columns: list[Array], right: SignedRows) -> Array:
        """u(a)'v(b) in float64, since the signed columns cancel."""
        out = np.asarray((rows.rows @ right.rows.T).toarray(), dtype=np.float64)
        out += (rows.columns * rows.signs) @ right.columns.T
        out *= self.function.scale
        right_columns = self.function.right(right.squared_norms)
        for column, other in zip(left_columns, right_columns, strict=True):
            out += np.multiply.outer(column, other)
        return out


class WhitenedGram(Gram):
    """Matrix of ``function`` on whitened points.

    Parameters
    ----------
    function : KernelFunction
    points : array of shape (n, d), or SignedRows
    """

    def __init__(self, function: KernelFunction, points: Any) -> None:
        if not isinstance(points, SignedRows):
            super().__init__(function, points)
            return
        self.function, self.is_psd = function, function.is_psd
        self.points = SignedPoints(points, function)
        self.n = self.points.n

    def inner_points(self) -> tuple[Any, Array, Array]:
        """Rows, columns and signs with K_ij = rows_i · rows_j + Σ_k signs_k columns_ik columns_jk."""
        X = self.points.X
        if isinstance(X, SignedRows):
            return X.rows, np.ascontiguousarray(X.columns), X.signs
        return np.ascontiguousarray(X, dtype=np.float64), np.zeros((self.n, 0)), np.zeros(0)

    def filled(self, dtype: Any = np.float64) -> Array:
        """All of K, for those few enough to store it."""
        if not (self.function.is_bilinear and isinstance(self.points.X, SignedRows)):
            return self.rows(np.arange(self.n), dtype)
        from askew.kernels.sparse_products import gram_of_rows

        rows, columns, signs = self.inner_points()
        matrix = gram_of_rows(rows.data, rows.indices, rows.indptr, rows.shape[1])
        matrix += (columns * signs) @ columns.T
        return matrix.astype(dtype, copy=False)

    def matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        if not (self.function.is_bilinear and isinstance(self.points.X, SignedRows)):
            return super().matvec(v)
        rows, columns, signs = self.inner_points()
        return np.asarray(rows @ (self.points.X.transposed @ v) + columns @ (signs * (columns.T @ v)))

    def subset(self, indices: NDArray[np.int64]) -> WhitenedGram:
        some = copy(self)
        some.points, some.n = self.points.subset(indices), len(indices)
        return some
