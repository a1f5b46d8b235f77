"""Columns that stand in the names of folders, as in ``country=fr/part-0.parquet``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from askew.exceptions import DataError
from askew.sources.arrow import arrow

MISSING = "__HIVE_DEFAULT_PARTITION__"


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
    return {unquote(key): None if value == MISSING else unquote(value) for key, sign, value in parts if sign and key}


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
        self._values = {name: _dictionary([keys[name] for keys in found.values()]) for name in names}
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


def _dictionary(values: Sequence[str | None]) -> Any:
    """The values of a key in order: whole numbers where all of them are, texts otherwise."""
    known = {value for value in values if value is not None}
    is_whole = known and all(value.removeprefix("-").isdecimal() and len(value) < 19 for value in known)
    pa = arrow()
    return (
        pa.array(sorted({int(value) for value in known}), pa.int64())
        if is_whole
        else pa.array(sorted(known), pa.string())
    )
