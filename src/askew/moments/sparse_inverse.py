"""A covariance whose inverse is sparse: features that do not speak to each other given the rest.

Solves
    The graphical lasso on the correlation matrix R: minimise trace(RΘ) − log det Θ + α Σ_{i≠j}|Θ_ij|, Θ ≻ 0; the
    covariance is Θ⁻¹ scaled back by the standard deviations.
Reference
    Friedman, Hastie, Tibshirani (2008), Sparse inverse covariance estimation with the graphical lasso; solved by
    scikit-learn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError

Vector = NDArray[np.float64]


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
