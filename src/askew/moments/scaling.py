"""Features in units of their standard deviation, learnt from moments: one pass for the scale and for the fit.

Rows divided by s have moments that are divided by s, so nothing has to be read again; a linear direction goes back to
the original features in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import Home, dtype_name, is_elsewhere
from askew.moments.low_rank_moments import LowRankMoments
from askew.moments.moments import DiagonalMoments

Vector = NDArray[np.float64]


def unit_scale(spread: DiagonalMoments) -> Vector:
    """The standard deviation of each feature; 1 where it is constant, up to rounding, as in ``StandardScaler``."""
    n, variance, eps = spread.n_samples, spread.variance, np.finfo(np.float64).eps
    is_constant = variance <= n * eps * variance + (n * eps * spread.mean) ** 2
    return np.where(is_constant, 1.0, np.sqrt(variance))


def diagonal_moments(moments: Any, first: int | None = None) -> DiagonalMoments:
    """Moments feature by feature, of all features or only the ``first`` ones."""
    at = slice(first)
    scatter = moments.scatter if moments.is_diagonal else np.diagonal(moments.scatter)
    return DiagonalMoments(moments.n_samples, moments.mean[at], moments.mean_rest[at], scatter[at])


def divide_rows(X: Any, scale: Vector) -> Any:
    """X / scale, dense or sparse, in the precision it has and where it lives."""
    if is_elsewhere(X):
        return X / Home(X).put(scale, dtype_name(X))
    if sparse.issparse(X):
        return sparse.csr_array((X.data / scale[X.indices].astype(X.dtype), X.indices, X.indptr), shape=X.shape)
    return X / scale.astype(X.dtype)


def divide_moments(moments: Any, scale: Vector) -> Any:
    """Moments of the rows divided by ``scale``."""
    mean, rest = moments.mean / scale, moments.mean_rest / scale
    if moments.has_directions:
        basis = moments.basis / scale[:, None]
        return LowRankMoments(moments.n_samples, mean, rest, moments.scatter / scale**2, basis, moments.rank)
    square = scale**2 if moments.is_diagonal else np.multiply.outer(scale, scale)
    return type(moments)(moments.n_samples, mean, rest, moments.scatter / square)
