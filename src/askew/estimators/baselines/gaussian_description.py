"""The Gaussian data description."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from askew.estimators.baselines.threshold_description import ThresholdDescription
from askew.moments import Moments
from askew.sklearn_private import Interval

Vector = NDArray[np.float64]


class GaussianDescription(ThresholdDescription):
    """Normal is what a Gaussian with the mean and covariance of the data makes likely.

    A baseline for :class:`askew.CovarianceOneClassSVM`: hard to beat where the data are one cloud, wrong where they are
    not. Training rows are not kept.

    Parameters
    ----------
    ridge : float, default=1e-6
        Share of the mean variance added to every variance, so that directions without any do not forbid a fit.
    fraction_rejected : float, default=0.2
        Fraction of the training rows that the threshold rejects; in [0, 1).

    Attributes
    ----------
    moments_ : Moments
        Mean and covariance.
    offset_ : float
        ``decision_function = score_samples - offset_``.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.estimators import GaussianDescription
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> GaussianDescription().fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ThresholdDescription._parameter_constraints,
        "ridge": [Interval(Real, 0, None, closed="neither")],
    }
    _takes_sparse: ClassVar[bool] = True
    _learnt_privately = frozenset({"_whitening", "_log_constant"})

    def __init__(self, ridge: float = 1e-6, *, fraction_rejected: float = 0.2) -> None:
        self.ridge = ridge
        self.fraction_rejected = fraction_rejected

    def _describe(self, X: Any, weight: Vector) -> Vector:
        self.moments_ = Moments.of(X, weight)
        covariance = self.moments_.covariance.copy()
        d = len(covariance)
        covariance.flat[:: d + 1] += self.ridge * (float(np.trace(covariance)) / d or 1.0)
        lower = cholesky(covariance, lower=True)
        self._whitening = solve_triangular(lower, np.eye(d), lower=True)
        self._log_constant = -float(np.log(np.diagonal(lower)).sum()) - 0.5 * d * float(np.log(2 * np.pi))
        return self._score(X)

    def _score(self, X: Any) -> Vector:
        """Log density: −½ (x − mean)'Σ⁻¹(x − mean) and a constant."""
        # a sparse X stays sparse: the mean is taken off after the product
        white = X @ self._whitening.T - self._whitening @ self.moments_.mean
        return self._log_constant - 0.5 * np.einsum("ij,ij->i", white, white)
