"""The columns of one table in several files: the same names in each of them, of types that one type can hold.

Columns may also stand in the names of folders, as in ``country=fr/part-0.parquet``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from askew.exceptions import DataError
from askew.sources.arrow import arrow

DASK_INDEX = "__null_dask_index__"
MISSING_KEY = "__HIVE_DEFAULT_PARTITION__"


def without_index(schema: Any) -> Any:
    """The schema without the columns in which pandas or Dask stored an index: their readers do not count them, either.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> schema = pa.Schema.from_pandas(pd.DataFrame({"a": [1.0]}, index=[7]))
    >>> schema.names, without_index(schema).names
    (['a', '__index_level_0__'], ['a'])
    """
    described = (schema.pandas_metadata or {}).get("index_columns") or []
    # A RangeIndex is described by a dict and stored nowhere.
    index = {DASK_INDEX, *(each for each in described if isinstance(each, str))}
    if index.isdisjoint(schema.names):
        return schema
    return arrow().schema([field for field in schema if field.name not in index], metadata=schema.metadata)


def common_schema(found: Iterable[tuple[str, Any]]) -> Any:
    """One schema for all files, whatever their order; an error names the file and the column that do not fit.

    Parameters
    ----------
    found : iterable of (path, pyarrow.Schema)
    """
    first, kinds, holders = "", {}, {}
    for path, schema in found:
        refuse_twice(schema.names, path)
        if not first:
            first, kinds = path, {field.name: field.type for field in schema}
            holders = dict.fromkeys(kinds, path)
        check_names(path, schema.names, first, list(kinds))
        for name, kind in zip(schema.names, schema.types, strict=True):
            held = kinds[name]
            if kind.equals(held):
                continue
            both = common_type(held, kind)
            if both is None:
                raise DataError(
                    f"{path}: column {name!r} holds {kind} here, and {held} in {holders[name]}. Make it one type in "
                    "all files."
                )
            if not both.equals(held):
                kinds[name], holders[name] = both, path
    return arrow().schema(list(kinds.items()))


def refuse_twice(names: Iterable[object], where: str) -> None:
    """An error if two columns have one name.

    Examples
    --------
    >>> refuse_twice(["amount", "fraud"], "The table")
    """
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"{where} has more than one column called {twice[0]!r}. Rename one of them.")


def check_names(path: str, names: Sequence[str], first: str, expected: Sequence[str]) -> None:
    """Refuse a file that lacks a column of the first file, or has one more."""
    absent = [name for name in expected if name not in set(names)]
    if absent:
        raise DataError(
            f"{path} has no column {absent[0]!r}, which other files have, as {first}. Give files with the same columns."
        )
    more = [name for name in names if name not in set(expected)]
    if more:
        raise DataError(f"{path} has a column {more[0]!r}, which {first} lacks. Give files with the same columns.")


def common_type(first: Any, second: Any) -> Any:
    """The type that holds the values of both, None if there is none: numbers become numbers, texts become text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> common_type(pa.int32(), pa.int64()), common_type(pa.int64(), pa.float32()), common_type(pa.string(), pa.int64())
    (DataType(int64), DataType(double), None)
    """
    pa, types = arrow(), arrow("types")
    pair = (first, second)
    if first.equals(second) or types.is_null(second):
        return first
    if types.is_null(first):
        return second
    if any(map(types.is_dictionary, pair)):
        return _common_dictionary(first, second)
    if all(map(_is_text, pair)):
        return pa.large_string()
    if all(map(_is_number, pair)):
        numbers = [kind for kind in pair if not types.is_boolean(kind)]  # a truth value is the number 0 or 1
        if not all(map(types.is_integer, numbers)):
            return pa.float64()
        if len(numbers) == 1:
            return numbers[0]
    try:
        return pa.unify_schemas([pa.schema([("", kind)]) for kind in pair], promote_options="permissive").field(0).type
    except pa.ArrowTypeError:
        return None


def conformed(table: Any, schema: Any, path: str) -> Any:
    """A table of one file in the types that all files share."""
    if table.schema.equals(schema):
        return table
    columns = [_converted(table.column(field.name), field, path) for field in schema]
    return arrow().Table.from_arrays(columns, schema=schema)


def _converted(column: Any, field: Any, path: str) -> Any:
    pa, kind, target = arrow(), column.type, field.type
    if kind.equals(target):
        return column
    both = common_type(kind, target)
    if both is None or not both.equals(target):
        raise DataError(
            f"{path} could not be read: column {field.name!r} holds {kind} and not {target}, as when it was opened."
        )
    try:
        if pa.types.is_null(kind):
            return pa.chunked_array([pa.nulls(len(column), target)])
        if not pa.types.is_dictionary(target):
            return column.cast(target)
        return column.cast(target.value_type).dictionary_encode()
    except pa.ArrowException as error:
        raise DataError(
            f"{path} could not be read: column {field.name!r} holds {kind}, and {target} in other files, which does "
            f"not fit here ({str(error).splitlines()[0]}). Make it one type in all files."
        ) from error


def _common_dictionary(first: Any, second: Any) -> Any:
    """Categories: text in any form is one kind of them, and a dictionary of anything else meets only dictionaries."""
    pa, types = arrow(), arrow("types")
    values = [kind.value_type if types.is_dictionary(kind) else kind for kind in (first, second)]
    if all(map(_is_text, values)):
        return pa.large_string()
    if not (types.is_dictionary(first) and types.is_dictionary(second)):
        return None
    both = common_type(*values)
    return None if both is None else pa.dictionary(pa.int32(), both)


def is_category(kind: Any) -> bool:
    """Whether an Arrow type is one of text or of a dictionary; numbers, truth values and times are not."""
    types = arrow("types")
    return types.is_dictionary(kind) or types.is_null(kind) or _is_text(kind)


def text_columns(schema: Any) -> tuple[str, ...]:
    """Names of the columns of categories in an Arrow schema."""
    return tuple(field.name for field in schema if is_category(field.type))


def _is_text(kind: Any) -> bool:
    types = arrow("types")
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _is_number(kind: Any) -> bool:
    types = arrow("types")
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean))


def keys_of(path: Path, folder: Path | None) -> dict[str, str | None]:
    """The keys and values in the names of the folders between ``folder`` and a file.

    Examples
    --------
    >>> keys_of(Path("rows/country=fr/year=2024/0.parquet"), Path("rows"))
    {'country': 'fr', 'year': '2024'}
    """
    if folder is None:
        return {}
    parts = [part.partition("=") for part in path.absolute().parent.relative_to(folder.absolute()).parts]
    return {
        unquote(key): None if value == MISSING_KEY else unquote(value) for key, sign, value in parts if sign and key
    }


class Partitions:
    """One value of each key for each file, as columns of categories: pandas and Dask read them alike.

    Parameters
    ----------
    paths : sequence of Path
    folder : Path or None
        The names of folders below it count; None for no such columns.
    stored : sequence of str
        Columns of the files: one that stands in a file, too, is read from there.

    Attributes
    ----------
    fields : list of pyarrow.Field
    """

    def __init__(self, paths: Sequence[Path], folder: Path | None, stored: Sequence[str]) -> None:
        found = {str(path): keys_of(path, folder) for path in paths}
        names = list(dict.fromkeys(name for keys in found.values() for name in keys if name not in stored))
        for path, keys in found.items():
            absent = [name for name in names if name not in keys]
            if absent:
                raise DataError(
                    f"{path} lies in no folder called {absent[0]}=…, as other files of {folder} do. "
                    "Move it there, or give files of one kind."
                )
        self._values = {name: _values_of([keys[name] for keys in found.values()]) for name in names}
        self._codes = {path: {name: self._place(name, keys[name]) for name in names} for path, keys in found.items()}
        pa = arrow()
        self.fields = [pa.field(name, pa.dictionary(pa.int32(), each.type)) for name, each in self._values.items()]

    def added(self, table: Any, path: str) -> Any:
        """The table of one file with the columns that its folders tell."""
        pa = arrow()
        for field in self.fields:
            code = self._codes[path][field.name]
            codes = np.full(table.num_rows, max(code, 0), np.int32)
            indices = pa.array(codes, mask=np.full(len(codes), code < 0))
            table = table.append_column(field, pa.DictionaryArray.from_arrays(indices, self._values[field.name]))
        return table

    def _place(self, name: str, value: str | None) -> int:
        """Which of the values of a key; -1 for a missing one."""
        if value is None:
            return -1
        values = self._values[name].to_pylist()
        return values.index(value if isinstance(values[0], str) else int(value))


def _values_of(values: Sequence[str | None]) -> Any:
    """The values of a key in order: whole numbers where all of them are, texts otherwise."""
    known = {value for value in values if value is not None}
    is_whole = known and all(value.removeprefix("-").isdecimal() and len(value) < 19 for value in known)
    pa = arrow()
    return (
        pa.array(sorted({int(value) for value in known}), pa.int64())
        if is_whole
        else pa.array(sorted(known), pa.string())
    )
