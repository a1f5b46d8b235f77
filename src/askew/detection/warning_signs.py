"""What a careful person would ask after a fit."""

from __future__ import annotations

import math
from typing import Any

from askew.detection.detector import Detector


def warning_signs(detector: Detector) -> list[str]:
    """Sentences about a fit that looks too good or too thin."""
    card, promise = detector.card, detector.card["promise"]
    signs = []
    if card["auc"] is not None and card["auc"] > 0.9999:
        signs.append(f"the ranking is all but perfect (AUC {card['auc']:.5f}).{_suspect(detector)}")
    if 0 < card["n_training_positives"] < 30:
        signs.append(f"only {card['n_training_positives']} rows of the event to learn from.")
    low, high = promise["tpr_interval"]
    if card["target"] and promise["n_positives"] and high - low > 0.3:
        signs.append(
            f"the share caught is uncertain, between {low:.0%} and {high:.0%}: only {promise['n_positives']} rows of "
            "the event were held out to measure it."
        )
    return signs


def _suspect(detector: Detector) -> str:
    """The column that may give the target away."""
    advice = " A column may tell the target by itself, or be known only after the event: leave it out with --drop."
    if not detector.is_linear:
        return advice
    by_column: dict[str, float] = {}
    weights: Any = dict(detector.weights())
    for name, column in zip(
        detector.preparation.get_feature_names_out(), detector.preparation.sources_out_, strict=True
    ):
        by_column[column] = math.hypot(by_column.get(column, 0.0), weights[str(name)])
    return f"{advice} The heaviest is {max(by_column, key=lambda column: by_column[column])!r}."
