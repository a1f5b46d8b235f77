"""The first pass over a table: what its columns are, how rows become numbers, and how often each label occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError, ParameterError
from askew.sources import Source, SparseBlock
from askew.sources.names import nearest
from askew.sources.source import count_rows
from askew.tables.labels import LABEL, LabelCounts, labels_of
from askew.tables.target import Target

Progress = Callable[[str, int, int | None], None]
"""Told of progress as (what is being done, rows so far, rows in all or None)."""


class Preparation(Protocol):
    """Anything that learns from blocks: a ``TablePreparation``."""

    unused_: dict[str, str]

    def partial_fit(self, X: Any) -> Any: ...

    def get_feature_names_out(self) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows has shown.

    Attributes
    ----------
    n_rows : int
    target : Target or None
        None when all rows are normal.
    preparation : TablePreparation
        Learnt from the rows that train.
    """

    n_rows: int
    target: Target | None
    preparation: Any

    @property
    def n_positive(self) -> int:
        return 0 if self.target is None else self.target.n_positive

    @property
    def n_negative(self) -> int:
        return self.n_rows - self.n_positive


def take_survey(
    source: Source,
    preparation: Preparation,
    target: str | None,
    positive: object = None,
    *,
    drop: Sequence[str] = (),
    trains: Callable[[int, int], NDArray[np.bool_]],
    progress: Progress,
) -> Survey:
    """Read every row once, in the order of the source.

    Parameters
    ----------
    source : Source
    preparation : Preparation
        Learns from the rows that train.
    target : str or None
        Column of the labels; None when all rows are normal.
    positive : label or None
    drop : sequence of str
        Columns that are not read.
    trains : callable
        Of the number of a first row and the number of rows: which of them train.
    progress : callable
    """
    name = LABEL if target is not None and not source.columns else target
    columns = features_of(source.columns, name, drop) if source.columns else None
    labels, n_rows = LabelCounts(), 0
    for block in source.blocks(None if columns is None else [*columns, *([name] if name is not None else [])]):
        n = count_rows(block)
        if name is not None:
            labels = labels.merge(LabelCounts.of(labels_of(block, name, n_rows)))
        learns = trains(n_rows, n)
        if learns.any():
            preparation.partial_fit(_some(block, learns, columns))
        n_rows += n
        progress("reading", n_rows, source.n_rows)
    if n_rows == 0:
        raise DataError(f"{source.name} holds no rows.")
    chosen = None if name is None else Target.chosen(name, labels, positive)
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


def _some(block: Any, mask: NDArray[np.bool_], columns: Sequence[str] | None) -> Any:
    if isinstance(block, SparseBlock):
        return SparseBlock(block.X[np.flatnonzero(mask)], block.y[mask])
    import pyarrow as pa

    block = block.select(list(columns)) if columns is not None else block
    return block if mask.all() else block.filter(pa.array(mask))
