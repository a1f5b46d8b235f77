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

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh, svd
from scipy.sparse.linalg import LinearOperator, eigsh

from askew.exceptions import DataError
from askew.moments.structure import RidgedProducts, Structure
from askew.qp import SignedPoints

Vector = NDArray[np.float64]


class Factor(Structure):
    """M = diag(diagonal) + factors factors'.

    Parameters
    ----------
    mean, diagonal : arrays of shape (d,)
    factors : array of shape (d, k), optional
        None or k = 0 for a diagonal covariance.
    ridge : float
    """

    least_unspent: ClassVar[float] = 1e-3
    """A variance of its own for every feature spends less than the count says: ridges beyond it are merely last."""

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
        scaled = (self._inverse if V.ndim == 1 else self._inverse[:, None]) * V
        basis, values = self._woodbury
        if len(values):
            turned, shrink = self._inverse_root[:, None] * basis, values**2 / (1.0 + values**2)
            scaled -= turned @ ((shrink if V.ndim == 1 else shrink[:, None]) * (turned.T @ V))
        return scaled

    def directions(self, X: Any, coefficients: Vector, out: Vector) -> None:
        if self.factors.shape[1] or not sparse.issparse(X):
            super().directions(X, coefficients, out)
            return
        from askew.moments.sparse_sweeps import directions_of_rows

        directions_of_rows(X.data, X.indices, X.indptr, coefficients, self.mean, self._inverse, out)

    def model_variance(self, w: Vector) -> float:
        along = self.factors.T @ w
        return float(w @ ((self.diagonal + self.ridge) * w)) + float(along @ along)

    def trials(self, X: Any, ridges: Vector) -> Iterator[RidgedProducts]:
        rows = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64) - self.mean
        for ridge, part in zip(ridges, self._diagonal_trials(rows, ridges), strict=True):
            yield self.with_ridge(float(ridge))._with_factors(rows, part) if self.factors.shape[1] else part

    def _diagonal_trials(self, rows: Any, ridges: Vector) -> Iterator[RidgedProducts]:
        """Trials of D alone; dense rows come centred."""
        if sparse.issparse(rows):
            from askew.moments.ridged_rows import products_by_ridge

            entries = rows.data.astype(np.float64, copy=False), rows.indices, rows.indptr
            yield from map(RidgedProducts, *products_by_ridge(*entries, self.mean, self.diagonal, ridges))
            return
        for ridge in ridges:
            inverse = 1.0 / (self.diagonal + ridge)
            share = self.diagonal * inverse
            scaled = rows * inverse
            yield RidgedProducts(scaled @ rows.T, (scaled * share) @ rows.T, float(share.sum()))

    def _with_factors(self, rows: Any, part: RidgedProducts) -> RidgedProducts:
        """A trial of D with F put in by Woodbury: (M + ρI)⁻¹ = S⁻¹ − TΓT', S = D + ρI, T = S^{-½}Q, Γ = Λ²/(1 + Λ²)."""
        basis, values = self._woodbury
        turned, shrink = self._inverse_root[:, None] * basis, values**2 / (1.0 + values**2)
        scaled = self._inverse[:, None] * turned
        plain = self._centred_times(rows, turned)
        along = plain * shrink
        taken = along @ plain.T
        crossed = self._centred_times(rows, scaled) @ along.T
        inner = turned.T @ turned
        twice = crossed + crossed.T - along @ inner @ along.T  # what is taken from the products of (M + ρI)⁻²
        free = part.free + self.ridge * float(np.diagonal(inner) @ shrink)
        return RidgedProducts(part.K - taken, part.spread - taken + self.ridge * twice, free)

    def _centred_times(self, rows: Any, W: Vector) -> Vector:
        """(X − 1x̄')W; dense rows come centred."""
        return np.asarray(rows @ W - self.mean @ W if sparse.issparse(rows) else rows @ W)

    def feature_variances(self) -> Vector:
        return self.diagonal + np.sum(self.factors**2, axis=1) if self.factors.shape[1] else self.diagonal

    def mean_variance(self) -> float:
        return (float(self.diagonal.sum()) + float(np.vdot(self.factors, self.factors))) / len(self.mean)

    @cached_property
    def _inverse(self) -> Vector:
        scale = self.diagonal + self.ridge
        if not scale.min() > 0.0:
            raise DataError(
                f"{int(np.sum(scale <= 0.0))} features of the negatives have no variance of their own and rho="
                f"{self.ridge:g}. Use rho='auto', or a rho above {1e-9 * self.mean_variance():.1g}."
            )
        return np.divide(1.0, scale, out=scale)

    @cached_property
    def _inverse_root(self) -> Vector:
        return np.sqrt(self._inverse)

    @cached_property
    def _woodbury(self) -> tuple[Vector, Vector]:
        """Q and Λ of the thin decomposition of (D + ρI)^{-½}F."""
        if self.factors.shape[1] == 0:
            return self.factors, np.zeros(0)
        basis, values, _ = svd(self._inverse_root[:, None] * self.factors, full_matrices=False, check_finite=False)
        return basis, values

    def _whiten_sparse(self, X: Any) -> SignedPoints:
        from askew.moments.sparse_sweeps import whiten_rows

        entries, along, square = whiten_rows(X.data, X.indices, X.indptr, self.mean, self._inverse)
        along -= 0.5 * square
        # −a − b + c'c for the products with the mean, as a difference of two squares of comparable size
        size = (square / 2.0) ** 0.25 or 1.0
        plus, minus = (size - along / size) * np.sqrt(0.5), (size + along / size) * np.sqrt(0.5)
        columns = [plus, minus]
        basis, values = self._woodbury
        if len(values):
            turned = self._inverse_root[:, None] * basis
            columns.extend(((X @ turned - self.mean @ turned) * (values / np.sqrt(1.0 + values**2))).T)
        scaled = sparse.csr_array((entries, X.indices, X.indptr), shape=X.shape)
        return SignedPoints(scaled, np.column_stack(columns), np.array([1.0, -1.0] + [-1.0] * len(values)))


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
