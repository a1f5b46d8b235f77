"""Diagonal plus low rank: a covariance for tens of thousands of features.

Solves
    M = D + FF' with F of k columns. On features scaled to unit variance with singular values s of the centred data,
    D = (s²_{k+1}/N) I and F = U_k S_k / √N, then scaled back (Leclère et al. eq. 11, whose 1/N must read 1/√N).
    k = 0 is the diagonal of the covariance. FF' ⪯ Σ ⪯ D + FF' for k ≥ 1.
    Woodbury: with G = (D + ρI)^{-½}F = QΛR', (D + ρI + FF')⁻¹ = (D + ρI)^{-½}(I − Q Λ²/(1 + Λ²) Q')(D + ρI)^{-½},
    so no d×d matrix is formed, and sparse rows stay sparse: centring takes two signed columns, F takes k.
Reference
    Leclère, Grave, El Ghaoui, section 3.2.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh, svd
from scipy.sparse.linalg import LinearOperator, eigsh

from askew.exceptions import DataError
from askew.moments.structure import SignedPoints, Structure

Vector = NDArray[np.float64]

NARROW = 4096  # entries of sparse rows up to which the columns they touch are faster as an array


class Factor(Structure):
    """M = diag(diagonal) + factors factors'.

    Parameters
    ----------
    mean, diagonal : arrays of shape (d,)
    factors : array of shape (d, k), optional
        None or k = 0 for a diagonal covariance.
    ridge : float
    """

    def __init__(self, mean: Vector, diagonal: Vector, factors: Vector | None = None, ridge: float = 0.0) -> None:
        self.mean, self.diagonal, self.ridge = mean, diagonal, ridge
        self.factors = np.zeros((len(mean), 0)) if factors is None else factors

    def with_ridge(self, ridge: float) -> Self:
        return type(self)(self.mean, self.diagonal, self.factors, ridge)

    def whiten(self, X: Any) -> Vector | SignedPoints:
        if sparse.issparse(X):
            return self._whiten_sparse(X.tocsr())
        points = (np.asarray(X, dtype=np.float64) - self.mean) * self._inverse_root
        basis, values = self._woodbury
        if len(values):
            points -= ((points @ basis) * (1.0 - 1.0 / np.sqrt(1.0 + values**2))) @ basis.T
        return points

    def solve(self, V: Vector) -> Vector:
        root = self._inverse_root if V.ndim == 1 else self._inverse_root[:, None]
        scaled = root * V
        basis, values = self._woodbury
        if len(values):
            shrink = values**2 / (1.0 + values**2)
            scaled = scaled - basis @ ((shrink if V.ndim == 1 else shrink[:, None]) * (basis.T @ scaled))
        return root * scaled

    def directions(self, X: Any, coefficients: Vector, out: Vector) -> None:
        if self.factors.shape[1] or not sparse.issparse(X) or X.nnz > NARROW:
            super().directions(X, coefficients, out)
            return
        # the part of the mean fills everything, the rows only the columns they touch
        inverse = self._inverse_root**2
        np.multiply.outer(-coefficients.sum(axis=0), self.mean * inverse, out=out)
        columns, rows = _touched(X)
        out[:, columns] += (coefficients.T @ rows) * inverse[columns]

    def model_variance(self, w: Vector) -> float:
        along = self.factors.T @ w
        return float(w @ ((self.diagonal + self.ridge) * w)) + float(along @ along)

    def principal(self, X: Any) -> tuple[Factor, Form]:
        return self, Form(X, self.mean)

    def products(self, form: Form) -> tuple[Vector, Vector]:
        """Inner products K of whitened rows, and V with α'Vα = w'Mw of w = (M + ρI)⁻¹Σα_i(x_i − x̄), ridge left out."""
        inverse = self._inverse_root**2
        basis, values = self._woodbury
        if not len(values):
            return form(inverse), form(self.diagonal * inverse**2)
        turned, shrink = self._inverse_root[:, None] * basis, values**2 / (1.0 + values**2)
        along = form.times(turned) * shrink
        K = form(inverse) - along @ form.times(turned).T
        # V = K − ρK₂, K₂ the products of the rows of (M + ρI)⁻¹(x − x̄) = S⁻¹(x − x̄) − S^{-½}Q·along, S = D + ρI
        crossed = form.times(inverse[:, None] * turned) @ along.T
        K2 = form(inverse**2) - crossed - crossed.T + along @ (turned.T @ turned) @ along.T
        return K, K - self.ridge * K2

    def feature_variances(self) -> Vector:
        return self.diagonal + np.sum(self.factors**2, axis=1) if self.factors.shape[1] else self.diagonal

    def mean_variance(self) -> float:
        return (float(self.diagonal.sum()) + float(np.sum(self.factors**2))) / len(self.mean)

    def degrees_of_freedom(self) -> float:
        # M = (M + ρI) − ρI, and the trace of (M + ρI)⁻¹ follows from Woodbury
        basis, values = self._woodbury
        squares = self._inverse_root**2
        if not len(values):
            return len(self.mean) - self.ridge * float(squares.sum())
        inside = np.einsum("ij,ij->j", basis, squares[:, None] * basis) @ (values**2 / (1.0 + values**2))
        return len(self.mean) - self.ridge * (float(squares.sum()) - float(inside))

    def unspent(self, n_samples: float) -> float:
        # a variance of its own for every feature spends less than the count says: ridges beyond it are merely last
        return max(super().unspent(n_samples), 1e-3)

    @cached_property
    def _inverse_root(self) -> Vector:
        scale = self.diagonal + self.ridge
        if not scale.min() > 0.0:
            raise DataError(
                f"{int(np.sum(scale <= 0.0))} features of the negatives have no variance of their own and rho="
                f"{self.ridge:g}. Use rho='auto', or a rho above {1e-9 * self.mean_variance():.1g}."
            )
        return 1.0 / np.sqrt(scale)

    @cached_property
    def _woodbury(self) -> tuple[Vector, Vector]:
        """Q and Λ of the thin decomposition of (D + ρI)^{-½}F."""
        if self.factors.shape[1] == 0:
            return self.factors, np.zeros(0)
        basis, values, _ = svd(self._inverse_root[:, None] * self.factors, full_matrices=False, check_finite=False)
        return basis, values

    def _whiten_sparse(self, X: Any) -> SignedPoints:
        scaled = sparse.csr_array((X.data * self._inverse_root[X.indices], X.indices, X.indptr), shape=X.shape)
        centre = self.mean * self._inverse_root
        along = scaled @ centre - 0.5 * float(centre @ centre)
        # −a − b + c'c for the products with the mean, as a difference of two squares of comparable size
        size = float(centre @ centre / 2) ** 0.25 or 1.0
        plus, minus = (size - along / size) * np.sqrt(0.5), (size + along / size) * np.sqrt(0.5)
        columns = [plus, minus]
        basis, values = self._woodbury
        if len(values):
            columns.extend(((scaled @ basis - centre @ basis) * (values / np.sqrt(1.0 + values**2))).T)
        return SignedPoints(scaled, np.column_stack(columns), np.array([1.0, -1.0] + [-1.0] * len(values)))


class Form:
    """Products (x_i − m)'diag(a)(x_j − m) between rows, dense or sparse, for one a after the other."""

    def __init__(self, X: Any, mean: Vector) -> None:
        self.mean, self.is_sparse = mean, sparse.issparse(X)
        self.columns: Any = slice(None)
        self.rows: Any
        if not self.is_sparse:
            self.rows = np.asarray(X, dtype=np.float64) - mean
        elif X.nnz <= NARROW:
            self.columns, self.rows = _touched(X)
        else:
            self.rows = sparse.csr_array(X)
            self.turned = self.rows.T.tocsr()

    def __call__(self, a: Vector) -> Vector:
        if not self.is_sparse:
            return (self.rows * a) @ self.rows.T
        rows = self.rows
        if isinstance(rows, np.ndarray):
            products = (rows * a[self.columns]) @ rows.T
        else:
            weighted = sparse.csr_array((rows.data * a[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
            products = (weighted @ self.turned).toarray()
        centre = a * self.mean
        along = self.rows @ centre[self.columns]
        return products - along[:, None] - along + float(centre @ self.mean)

    def times(self, W: Vector) -> Vector:
        """(X − 1m')W."""
        if not self.is_sparse:
            return self.rows @ W
        return self.rows @ W[self.columns] - self.mean @ W


def _touched(X: Any) -> tuple[NDArray[np.int64], Vector]:
    """The columns in which sparse rows have entries, and the rows on them as an array."""
    columns, place = np.unique(X.indices, return_inverse=True)
    return columns, sparse.csr_array((X.data, place, X.indptr), (X.shape[0], len(columns))).toarray()


def factors_of_correlation(variance: Vector, covariance: Vector, k: int) -> tuple[Vector, Vector]:
    """D and F of the factor model of a covariance matrix at hand."""
    scale, inverse = _scales(variance)
    values, vectors = eigh(inverse[:, None] * covariance * inverse, check_finite=False)
    return _scaled_back(np.maximum(values[::-1], 0.0), vectors[:, ::-1], scale, k)


def factors_of_data(X: Any, weight: Vector | None, moments: Any, k: int) -> tuple[Vector, Vector]:
    """D and F from the data themselves by Lanczos with implicit centring; X may be sparse."""
    scale, inverse = _scales(moments.variance)
    mean, d = moments.mean * inverse, len(scale)
    rows = weight if weight is not None else np.ones(X.shape[0])

    def product(v: Vector) -> Vector:
        v = np.ravel(v)
        scores = rows * (X @ (inverse * v) - mean @ v)
        return (inverse * (X.T @ scores) - mean * scores.sum()) / moments.n_samples

    operator = LinearOperator((d, d), matvec=product, dtype=np.float64)
    start = np.cos(np.arange(1, d + 1))  # any fixed vector that is orthogonal to nothing in particular
    values, vectors = eigsh(operator, k=k + 1, v0=start, which="LA", tol=1e-8)
    return _scaled_back(np.maximum(values[::-1], 0.0), vectors[:, ::-1], scale, k)


def _scales(variance: Vector) -> tuple[Vector, Vector]:
    """Standard deviations and their inverses, zero where a feature does not vary."""
    scale = np.sqrt(variance)
    return scale, np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)


def _scaled_back(values: Vector, vectors: Vector, scale: Vector, k: int) -> tuple[Vector, Vector]:
    rest = values[k] if k < len(values) else 0.0
    return scale**2 * rest, (scale[:, None] * vectors[:, :k]) * np.sqrt(values[:k])
