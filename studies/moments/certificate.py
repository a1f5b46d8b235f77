"""What the certificate promises and what happens (Remarks 1 and 2 of paper 000)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from askew import MomentSVC
from studies.moments.sets import Cut

TOLERANCES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


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
