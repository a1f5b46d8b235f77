"""A pass over new rows: scores, alarms and reasons into a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askew.detection.detector import Detector
from askew.exceptions import DataError, ParameterError
from askew.sources import Source, TableWriter, check_outputs
from askew.sources.names import nearest
from askew.sources.source import count_rows, naming
from askew.tables import Progress


@dataclass(frozen=True)
class Counts:
    """What a pass has seen."""

    n_rows: int
    n_alarms: int


def scored_blocks(
    detector: Detector, source: Source, progress: Progress, extra: Sequence[str] = ()
) -> Iterator[tuple[int, Any, Any, Any]]:
    """(number of the first row, block, prepared rows, scores) of every block, ``extra`` columns among its own."""
    needed = detector.check_columns(source)
    absent = [name for name in extra if name not in source.columns]
    if absent:
        raise ParameterError(f"There is no column {absent[0]!r}. {nearest(absent[0], source.columns)}")
    columns = None if needed is None else list(dict.fromkeys([*needed, *extra]))
    start = 0
    for block in source.blocks(columns):
        detector.check_block(block)
        X, end = detector.preparation.transform(block), start + count_rows(block)
        yield start, block, X, naming(f"{source.name}, rows {start + 1:,} to {end:,}", detector.scores_of, X)
        start = end
        progress("scoring", start, source.n_rows)
    if start == 0:
        raise DataError(f"{source.name} holds no rows.")


def score_source(
    detector: Detector,
    source: Source,
    output: str,
    *,
    keep: Sequence[str] = (),
    alarms_only: bool = False,
    top: int = 3,
    progress: Progress,
) -> Counts:
    """Write scores, alarms and reasons of every row, block by block."""
    import pyarrow as pa

    check_outputs([output], source)
    explains = detector.is_linear and top > 0
    blocks = scored_blocks(detector, source, progress, keep)
    first = next(blocks)  # columns are checked before a file is touched
    kept = [source.schema.field(name) for name in keep]
    fields = [pa.field("row", pa.int64()), *kept, pa.field("score", pa.float64()), pa.field("alarm", pa.bool_())]
    schema = pa.schema([*fields, *([pa.field("reasons", pa.string())] if explains else [])])
    n_rows = n_alarms = 0
    with TableWriter(output, schema) as writer:
        for start, block, X, scores in _chain(first, blocks):
            is_alarm = scores > 0
            columns = {"row": np.arange(start, start + len(scores)), **{name: block.column(name) for name in keep}}
            columns |= {"score": scores, "alarm": is_alarm}
            if explains:
                columns["reasons"] = _reasons(detector, X, is_alarm, top)
            table = pa.table([columns[name] for name in schema.names], schema=schema)
            writer.write(table.filter(pa.array(is_alarm)) if alarms_only else table)
            n_rows, n_alarms = n_rows + len(scores), n_alarms + int(is_alarm.sum())
    return Counts(n_rows, n_alarms)


def _reasons(detector: Detector, X: Any, is_alarm: Any, top: int) -> Any:
    import pyarrow as pa

    rows = np.flatnonzero(is_alarm)
    found = np.full(len(is_alarm), None, dtype=object)
    if len(rows):
        found[rows] = detector.reasons(X[rows], top)
    return pa.array(found, pa.string())


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
