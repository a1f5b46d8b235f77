"""The average of several ROC curves: folds of a cross-validation, or repeats of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from askew.exceptions import DataError, ParameterError
from askew.metrics.curve import RocCurve

__all__ = ["AveragedRoc", "averaged_roc"]


@dataclass(frozen=True)
class AveragedRoc:
    """Mean TPR of several ROC curves at fixed false positive rates, with a confidence band.

    Parameters
    ----------
    fpr : ndarray, shape (g,)
        The false positive rates.
    tpr, lower, upper : ndarray, shape (g,)
        Mean TPR, and the band around the mean, cut to [0, 1].
    deviation : ndarray, shape (g,)
        Standard deviation of the TPR over the curves.
    confidence : float
        Level of the band.
    n_curves : int
        How many curves were averaged.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    deviation: NDArray[np.float64]
    confidence: float
    n_curves: int


def averaged_roc(curves: Sequence[RocCurve], *, fpr: ArrayLike | None = None, confidence: float = 0.95) -> AveragedRoc:
    """Average ROC curves vertically: the mean TPR at each false positive rate.

    Parameters
    ----------
    curves : sequence of RocCurve
        At least two.
    fpr : array-like, default=None
        Increasing false positive rates in [0, 1] at which to average; by default 1001 evenly spaced. For a
        window [0, t] pass ``np.linspace(0, t, 201)``.
    confidence : float in (0, 1), default=0.95
        Level of the band, Student's t on the mean, at each rate by itself. It is exact for independent
        repeats; curves of folds share training rows, and there the band is only an indication.

    Returns
    -------
    AveragedRoc

    Examples
    --------
    >>> from askew.metrics import RocCurve, averaged_roc
    >>> curves = [RocCurve.of([0, 0, 1, 1], s) for s in ([1, 3, 2, 4], [1, 2, 3, 4])]
    >>> averaged_roc(curves, fpr=[0.0, 0.5, 1.0]).tpr.tolist()
    [0.75, 1.0, 1.0]
    """
    if len(curves) < 2:
        raise DataError(f"an average with a band needs at least two ROC curves; got {len(curves)}.")
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence={confidence!r} must lie in (0, 1).")
    grid = np.linspace(0.0, 1.0, 1001) if fpr is None else np.asarray(fpr, dtype=np.float64)
    is_grid = grid.ndim == 1 and len(grid) > 0 and bool(np.all(np.diff(grid) > 0.0))
    if not is_grid or not (grid[0] >= 0.0 and grid[-1] <= 1.0):
        raise ParameterError("fpr must be a vector of increasing rates within [0, 1].")
    each = np.stack([curve.at(grid) for curve in curves])
    mean, deviation = each.mean(axis=0), each.std(axis=0, ddof=1)
    half = stdtrit(len(curves) - 1, 0.5 + confidence / 2) * deviation / np.sqrt(len(curves))
    return AveragedRoc(
        fpr=grid,
        tpr=mean,
        lower=np.clip(mean - half, 0.0, 1.0),
        upper=np.clip(mean + half, 0.0, 1.0),
        deviation=deviation,
        confidence=confidence,
        n_curves=len(curves),
    )
