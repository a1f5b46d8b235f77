"""A pass over new rows: scores, alarms and reasons; and where labels are known, whether the promise still holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from askew.detection.hold_out import stacked
from askew.detection.page import report_on
from askew.exceptions import DataError, ParameterError
from askew.report import Report
from askew.sources import Source, SparseBlock, TableWriter
from askew.sources.names import nearest
from askew.sources.source import count_rows, naming
from askew.tables import LabelCounts, Progress, Target, canonical_label, labels_of
from askew.tolerance.drift import DriftMonitor, DriftTest

if TYPE_CHECKING:
    from askew.detection.detector import Detector

Vector = NDArray[np.float64]
SAMPLE_ROWS = 4_000  # prepared rows kept, for measures that need to score changed rows


@dataclass(frozen=True)
class Counts:
    """What a pass has seen."""

    n_rows: int
    n_alarms: int


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
    detector : Detector
        The one evaluated.
    """

    positives: Vector
    negatives: Vector
    drift: DriftTest
    sample: tuple[Any, NDArray[np.bool_]]
    detector: Detector

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

    def report(self, **words: Any) -> Report:
        """The page for these rows.

        Parameters
        ----------
        **words : dict
            ``title``, ``event``, ``volume_per_day``, ``command`` and ``notes`` of the page.
        """
        return report_on(
            self.detector,
            positives=self.positives,
            negatives=self.negatives,
            sample=self.sample,
            drift=self.figures()["drift"],
            **words,
        )


def scored_blocks(
    detector: Detector, source: Source, progress: Progress, extra: Sequence[str] = ()
) -> Iterator[tuple[int, Any, Any, Vector]]:
    """(number of the first row, block, prepared rows, scores) of every block, ``extra`` columns among its own."""
    needed = _needed(detector, source)
    absent = [name for name in extra if name not in source.columns]
    if absent:
        raise ParameterError(f"There is no column {absent[0]!r}. {nearest(absent[0], source.columns)}")
    columns = None if needed is None else list(dict.fromkeys([*needed, *extra]))
    start = 0
    for block in source.blocks(columns):
        if isinstance(block, SparseBlock) and detector.preparation_.needed_:
            raise DataError("The model was fitted on a table with named columns; svmlight rows have none.")
        X, end = detector.preparation_.transform(block), start + count_rows(block)
        yield start, block, X, naming(f"{source.name}, rows {start + 1:,} to {end:,}", detector.scores_of, X)
        start = end
        progress("scoring", start, source.n_rows)
    if start == 0:
        raise DataError(f"{source.name} holds no rows.")


def scored_tables(
    detector: Detector, source: Source, keep: Sequence[str], reasons: int, progress: Progress
) -> tuple[Any, Iterator[Any]]:
    """The schema of the scores, and a table of them for every block; columns are checked before the first."""
    import pyarrow as pa

    explains = detector.is_linear and reasons > 0
    blocks = scored_blocks(detector, source, progress, keep)
    first = next(blocks)
    kept = [source.schema.field(name) for name in keep]
    fields = [pa.field("row", pa.int64()), *kept, pa.field("score", pa.float64()), pa.field("alarm", pa.bool_())]
    schema = pa.schema([*fields, *([pa.field("reasons", pa.string())] if explains else [])])

    def table(start: int, block: Any, X: Any, scores: Vector) -> Any:
        is_alarm = scores > 0
        columns = {"row": np.arange(start, start + len(scores)), **{name: block.column(name) for name in keep}}
        columns |= {"score": scores, "alarm": is_alarm}
        if explains:
            found, rows = np.full(len(scores), None, dtype=object), np.flatnonzero(is_alarm)
            if len(rows):
                found[rows] = detector.reasons(X[rows], reasons)
            columns["reasons"] = pa.array(found, pa.string())
        return pa.table([columns[name] for name in schema.names], schema=schema)

    return schema, (table(*each) for each in chain([first], blocks))


def write_scores(schema: Any, tables: Iterator[Any], output: str, *, alarms_only: bool) -> Counts:
    """Write scores, alarms and reasons of every row, block by block."""
    n_rows = n_alarms = 0
    with TableWriter(output, schema) as writer:
        for table in tables:
            is_alarm = table.column("alarm")
            writer.write(table.filter(is_alarm) if alarms_only else table)
            n_rows, n_alarms = n_rows + table.num_rows, n_alarms + int(np.count_nonzero(is_alarm))
    return Counts(n_rows, n_alarms)


def evaluated(
    detector: Detector, source: Source, target: str | None, positive: object, progress: Progress
) -> Evaluation:
    """Score every row and hold the alarms among the negatives against the promise.

    ``target`` and ``positive`` are those of the fit by default; a detector of normal rows needs them given. Labels
    that the fit did not know are refused, and so are missing ones.
    """
    column = _target(detector, source, target, positive)
    positives: list[Vector] = []
    negatives: list[Vector] = []
    kept: list[tuple[Any, Any]] = []
    counts, room = LabelCounts(), SAMPLE_ROWS
    for start, block, X, scores in scored_blocks(detector, source, progress, [column.name] if source.columns else []):
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
    classifier = detector.classifier_
    monitor = DriftMonitor(classifier.tolerance, classifier.drift_level)
    _, test = monitor.observe(n_new=len(found[1]), n_alarms=int((found[1] > 0).sum()))
    sample = stacked([X for X, _ in kept]), np.concatenate([y for _, y in kept])
    return Evaluation(*found, test, sample, detector)


def _needed(detector: Detector, source: Source) -> list[str] | None:
    """The columns to read from a source, or an error that names the ones it lacks."""
    if not source.columns:
        return None
    needed = detector.preparation_.needed_
    if not needed:
        raise DataError("The model was fitted on svmlight rows; a table has no numbered features. Give svmlight.")
    absent = [each for each in needed if each not in source.columns]
    if absent:
        more = f" and {len(absent) - 1} more ({', '.join(absent[1:4])})" if len(absent) > 1 else ""
        raise DataError(
            f"{source.name} lacks the column {absent[0]!r}{more}, which the model was fitted with. "
            f"{nearest(absent[0], source.columns)}"
        )
    return list(needed)


def _target(detector: Detector, source: Source, target: str | None, positive: object) -> Target:
    known = detector.card_.target
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
