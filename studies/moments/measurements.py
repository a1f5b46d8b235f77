"""How a fitted method is judged on a cut: its ranking of the test rows, two thresholds, and for MIBC its certificate.

A certificate promises a false positive rate (Remarks 1 and 2 of paper 000); beside it stands what happens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from sklearn.metrics import roc_curve

from askew import MomentSVC
from studies.moments.sets import Cut
from studies.protocol.controls import best_threshold
from studies.protocol.measures import decision, ranking

Vector = NDArray[np.float64]
TOLERANCES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
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


def certified(model: MomentSVC, cut: Cut) -> dict[str, Any]:
    """Bound and observed rates at the model's own threshold, and at thresholds certified for some tolerances.

    ``trained`` and ``tested`` are rates of training and test negatives. ``modelled`` is the bound that takes the
    modelled covariance for the true one, as Remark 2 does: with a diagonal it may be wrong.
    """
    trained = model.decision_function(cut.train.negatives)
    tested = model.decision_function(cut.test.negatives)
    found = model.decision_function(cut.test.positives)
    return {
        "bound": model.false_positive_bound_,
        "modelled": _modelled_bound(model, cut),
        "normal": model.false_positive_estimate(),
        "trained": float(np.mean(trained >= 0)),
        "tested": float(np.mean(tested >= 0)),
        "at": [
            [t, *(round(float(np.mean(s >= threshold)), 6) for s in (trained, tested, found))]
            for t in TOLERANCES
            for threshold in [model.threshold_for(t)]
        ],
    }


def _modelled_bound(model: MomentSVC, cut: Cut) -> float | None:
    """v/(1 + v), v = w'(D + ρI)w/κ², D the diagonal of the covariance; None where more than that is modelled."""
    if model.covariance != "diagonal":
        return None
    X, w = cut.train.negatives, model.coef_[0]
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    variance = np.asarray(squares.mean(axis=0)).ravel() - mean**2
    distance = -float(w @ mean + model.intercept_[0])
    v = float((variance + model.rho_) @ w**2) / distance**2 if distance > 0 else np.inf
    return v / (1.0 + v) if np.isfinite(v) else 1.0
