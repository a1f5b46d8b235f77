"""NP-ROC: what a threshold with a guaranteed false positive rate catches, for every rate, with a band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.exceptions import DataError, ParameterError
from askew.metrics import clopper_pearson
from askew.tolerance import order_statistic
from askew.tolerance.calibration import Calibration

__all__ = ["NpRoc", "np_roc"]


@dataclass(frozen=True)
class NpRoc:
    """True positive rate at guaranteed thresholds, tolerance by tolerance.

    At each tolerance by itself, the threshold keeps its false positive rate with probability ``confidence``,
    the true positive rate is at least ``lower`` with probability ``confidence``, and at most ``upper`` with
    the same. A tolerance picked because its point looks good is not covered: choose it first, or share
    1 − confidence among those you compare.

    Parameters
    ----------
    tolerance : ndarray, shape (g,)
        Increasing; starts at the smallest rate the negatives can promise.
    threshold : ndarray, shape (g,)
        On the alarm score; alarm iff score > threshold.
    tpr, lower, upper : ndarray, shape (g,)
        Share of the held-out positives caught, and exact limits for the true rate.
    confidence : float
    n_negatives, n_positives : int
    """

    tolerance: NDArray[np.float64]
    threshold: NDArray[np.float64]
    tpr: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    confidence: float
    n_negatives: int
    n_positives: int


def np_roc(
    negatives: ArrayLike | Calibration,
    positives: ArrayLike = (),
    *,
    tolerances: ArrayLike | None = None,
    confidence: float = 0.95,
) -> NpRoc:
    """NP-ROC curve with its band from held-out scores.

    Parameters
    ----------
    negatives, positives : array-like
        Scores of held-out rows, higher for the positive class. Neither may have trained the score. A
        `Calibration` carries both.
    tolerances : array-like, default=None
        Rates in (0, 1) at which to evaluate; by default 200, evenly spaced in logarithm from the smallest
        that these negatives can promise up to 0.999. Given ones below the smallest are an InfeasibleError.
    confidence : float in (0, 1), default=0.95

    Returns
    -------
    NpRoc

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> curve = np_roc(rng.normal(size=1000), rng.normal(3.0, size=100), tolerances=[0.01, 0.1])
    >>> bool((curve.lower <= curve.tpr).all() and (curve.tpr <= curve.upper).all())
    True
    """
    held = negatives if isinstance(negatives, Calibration) else Calibration.of(negatives, positives)
    if held.n == 0 or len(held.positives) == 0:
        raise DataError(
            f"an NP-ROC needs held-out rows of both classes; got {held.n} negatives and "
            f"{len(held.positives)} positives."
        )
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence={confidence!r} must lie in (0, 1).")
    grid = _grid(held.n, tolerances, confidence)
    ranks = np.minimum(order_statistic.ranks(held.n, grid, confidence), held.n)
    threshold = np.array([held.threshold(k) for k in ranks])
    n = len(held.positives)
    caught = n - np.searchsorted(held.positives, threshold, side="right")
    return NpRoc(
        tolerance=grid,
        threshold=threshold,
        tpr=caught / n,
        lower=clopper_pearson.lower_limit(caught, n, confidence),
        upper=clopper_pearson.upper_limit(caught, n, confidence),
        confidence=confidence,
        n_negatives=held.n,
        n_positives=n,
    )


def _grid(n: int, tolerances: ArrayLike | None, confidence: float) -> NDArray[np.float64]:
    smallest = order_statistic.smallest_tolerance(n, confidence)
    if tolerances is None:
        # A hair above the smallest, which rounding could put on the wrong side.
        return np.geomspace(smallest * (1.0 + 1e-9), max(0.999, (1.0 + smallest) / 2.0), 200)
    grid = np.atleast_1d(np.asarray(tolerances, dtype=np.float64))
    if not ((grid > 0.0) & (grid < 1.0)).all():
        raise ParameterError("tolerances must lie in (0, 1).")
    order_statistic.rank(n, float(grid.min()), confidence)
    return np.unique(grid)
