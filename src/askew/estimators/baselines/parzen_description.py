"""The Parzen density data description."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import KernelDensity

from askew.estimators.baselines.threshold_description import ThresholdDescription
from askew.moments import DiagonalMoments
from askew.sklearn_private import Interval, StrOptions

Vector = NDArray[np.float64]

WIDTHS = 2.0 ** np.arange(-3.0, 3.25, 0.5)
_PAIRS = 2**22  # distances held at a time


class ParzenDescription(ThresholdDescription):
    """Normal is where the density is high: the logarithm of a Gaussian kernel density estimate.

    A baseline for :class:`askew.CovarianceOneClassSVM` in few dimensions; in many, a density cannot be estimated and
    the ranking degrades. All training rows are needed to score.

    Parameters
    ----------
    bandwidth : float or "likelihood", default="likelihood"
        Standard deviation of the kernels. "likelihood" takes the one of 13 widths around Scott's under which the
        training rows, each left out in turn, are most likely: n² distances.
    fraction_rejected : float, default=0.2
        Fraction of the training rows, each left out in turn, that the threshold rejects; in [0, 1).

    Attributes
    ----------
    density_ : KernelDensity
    bandwidth_ : float
    offset_ : float
        ``decision_function = score_samples - offset_``.

    References
    ----------
    Parzen (1962). On estimation of a probability density function and mode. Annals of Mathematical Statistics 33.
    Duin (1976). On the choice of smoothing parameters for Parzen estimators. IEEE Transactions on Computers 25.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.estimators import ParzenDescription
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> ParzenDescription().fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ThresholdDescription._parameter_constraints,
        "bandwidth": [StrOptions({"likelihood"}), Interval(Real, 0, None, closed="neither")],
    }

    _learnt_privately = frozenset({"_rows", "_weight"})

    def __init__(self, bandwidth: float | str = "likelihood", *, fraction_rejected: float = 0.2) -> None:
        self.bandwidth = bandwidth
        self.fraction_rejected = fraction_rejected

    def _describe(self, X: Vector, weight: Vector) -> Vector:
        if self.bandwidth == "likelihood":
            widths = WIDTHS * _scott(X, weight)
        else:
            widths = np.array([float(self.bandwidth)])
        scores = _left_out(X, weight, widths)
        best = int(np.argmax(scores @ weight))
        self.bandwidth_ = float(widths[best])
        self._rows, self._weight = X, weight
        self.density_ = KernelDensity(bandwidth=self.bandwidth_).fit(X, sample_weight=weight)
        return scores[best]

    def _score(self, X: Vector) -> Vector:
        return self.density_.score_samples(X)

    def __getstate__(self) -> dict[str, Any]:
        """The rows without their tree, whose indices a model file could forge: it is grown again from the rows."""
        state = dict(super().__getstate__())
        state.pop("density_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_rows" in state:
            self.density_ = KernelDensity(bandwidth=self.bandwidth_).fit(self._rows, sample_weight=self._weight)


def _scott(X: Vector, weight: Vector) -> float:
    """Scott's width for the mean variance of the features; 1 where they do not vary."""
    n, d = float(weight.sum()), X.shape[1]
    spread = float(np.sqrt(np.mean(DiagonalMoments.of(X, weight).variance)))
    return spread * n ** (-1.0 / (d + 4)) if spread > 0 else 1.0


def _left_out(X: Vector, weight: Vector, widths: Vector) -> Vector:
    """Log density of each row from the others (one repetition of it taken away), one line per width."""
    n, d = X.shape
    scores = np.empty((len(widths), n))
    own = np.maximum(weight - 1.0, 0.0)
    total = float(weight.sum())
    others = total - 1.0 if total > 1.0 else total
    step = max(1, _PAIRS // n)
    for first in range(0, n, step):
        mine = np.arange(first, min(n, first + step))
        squares = euclidean_distances(X[mine], X, squared=True)
        shares = np.tile(weight, (len(mine), 1))
        shares[np.arange(len(mine)), mine] = own[mine] if total > 1.0 else weight[mine]
        squares[np.arange(len(mine)), mine] = 0.0
        for k, width in enumerate(widths):
            scores[k, mine] = logsumexp(-0.5 * squares / width**2, axis=1, b=shares)
    return scores - np.log(others) - d * (np.log(widths)[:, None] + 0.5 * np.log(2 * np.pi))
