"""A pass over new rows with known labels: does the promise still hold, and what is caught?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from askew.detection.detector import Detector
from askew.detection.gathering import stacked
from askew.detection.scoring import scored_blocks
from askew.exceptions import DataError, ParameterError
from askew.sources import Source
from askew.sources.names import nearest
from askew.tables import LabelCounts, Progress, Target, canonical_label, labels_of
from askew.tolerance.drift import DriftMonitor, DriftTest

Vector = NDArray[np.float64]
SAMPLE_ROWS = 4_000  # prepared rows kept, for measures that need to score changed rows


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of labelled rows, and the test of the promise on the negatives among them.

    Attributes
    ----------
    positives, negatives : array
        Scores; above 0 is an alarm.
    drift : DriftTest
    sample : (X, is_positive)
        Some of the prepared rows, both kinds among them where there are both.
    """

    positives: Vector
    negatives: Vector
    drift: DriftTest
    sample: tuple[Any, NDArray[np.bool_]]

    def figures(self) -> dict[str, Any]:
        """Counts and rates as plain data."""
        n_pos, n_neg = len(self.positives), len(self.negatives)
        caught, false = int((self.positives > 0).sum()), int((self.negatives > 0).sum())
        labels = np.repeat([0, 1], [n_neg, n_pos])
        scores = np.concatenate([self.negatives, self.positives])
        return {
            "n_rows": n_pos + n_neg,
            "n_positive": n_pos,
            "caught": caught,
            "false_alarms": false,
            "tpr": caught / n_pos if n_pos else None,
            "fpr": false / n_neg,
            "precision": caught / (caught + false) if caught + false else None,
            "alerts_per_million": 1e6 * (caught + false) / (n_pos + n_neg),
            "auc": float(roc_auc_score(labels, scores)) if n_pos else None,
            "drift": {**asdict(self.drift), "drifted": self.drift.drifted},
        }


def evaluate_source(
    detector: Detector, source: Source, target: str | None, positive: str | None, progress: Progress
) -> Evaluation:
    """Score every row and hold the alarms among the negatives against the promise.

    ``target`` and ``positive`` are those of the fit by default; a detector of normal rows needs them given. Labels
    that the fit did not know are refused, and so are missing ones.
    """
    column = _target(detector, source, target, positive)
    positives: list[Vector] = []
    negatives: list[Vector] = []
    kept: list[tuple[Any, Any]] = []
    extra = [column.name] if source.columns else []
    counts = LabelCounts()
    room = SAMPLE_ROWS
    for start, block, X, scores in scored_blocks(detector, source, progress, extra):
        labels = labels_of(block, column.name, start)
        is_positive = column.is_positive(labels, start)
        counts = counts.merge(LabelCounts.of(labels))
        positives.append(scores[is_positive])
        negatives.append(scores[~is_positive])
        rows = np.concatenate([np.flatnonzero(is_positive)[:500], np.flatnonzero(~is_positive)[:1000]])[:room]
        if len(rows):
            kept.append((X[rows], is_positive[rows]))
            room -= len(rows)
    column.check_seen(counts.counts)
    found = np.concatenate(positives), np.concatenate(negatives)
    if len(found[1]) == 0:
        raise DataError(f"{source.name} holds no negatives, so nothing can be said about false alarms.")
    classifier = detector.classifier
    monitor = DriftMonitor(classifier.tolerance, classifier.drift_level)
    _, test = monitor.observe(n_new=len(found[1]), n_alarms=int((found[1] > 0).sum()))
    sample = stacked([X for X, _ in kept]), np.concatenate([y for _, y in kept])
    return Evaluation(*found, test, sample)


def _target(detector: Detector, source: Source, target: str | None, positive: str | None) -> Target:
    known = detector.card["target"]
    if known is not None:
        column = Target.of_model(known, target, positive)
    elif target is not None and (event := canonical_label(positive)) is not None:
        column = Target(target, event, {})
    else:
        raise ParameterError("The model was fitted on normal rows. Say what to check with --target and --positive.")
    name = column.name
    if source.columns and name not in source.columns:
        raise ParameterError(
            f"{source.name} has no column {name!r}, and a report needs the labels. {nearest(name, source.columns)} "
            "Name it with --target, or use askew score for rows without labels."
        )
    return column
