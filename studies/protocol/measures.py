"""What a scored test part is judged by."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

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
