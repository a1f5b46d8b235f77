"""Values of a column of a table, read as numbers, as texts or as times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.sources.schemas import is_category

Vector = NDArray[np.float64]
Kind = Literal["number", "category", "text", "date"]
"""What a column of a table means: a number, a category, free text or a date."""


@dataclass(frozen=True)
class Spelling:
    """How the cells of a table are spelled.

    Attributes
    ----------
    null : tuple of str
        Texts that stand for a missing value, beside the empty one.
    decimal, thousands : str
        Marks within numbers that are kept as text.
    """

    null: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str = ""

    def read(self, values: Any, kind: Kind, name: str) -> Any:
        """An Arrow column as float64 with NaN for missing numbers, or as Arrow strings or timestamps."""
        if kind == "number":
            return self._as_numbers(values, name)
        return self._as_times(values, name) if kind == "date" else as_text(values, self.null)

    def _as_numbers(self, values: Any, name: str) -> Vector:
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        try:
            if is_category(kind):
                text = pc.utf8_trim_whitespace(as_text(values, self.null))
                if self.thousands:
                    text = pc.replace_substring(text, self.thousands, "")
                return _floats(pc.replace_substring(text, self.decimal, ".") if self.decimal != "." else text)
            if pa.types.is_boolean(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
                values = values.cast(pa.int8() if pa.types.is_boolean(kind) else pa.int64())
            numbers = _floats(values)
        except pa.ArrowException as error:
            reason = str(error).split("\n")[0]
            raise DataError(
                f"Column {name!r} is one of numbers and holds {kind} that is none: {reason}. Mend these values, name "
                "those that mean a missing one in `null`, or say kinds={" + repr(name) + ': "category"}.'
            ) from error
        sentinels = [number for number in map(_number, self.null) if number is not None]
        return np.where(np.isin(numbers, sentinels), np.nan, numbers) if sentinels else numbers

    def _as_times(self, values: Any, name: str) -> Any:
        import pyarrow as pa

        kind = values.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return values
        try:
            return as_text(values, self.null).cast(pa.timestamp("us"))
        except pa.ArrowException as error:
            reason = str(error).split("\n")[0]
            raise DataError(
                f"Column {name!r} is one of dates and holds {kind} that is none: {reason}. Dates are read as in "
                "2026-01-31 or 2026-01-31 12:00:00."
            ) from error


def as_text(values: Any, null: tuple[str, ...] = ()) -> Any:
    """An Arrow array as strings; whole numbers without a point, NaN, empty text and ``null`` as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # of no chunks
        values = pa.nulls(0, pa.string())
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    text = values.cast(pa.string())
    if pa.types.is_floating(values.type):
        is_whole = pc.and_(pc.equal(values, pc.round(values)), pc.less(pc.abs(values), 2.0**53))
        whole = pc.if_else(is_whole, values, 0.0).cast(pa.int64()).cast(pa.string())
        text = pc.if_else(pc.is_nan(values), None, pc.if_else(is_whole, whole, text))
    return pc.if_else(pc.is_in(text, value_set=pa.array(["", *null], pa.string())), None, text)


def _floats(values: Any) -> Vector:
    import pyarrow as pa

    return values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
