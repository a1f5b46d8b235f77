"""How a scored cut is judged: by its ranking of the test rows, and by two thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_curve

from studies.moments.sets import Cut
from studies.protocol.controls import best_threshold
from studies.protocol.measures import decision, ranking

Vector = NDArray[np.float64]
RATES = np.concatenate([np.linspace(0, 0.1, 11), np.linspace(0.15, 1.0, 18)])
"""False positive rates at which ROC curves are kept, to be averaged upright."""


def areas(y: NDArray[np.int64], scores: Vector) -> Vector:
    """AUC of every column of ``scores``: the share of pairs in the right order, ties counting half."""
    positive = y > 0
    n, m = int(positive.sum()), int((~positive).sum())
    ranks = rankdata(scores, axis=0)[positive].sum(axis=0)
    return (ranks - n * (n + 1) / 2) / (n * m)


def judge(cut: Cut, validation_scores: Vector, test_scores: Vector) -> dict[str, Any]:
    """AUC, t-AUC, the ROC curve, what finding every positive costs; balanced accuracy at 0 and where validation says.

    ``natural`` is the method's own threshold, ``moved`` the one with the best balanced accuracy on validation rows.
    """
    y = cut.test.y
    false_rate, true_rate, _ = roc_curve(y > 0, test_scores, drop_intermediate=False)
    moved = best_threshold(cut.validation.y, validation_scores)
    return {
        **{name: round(value, 6) for name, value in ranking(y, test_scores).items()},
        "roc": np.interp(RATES, false_rate, true_rate).round(4).tolist(),
        "false_rate_for_all": round(float(false_rate[np.argmax(true_rate >= 1.0)]), 5),
        "natural": round(decision(y, np.where(test_scores > 0, 1, -1))["balanced_accuracy"], 5),
        "moved": round(decision(y, np.where(test_scores >= moved, 1, -1))["balanced_accuracy"], 5),
    }
