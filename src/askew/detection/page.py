"""From a detector and held-out scores to its report: what the score looks at, and what to look at with care."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

from askew.findings import Finding, find
from askew.report import Report, Summary, summarise
from askew.tolerance import np_roc

if TYPE_CHECKING:
    from askew.detection.detector import Detector

REPEATS = 3
"""Times that a column is shuffled."""


def report_on(
    detector: Detector,
    *,
    positives: Any = None,
    negatives: Any = None,
    sample: tuple[Any, Any] | None = None,
    drift: dict[str, Any] | None = None,
    title: str | None = None,
    event: str | None = None,
    volume_per_day: float | None = None,
    command: str | None = None,
    notes: Sequence[str] = (),
) -> Report:
    """The report of a detector; without scores of new rows, on those of the rows that placed its threshold.

    Parameters
    ----------
    positives, negatives : array, default=None
        Scores of new rows.
    sample : (X, is_positive), default=None
        Prepared rows that trained nothing, for the importance of columns where the score is not linear.
    drift : mapping, default=None
        Outcome of the test of the promise on the new rows.
    """
    card, held = detector.card_, detector.held_out

    def summarised() -> Summary:
        has_band = card.promise.method == "order_statistic" and held.n and len(held.positives)
        columns, kind = importances(detector, sample)
        return summarise(
            title=title or f"{card.title}: {event or card.event}",
            event=event or card.event,
            positive_scores=held.positives if positives is None else positives,
            negative_scores=held.negatives if negatives is None else negatives,
            tolerance=card.promise.tolerance,
            promise=card.promise,
            threshold=0.0,  # scores are measured from it
            methods=card.methods,
            importances=columns,
            importance_kind=kind,
            preparation=card.preparation,
            settings={
                "method": card.title,
                **{f"method: {name}": value for name, value in card.params.items()},
                **{name: value for name, value in card.settings.items() if name != "method" and value not in ((), [])},
                "rows": card.n_rows,
                "rows of the event": card.n_positive,
            },
            command=card.command if command is None else command,
            base_rate=card.base_rate if positives is None and card.base_rate > 0 else None,
            volume_per_day=volume_per_day,
            drift=drift,
            np_roc=np_roc(held, confidence=card.promise.confidence) if has_band else None,
            notes=notes,
            findings=card.findings,
        )

    return Report(card.promise, summarised if negatives is not None or held.n else None)


def importances(detector: Detector, sample: tuple[Any, Any] | None) -> tuple[list[tuple[str, float]], str]:
    """(column, importance) pairs, the largest first, and what the numbers mean: weights, or losses by shuffling."""
    if detector.is_linear:
        return detector.weights(), "weight on prepared columns"
    if sample is None:
        return [], ""
    X, is_positive = sample
    if hasattr(X, "toarray") or not (is_positive.any() and not is_positive.all()):
        return [], ""
    rng = np.random.default_rng(0)
    whole = roc_auc_score(is_positive, detector.scores_of(X))
    columns = np.array(detector.preparation_.sources_out_)
    found = {}
    for name in dict.fromkeys(columns.tolist()):
        mine, losses = np.flatnonzero(columns == name), []
        for _ in range(REPEATS):
            shuffled = X.copy()
            shuffled[:, mine] = X[rng.permutation(len(X))][:, mine]
            losses.append(whole - roc_auc_score(is_positive, detector.scores_of(shuffled)))
        found[name] = float(np.mean(losses))
    return sorted(found.items(), key=lambda item: -abs(item[1])), "loss of AUC when the column is shuffled"


def findings_on(detector: Detector) -> list[Finding]:
    """What a careful person would ask after a fit that looks too good or too thin."""
    card, found = detector.card_, []
    if card.auc is not None and card.auc > 0.9999:
        found.append(find("ASK101", auc=card.auc, suspect=_suspect(detector)))
    if 0 < card.n_training_positives < 30:
        found.append(find("ASK102", n=card.n_training_positives))
    low, high = card.promise.tpr_interval
    if card.target and card.promise.n_positives and high - low > 0.3:
        found.append(find("ASK103", low=low, high=high, n=card.promise.n_positives))
    return found


def _suspect(detector: Detector) -> str:
    """The column that may give the target away."""
    if not detector.is_linear:
        return ""
    by_column: dict[str, float] = {}
    weights: Any = dict(detector.weights())
    names, columns = detector.preparation_.get_feature_names_out(), detector.preparation_.sources_out_
    for name, column in zip(names, columns, strict=True):
        by_column[column] = math.hypot(by_column.get(column, 0.0), weights[str(name)])
    return f" The heaviest column is {max(by_column, key=lambda column: by_column[column])!r}."
