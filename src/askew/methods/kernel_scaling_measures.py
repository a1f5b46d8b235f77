"""By how much one score beats another on the same rows, and how sure that is.

Solves
    For each of several scores on held-out rows, its gain over the first, and the standard error of that gain.
    balanced_accuracy: every row is a matched pair (right or wrong under the one, under the other); the gain is the mean
    over the two classes of mean(d), d in {−1, 0, 1}. Two imagined pairs per class, one won and one lost, keep the
    standard error honest where the rare class has a handful of rows that all agree.
    tolerance_auc: t-AUC per fold; the standard error is that of the mean difference over folds.
Given
    Scores of shape (n_scores, n), y = ±1, sample weights (a weight of two is the row given twice), folds.
Returns
    (gains, standard errors), both zero for the first score.
Reference
    Agresti and Min (2005), Statistics in Medicine 24:729, for the imagined pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askew.methods.expansion import positive_side
from askew.metrics import tolerance_auc

Vector = NDArray[np.float64]
Measure = Callable[[NDArray[np.float64], Vector, Vector, NDArray[np.int64]], tuple[Vector, Vector]]
IMAGINED = 2.0


def balanced_accuracy_gain(
    scores: NDArray[np.float64], y: Vector, weight: Vector, fold: NDArray[np.int64]
) -> tuple[Vector, Vector]:
    """Gain in the mean of the two classes' accuracies."""
    is_right = positive_side(scores) == (y > 0)
    difference = is_right.astype(np.float64) - is_right[0]
    gain, variance = np.zeros(len(scores)), np.zeros(len(scores))
    for sign in (-1.0, 1.0):
        d, w = difference[:, y == sign], weight[y == sign]
        size = w.sum() + IMAGINED
        mean = d @ w / size
        gain += 0.5 * mean
        variance += 0.25 * ((d**2 @ w + IMAGINED) / size - mean**2) / size
    error = np.sqrt(np.maximum(variance, 0.0))
    error[0] = 0.0
    return gain, error


def tolerance_auc_gain(tolerance: float, positive_sign: float = 1.0) -> Measure:
    """Gain in t-AUC, divided by t, at a tolerated false positive rate; the class of interest scores with a sign."""

    def gain(scores: NDArray[np.float64], y: Vector, weight: Vector, fold: NDArray[np.int64]) -> tuple[Vector, Vector]:
        folds = np.unique(fold)
        areas = [
            tolerance_auc(positive_sign * y[f] > 0, positive_sign * scores[:, f].T, tolerance, weight[f])
            for f in (fold == k for k in folds)
        ]
        differences = np.stack([area - area[0] for area in areas]) / tolerance
        error = differences.std(axis=0, ddof=1) / np.sqrt(len(folds))
        return differences.mean(axis=0), np.asarray(error)

    return gain
