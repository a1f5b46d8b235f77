"""Data frames of any library that narwhals knows, seen as Arrow tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
from narwhals.exceptions import DuplicateError

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.schemas import refuse_twice, text_columns, without_index
from askew.sources.source import BLOCK_ROWS, Source


def as_table(frame: Any) -> Any:
    """A pandas, Polars or Arrow frame, or a dict of columns, as an Arrow table.

    Examples
    --------
    >>> as_table({"amount": [1.0, 2.0]}).column_names
    ['amount']
    """
    pa = arrow()
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        refuse_twice(frame.column_names, "The table")
        return frame.select(without_index(frame.schema).names)
    if isinstance(frame, dict):
        return _from_columns(frame)
    try:
        known = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        advice = " Collect it first: frame.collect()." if hasattr(frame, "collect") else ""
        raise DataError(
            f"A table must be a pandas, Polars or Arrow frame or a dict of columns; got {type(frame).__name__}.{advice}"
        ) from error
    except DuplicateError:
        refuse_twice(frame.columns, "The table")
        raise
    try:
        return known.to_arrow().select([str(name) for name in known.columns])  # an index of pandas is no column
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        for name in known.columns:
            _refuse_mixed(name, known.get_column(name))
        raise DataError(f"The table could not be read: {error}") from error


def _from_columns(columns: dict[str, Any]) -> Any:
    pa = arrow()
    try:
        return pa.table(columns)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        for name, values in columns.items():
            _refuse_mixed(name, values)
        raise DataError(f"The dict is no table: {error}. Give columns of one length.") from error


def _refuse_mixed(name: object, values: Any) -> None:
    """An error if a column has no Arrow type that holds its values."""
    pa = arrow()
    try:
        values.to_arrow() if isinstance(values, nw.Series) else pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        kinds = sorted({type(value).__name__ for value in values if value is not None and value is not math.nan})
        raise DataError(
            f"Column {name!r} holds values that no type of column holds ({', '.join(kinds)}). Make them all numbers or "
            f"all text, as frame[{name!r}].astype(str) does in pandas."
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
