"""The first pass: what the columns are, how often the event occurs, how rows become numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from askew.detection.sparse_features import SparseFeatures
from askew.detection.target_column import LABEL, TargetColumn, count_labels, labels_of
from askew.estimators.table_preparation import TablePreparation
from askew.exceptions import DataError, ParameterError
from askew.sources import Source, SparseBlock, SvmlightSource
from askew.sources.names import nearest
from askew.summaries import draw_by_number

Progress = Callable[[str, int, int | None], None]
"""Told of progress as (what is being done, rows so far, rows in all or None)."""


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows has shown.

    Attributes
    ----------
    n_rows : int
    target : TargetColumn or None
        None when all rows are normal.
    preparation : TablePreparation or SparseFeatures
        Learnt from the rows whose draw is at least ``held_share``.
    """

    n_rows: int
    target: TargetColumn | None
    preparation: Any

    @property
    def n_positive(self) -> int:
        return 0 if self.target is None else self.target.n_positive

    @property
    def n_negative(self) -> int:
        return self.n_rows - self.n_positive


def take_survey(
    source: Source,
    target: str | None,
    positive: str | None,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    held_share: float,
    seed: int,
    progress: Progress,
) -> Survey:
    """Read every row once."""
    is_sparse = isinstance(source, SvmlightSource)
    name = LABEL if is_sparse and target is not None else target
    columns = None if is_sparse else features_of(source.columns, name, drop)
    preparation = SparseFeatures() if is_sparse else TablePreparation(categorical=tuple(categorical))
    counts: dict[str, int] = {}
    n_rows = 0
    wanted = None if columns is None else [*columns, *([name] if name is not None else [])]
    for block in source.blocks(wanted):
        n = rows_of(block)
        if name is not None:
            count_labels(counts, labels_of(block, name, n_rows), name)
        learn = draw_by_number(n_rows, n, seed) >= held_share
        if learn.any():
            preparation.partial_fit(_some(block, learn, columns))
        n_rows += n
        progress("reading", n_rows, source.n_rows)
    if n_rows == 0:
        raise DataError(f"{source.name} holds no rows.")
    chosen = None if name is None else TargetColumn.chosen(name, counts, positive)
    if len(preparation.get_feature_names_out()) == 0:
        reasons = "; ".join(f"{column}: {why}" for column, why in preparation.unused_.items())
        raise DataError(f"No column of {source.name} can be used as a feature ({reasons}).")
    return Survey(n_rows, chosen, preparation)


def features_of(columns: Sequence[str], target: str | None, drop: Sequence[str]) -> list[str]:
    """The columns that are features; names that are none of the columns are an error with the nearest ones."""
    for wanted in (*([target] if target is not None else []), *drop):
        if wanted not in columns:
            raise ParameterError(f"There is no column {wanted!r}. {nearest(wanted, columns)}")
    kept = [column for column in columns if column != target and column not in drop]
    if not kept:
        raise ParameterError("No feature is left: every column is the target or dropped.")
    return kept


def rows_of(block: Any) -> int:
    """Number of rows of a block of any kind."""
    return len(block.y) if isinstance(block, SparseBlock) else block.num_rows


def _some(block: Any, mask: Any, columns: Sequence[str] | None) -> Any:
    if isinstance(block, SparseBlock):
        return SparseBlock(block.X[np.flatnonzero(mask)], block.y[mask])
    import pyarrow as pa

    block = block.select(list(columns)) if columns is not None else block
    return block if mask.all() else block.filter(pa.array(mask))
