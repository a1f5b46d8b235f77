"""A full covariance matrix, as it is, shrunk, or from a sparse inverse.

Solves
    z = L⁻¹(x − x̄) with M + ρI = LL' by Cholesky, or z = (Λ + ρ)^{-½}V'(x − x̄) once the eigenvectors of M = VΛV' are
    known, which then serve every ridge. M is Σ; or
    shrunk          M = (1 − δ)Σ + δμI with μ = trace(Σ)/d and δ in [0, 1] of least expected squared error. OAS needs n
                    and Σ only, so it follows moments wherever they go; Ledoit–Wolf needs Σ w_i‖x_i − x̄‖⁴, one pass.
    sparse inverse  the graphical lasso on the correlation matrix R: minimise trace(RΘ) − log det Θ + α Σ_{i≠j}|Θ_ij|,
                    Θ ≻ 0; M is Θ⁻¹ scaled back by the standard deviations.
Reference
    Chen, Wiesel, Eldar, Hero (2010), Shrinkage algorithms for MMSE covariance estimation (eq. 23);
    Ledoit, Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices;
    Friedman, Hastie, Tibshirani (2008), Sparse inverse covariance estimation with the graphical lasso; solved by
    scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from askew.arrays import Home, host
from askew.exceptions import DataError
from askew.moments.factor import Factor
from askew.moments.structure import RidgedProducts, Structure
from askew.threads import spans

Vector = NDArray[np.float64]

DEVICE_FEATURES = 256  # features from which a device decomposes a matrix faster than its host


class Full(Structure):
    """M given as a matrix.

    Parameters
    ----------
    mean : array of shape (d,)
    matrix : array of shape (d, d)
    ridge : float
    """

    smallest_exponent: ClassVar[int] = -8

    def __init__(self, mean: Vector, matrix: Vector, ridge: float = 0.0) -> None:
        self.mean, self.matrix, self.ridge = mean, matrix, ridge
        self._eigen: tuple[Vector, Vector] | None = None

    def with_ridge(self, ridge: float) -> Self:
        other = type(self)(self.mean, self.matrix, ridge)
        other._eigen = self._eigen
        return other

    def eigen(self) -> tuple[Vector, Vector]:
        """Eigenvalues (none below zero) and eigenvectors of M, computed once."""
        if self._eigen is None:
            values, vectors = eigh(self.matrix, check_finite=False)
            self._eigen = np.maximum(values, 0.0), vectors
        return self._eigen

    def decompose_at(self, home: Home) -> Self:
        """The same, with the eigenvectors computed where the rows lived, if it is worth the way there."""
        if home.is_host or len(self.mean) < DEVICE_FEATURES:
            return self
        values, vectors = home.xp.linalg.eigh(home.put(self.matrix, np.float64))
        self._eigen = np.maximum(host(values), 0.0), host(vectors)
        return self

    def whiten(self, X: Any) -> Vector:
        if sparse.issparse(X):
            X = X.toarray()
        centred = np.asarray(X, dtype=np.float64) - self.mean
        if self._eigen is not None:
            return (centred @ self._eigen[1]) / self._root_values
        return np.ascontiguousarray(solve_triangular(self._lower, centred.T, lower=True, check_finite=False).T)

    def solve(self, V: Vector) -> Vector:
        if self._eigen is not None:
            vectors = self._eigen[1]
            scale = self._root_values**2
            return vectors @ ((vectors.T @ V) / (scale if V.ndim == 1 else scale[:, None]))
        half = solve_triangular(self._lower, V, lower=True, check_finite=False)
        return solve_triangular(self._lower, half, lower=True, trans=1, check_finite=False)

    def model_variance(self, w: Vector) -> float:
        return max(float(w @ (self.matrix @ w)), 0.0) + self.ridge * float(w @ w)

    def mean_variance(self) -> float:
        return float(np.trace(self.matrix)) / len(self.mean)

    def feature_variances(self) -> Vector:
        return np.maximum(np.diagonal(self.matrix), 0.0)

    def trials(self, X: Any, ridges: Vector) -> Iterator[RidgedProducts]:
        values, vectors = self.eigen()  # in these axes the covariance is diagonal, whatever the ridge
        centred = (X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)) - self.mean
        return Factor(np.zeros(len(values)), values).trials(centred @ vectors, ridges)

    def ridge_grid(self) -> Vector:
        values = self.eigen()[0]  # one decomposition for all of them, and for the fit
        grid = super().ridge_grid()
        is_singular = values.min() <= 1e-10 * values.max()
        return grid[grid > 1e-7] if is_singular else grid  # rounding of Σ is amplified by 1/ρ where Σ vanishes

    @cached_property
    def _root_values(self) -> Vector:
        values = self.eigen()[0] + self.ridge
        if not values.min() > len(values) * np.finfo(float).eps * values.max():
            raise self._singular()
        return np.sqrt(values)

    @cached_property
    def _lower(self) -> Vector:
        matrix = self.matrix.copy()
        matrix.flat[:: len(matrix) + 1] += self.ridge
        try:
            lower = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            raise self._singular() from None
        pivots = np.diagonal(lower) ** 2
        if not pivots.min() > len(pivots) * np.finfo(float).eps * pivots.max():
            raise self._singular()
        return lower

    def _singular(self) -> DataError:
        return DataError(
            f"The covariance of the negatives is singular with rho={self.ridge:g}: features are constant, repeated "
            f"or more than the negatives. Use rho='auto' or a rho above {1e-9 * self.mean_variance():.1g}."
        )


def oas(covariance: Vector, n_samples: float) -> float:
    """δ of the oracle approximating shrinkage estimator."""
    d = len(covariance)
    mean_square, mu = float(np.mean(covariance**2)), float(np.trace(covariance)) / d
    denominator = (n_samples + 1.0) * (mean_square - mu**2 / d)
    return 1.0 if denominator <= 0 else min(1.0, (mean_square + mu**2) / denominator)


def ledoit_wolf(covariance: Vector, n_samples: float, fourth_power: float) -> float:
    """δ of Ledoit and Wolf; ``fourth_power`` is Σ w_i‖x_i − x̄‖⁴."""
    d = len(covariance)
    mu, size = float(np.trace(covariance)) / d, float(np.sum(covariance**2))
    distance = (size - d * mu**2) / d
    error = (fourth_power / n_samples - size) / (d * n_samples)
    return 0.0 if distance <= 0 or error <= 0 else min(1.0, error / distance)


def shrink(covariance: Vector, intensity: float) -> Vector:
    """(1 − δ)Σ + δμI."""
    shrunk = (1.0 - intensity) * covariance
    shrunk.flat[:: len(shrunk) + 1] += intensity * np.trace(covariance) / len(covariance)
    return shrunk


def fourth_power_sum(X: Any, mean: Vector, sample_weight: Vector | None = None) -> float:
    """Σ w_i‖x_i − x̄‖⁴ in one pass; sparse rows are not densified."""
    total = 0.0
    for start, stop in spans(X.shape[0], 4096):
        rows = X[start:stop]
        if sparse.issparse(rows):
            # ‖x‖² − 2x'm + ‖m‖² is safe here: a sparse row is far from the mean or the mean is near zero
            squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() - 2.0 * (rows @ mean) + mean @ mean
        else:
            centred = np.asarray(rows, dtype=np.float64) - mean
            squares = np.einsum("ij,ij->i", centred, centred)
        weight = 1.0 if sample_weight is None else sample_weight[start:stop]
        total += float(np.sum(weight * squares**2))
    return total


def graphical_lasso_covariance(covariance: Vector, alpha: float) -> Vector:
    """Covariance Θ⁻¹ of the graphical lasso with penalty ``alpha`` on correlations."""
    from sklearn.covariance import graphical_lasso

    variance = np.diagonal(covariance)
    varies = np.flatnonzero(variance > 1e-12 * max(variance.max(initial=0.0), 1e-300))
    scale = np.sqrt(variance[varies])
    correlation = covariance[np.ix_(varies, varies)] / np.multiply.outer(scale, scale)
    fitted = np.diag(variance).astype(np.float64)
    if len(varies) < 2:
        return fitted
    try:
        estimate, _ = graphical_lasso(correlation, alpha=alpha, max_iter=200)
    except FloatingPointError as error:
        raise DataError(
            f"The graphical lasso did not reach a positive definite matrix with alpha={alpha:g}. Raise `alpha`."
        ) from error
    fitted[np.ix_(varies, varies)] = estimate * np.multiply.outer(scale, scale)
    return fitted
