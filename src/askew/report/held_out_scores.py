"""Scores of held-out rows, and what thresholds do on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.exceptions import DataError
from askew.metrics import clopper_pearson
from askew.report.operating_curve import OperatingCurve

__all__ = ["HeldOutScores"]

# Ranks of the measured curve: dense in logarithm, where rare alarms live, and even towards the right end.
_LOG_POINTS, _EVEN_POINTS = 1500, 400


class HeldOutScores:
    """Scores of rows that trained nothing, sorted once; higher is more suspicious.

    Parameters
    ----------
    negative_scores, positive_scores : array-like of shape (n,)
        Without NaN; at least one negative.
    confidence : float
        Level of the limits for the share caught.

    Examples
    --------
    >>> held = HeldOutScores(np.arange(1000.0), [990.5, 2000.0], confidence=0.95)
    >>> point = held.measured(0.01).at(0.01)
    >>> point.false_alarms, point.caught, point.threshold
    (10, 2, 989.0)
    """

    def __init__(self, negative_scores: ArrayLike, positive_scores: ArrayLike, *, confidence: float):
        self.negatives = np.sort(_checked("negative_scores", negative_scores))
        self.positives = np.sort(_checked("positive_scores", positive_scores))
        if len(self.negatives) == 0:
            raise DataError("negative_scores is empty; a report needs at least one held-out negative.")
        self.confidence = confidence

    @property
    def is_constant(self) -> bool:
        """Whether every row has the same score."""
        everything = np.concatenate([self.negatives[[0, -1]], self.positives[:1], self.positives[-1:]])
        return bool((everything == everything[0]).all())

    def measured(self, tolerance: float) -> OperatingCurve:
        """Best threshold on these very negatives for each false alarm rate; ``tolerance`` is among them."""
        n = len(self.negatives)
        rates = np.concatenate([np.geomspace(1.0 / n, 1.0, _LOG_POINTS), np.linspace(0.0, 1.0, _EVEN_POINTS)])
        ranks = np.unique(np.floor(np.append(rates, tolerance) * n + 1e-9).astype(np.int64))
        # With k false alarms allowed, the (k + 1)-th highest negative must stay quiet; beyond all, none must.
        quiet = np.append(-np.inf, self.negatives)[n - ranks]
        return self.at_thresholds(ranks / n, quiet)

    def at_thresholds(self, tolerance: NDArray[np.float64], threshold: NDArray[np.float64]) -> OperatingCurve:
        """What given thresholds, placed for given tolerances, do on these rows."""
        n, n_positive = len(self.negatives), len(self.positives)
        caught = n_positive - np.searchsorted(self.positives, threshold, side="right")
        low, high = self._limits(caught)
        return OperatingCurve(
            tolerance=np.asarray(tolerance, dtype=np.float64),
            threshold=np.asarray(threshold, dtype=np.float64),
            false_alarms=n - np.searchsorted(self.negatives, threshold, side="right"),
            caught=caught,
            caught_low=low,
            caught_high=high,
            n_negative=n,
            n_positive=n_positive,
        )

    def _limits(self, caught: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        n = len(self.positives)
        if n == 0:
            return np.zeros(len(caught)), np.ones(len(caught))
        each_side = (1.0 + self.confidence) / 2.0
        return clopper_pearson.lower_limit(caught, n, each_side), clopper_pearson.upper_limit(caught, n, each_side)


def _checked(name: str, scores: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"{name} must have one score per row, shape (n,); got shape {array.shape}.")
    missing = int(np.isnan(array).sum())
    if missing:
        raise DataError(f"{name} holds {missing} NaN of {len(array)} scores. Drop these rows or mend the scorer.")
    return array
