"""What a scored test part is judged by, and how far a fit is from its optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from askew import SVDD
from askew.metrics import tolerance_auc_score


def ranking(y: Any, scores: Any, tolerances: tuple[float, ...] = (0.1, 0.01)) -> dict[str, float]:
    """AUC, and the share of the possible t-AUC for each tolerance; y is +1 or −1."""
    y = np.asarray(y)
    found = {"auc": float(roc_auc_score(y > 0, scores))}
    for t in tolerances:
        found[f"tauc_{t:g}"] = float(tolerance_auc_score(y > 0, scores, tolerance=t, normalize=True))
    return found


def decision(y: Any, predicted: Any) -> dict[str, float]:
    """Balanced accuracy, true and false positive rate of a decision; y and ``predicted`` are +1 or −1."""
    y, predicted = np.asarray(y) > 0, np.asarray(predicted) > 0
    return {
        "balanced_accuracy": float(balanced_accuracy_score(y, predicted)),
        "true_positive_rate": float(predicted[y].mean()),
        "false_positive_rate": float(predicted[~y].mean()),
    }


def relative_gap(model: Any, n_rows: int) -> float | None:
    """Largest duality gap over half of the squared norm of the weights; None for a model without a programme.

    The objective of a C-SVC is at least that half, and the objective of a one-class SVM is that half, so this is not
    less than the usual relative gap. For rbf kernels; the covariance-guided machine reports its objective itself.
    """
    if not hasattr(model, "dual_gap_"):
        return None
    if hasattr(model, "eta_path_"):
        size = float(model.eta_path_["objective"][np.argmin(np.abs(model.eta_path_["eta"] - model.eta_))])
    else:
        weights = np.ravel(model.dual_coef_)
        size = float(weights @ rbf_kernel(model.support_vectors_, gamma=model.gamma_) @ weights) / 2
    if isinstance(model, SVDD):  # its coefficients sum to 1, those of its programme to ν times the number of rows
        size *= (model.nu * n_rows) ** 2
    return float(np.max(model.dual_gap_)) / max(abs(size), np.finfo(float).tiny)
