"""Which columns a score stands on: its weights where it is linear, shuffled columns otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from askew.detection.detector import Detector

REPEATS = 3


def importances(detector: Detector, sample: tuple[Any, Any]) -> tuple[list[tuple[str, float]], str]:
    """(column, importance) pairs, the largest first, and what the numbers mean.

    Parameters
    ----------
    detector : Detector
    sample : (X, is_positive)
        Prepared rows that trained nothing, for scores that are not linear.
    """
    if detector.is_linear:
        return detector.weights(), "weight on prepared columns"
    X, is_positive = sample
    if hasattr(X, "toarray") or not (is_positive.any() and not is_positive.all()):
        return [], ""
    rng = np.random.default_rng(0)
    whole = roc_auc_score(is_positive, detector.scores_of(X))
    sources = np.array(detector.preparation.sources_out_)
    found = {}
    for name in dict.fromkeys(sources.tolist()):
        mine = np.flatnonzero(sources == name)
        losses = []
        for _ in range(REPEATS):
            shuffled = X.copy()
            shuffled[:, mine] = X[rng.permutation(len(X))][:, mine]
            losses.append(whole - roc_auc_score(is_positive, detector.scores_of(shuffled)))
        found[name] = float(np.mean(losses))
    ranked = sorted(found.items(), key=lambda item: -abs(item[1]))
    return ranked, "loss of AUC when the column is shuffled"
