"""Data frames of any library that narwhals knows, seen as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.categories import text_columns
from askew.sources.source import BLOCK_ROWS, Source


def as_table(frame: Any) -> Any:
    """A pandas, Polars or Arrow frame, or a dict of columns, as an Arrow table.

    Examples
    --------
    >>> as_table({"amount": [1.0, 2.0]}).column_names
    ['amount']
    """
    pa = arrow()
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, dict):
        return pa.table(frame)
    try:
        known = nw.from_native(frame, eager_only=True)
        return known.to_arrow().select(known.columns)  # an index of pandas is no column
    except TypeError as error:
        raise DataError(
            f"A table must be a pandas, Polars or Arrow frame or a dict of columns; got {type(frame).__name__}."
        ) from error


class FrameSource(Source):
    """A data frame in memory, cut into Arrow tables.

    Parameters
    ----------
    frame : pandas, Polars or Arrow frame, or dict of columns
    block_rows : int

    Examples
    --------
    >>> source = FrameSource({"amount": [1.0, 2.0, 3.0]}, block_rows=2)
    >>> [block.num_rows for block in source.blocks()]
    [2, 1]
    """

    def __init__(self, frame: Any, *, block_rows: int = BLOCK_ROWS) -> None:
        self._table, self._block_rows = as_table(frame), block_rows
        self.schema = self._table.schema
        self.categories = text_columns(self.schema)
        self.columns, self.n_rows = tuple(self._table.column_names), self._table.num_rows

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        table = self._table if columns is None else self._table.select(list(columns))
        for start in range(0, table.num_rows, self._block_rows):
            yield table.slice(start, self._block_rows)
