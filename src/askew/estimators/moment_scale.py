"""Features in units of their standard deviation, learnt from moments: one pass for the scale and for the fit.

Rows divided by s have moments that are divided by s, so nothing has to be read again; a linear direction goes back to
the original features in the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.methods.moment_evidence import Evidence
from askew.moments import CovarianceModel, DiagonalMoments, LowRankMoments

Vector = NDArray[np.float64]


def unit_scale(spread: DiagonalMoments) -> Vector:
    """The standard deviation of each feature; 1 where it is constant, up to rounding, as in ``StandardScaler``."""
    n, variance, eps = spread.n_samples, spread.variance, np.finfo(np.float64).eps
    is_constant = variance <= n * eps * variance + (n * eps * spread.mean) ** 2
    return np.where(is_constant, 1.0, np.sqrt(variance))


def diagonal(moments: Any, first: int | None = None) -> DiagonalMoments:
    """The moments feature by feature, of all features or only the first ones."""
    at = slice(first)
    scatter = moments.scatter if moments.is_diagonal else np.diagonal(moments.scatter)
    return DiagonalMoments(moments.n_samples, moments.mean[at], moments.mean_rest[at], scatter[at])


def divide_rows(X: Any, scale: Vector) -> Any:
    """X / scale, dense or sparse, in the precision it has."""
    if sparse.issparse(X):
        return sparse.csr_array((X.data / scale[X.indices].astype(X.dtype), X.indices, X.indptr), shape=X.shape)
    return X / scale.astype(X.dtype)


def divide_moments(moments: Any, scale: Vector) -> Any:
    """Moments of the rows divided by ``scale``."""
    mean, rest = moments.mean / scale, moments.mean_rest / scale
    if isinstance(moments, LowRankMoments):
        basis = moments.basis / scale[:, None]
        return LowRankMoments(moments.n_samples, mean, rest, moments.scatter / scale**2, basis, moments.rank)
    square = scale**2 if moments.is_diagonal else np.multiply.outer(scale, scale)
    return type(moments)(moments.n_samples, mean, rest, moments.scatter / square)


def divide_evidence(evidence: list[Evidence], model: CovarianceModel, scale: Vector) -> list[Evidence]:
    """The evidence of rows divided by ``scale``."""
    found = []
    for each in evidence:
        moments = divide_moments(each.moments, scale)
        X = divide_rows(each.X, scale)
        found.append(replace(each, X=X, moments=moments, structure=model.build(moments)))
    return found


def spread_of_evidence(evidence: list[Evidence]) -> DiagonalMoments:
    """Moments, feature by feature, of all rows that one machine stands on: its positives and its negatives."""
    first = evidence[0]
    return diagonal(first.moments) + DiagonalMoments.of(first.X, first.weight)


def give_back(shown: dict[str, Any], scale: Vector, has_rows: bool) -> None:
    """Turn what a fit on divided rows shows into the original features, where ``has_rows`` but for the rows."""
    moments, original = shown["moments_"], 1.0 / scale
    shown["moments_"] = (
        [divide_moments(each, original) for each in moments]
        if isinstance(moments, list)
        else divide_moments(moments, original)
    )
    if "coef_" in shown:
        shown["coef_"] = shown["coef_"] / scale
    if not has_rows:
        shown["support_vectors_"] = divide_rows(shown["support_vectors_"], original)
    shown["scale_"] = scale
