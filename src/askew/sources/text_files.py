"""CSV and JSON lines: how they are read, the types that their first block cannot tell, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from askew.exceptions import DataError
from askew.sources.arrow import arrow

TYPED_BLOCK = 2**23  # bytes from which the types of CSV columns are told
CSV_BLOCK = 2**21  # bytes of a block when they are known; pyarrow keeps up to 32 of them ahead
_NOT_UTF8 = "is not UTF-8 text. Save it as UTF-8, for instance with: iconv -f latin1 -t utf-8"


def csv_options(path: str, types: Mapping[str, Any], columns: Sequence[str] = ()) -> dict[str, Any]:
    """How a CSV file is read: its separator, the types that are known, the columns that are wanted."""
    csv = arrow("csv")
    return {
        "parse_options": csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True),
        "read_options": csv.ReadOptions(block_size=CSV_BLOCK if columns else TYPED_BLOCK),
        "convert_options": csv.ConvertOptions(
            strings_can_be_null=True, column_types=dict(types), include_columns=list(columns)
        ),
    }


def widened(schema: Any, text: Sequence[str], path: str) -> Any:
    """Types were read off the first block only: whole numbers may turn out to have a point further down."""
    pa = arrow()
    for index, field in enumerate(schema):
        if field.name in text or pa.types.is_null(field.type):
            schema = schema.set(index, field.with_type(pa.string()))
        elif pa.types.is_integer(field.type):
            schema = schema.set(index, field.with_type(pa.float64()))
        elif pa.types.is_binary(field.type):  # what pyarrow makes of bytes that are no text
            raise DataError(f"{path}, column {field.name!r}, {_NOT_UTF8}.")
    return schema


def refuse_late_numbers(table: Any, names: Sequence[str], path: str) -> None:
    """Columns that were empty at first are read as text, which numbers further down would become unnoticed."""
    pa = arrow()
    for name in names:
        column = table.column(name)
        if column.null_count == len(column):
            continue
        try:
            column.cast(pa.float64())
        except pa.ArrowInvalid:
            continue
        raise DataError(
            f"{path}: column {name!r} is empty at first and holds numbers further down, which would be read as text. "
            "Leave the column out, write the table as Parquet, which knows its types, or say that it is text"
            f"{_as_text(name)}."
        )


def reason(error: Exception) -> str:
    """The innermost of Arrow's nested reasons."""
    told = str(error).strip().split("\n")[0].rsplit("input source", 1)[-1].rsplit("Invalid: ", 1)[-1]
    return told.strip()[:300].rstrip(".") + "."


def remedy(error: Exception, names: Sequence[str]) -> str:
    """What helps when a text file cannot be read; ``names`` are its columns in order."""
    told = str(error)
    if isinstance(error, UnicodeDecodeError) or "UTF8" in told:
        return f" The file {_NOT_UTF8}."
    if "inflate failed" in told or "incorrect header" in told:
        return " Its ending says that it is compressed, and it is not, or it is damaged. Correct the ending."
    if "Column() changed from object" in told:
        return ' Each line must be an object, as in {"amount": 1.5}.'
    if changed := re.search(r"Column\(/([^/)]+)\) changed", told):
        return f" Make column {changed[1]!r} one type."
    place = re.search(r"CSV column #(\d+): (?:Row #\d+: )?CSV conversion error", told)
    if place is None or int(place[1]) >= len(names):
        return ""
    name = names[int(place[1])]
    return f" Column {name!r} held another type further up: make it one type, or read it as text{_as_text(name)}."


def _as_text(name: str) -> str:
    return f": open_source(path, text=[{name!r}]) of askew.sources, --categorical {name} on the command line"


def _delimiter(path: str) -> str:
    """The separator that occurs most in the first line."""
    with arrow().input_stream(path) as stream:
        head = stream.read(65_536).split(b"\n", 1)
    if len(head) > 1:  # a line that is cut may end within a letter
        head[0].decode("utf-8")
    return max(",;\t|", key=lambda mark: head[0].count(mark.encode()))
