"""Tables: gzipped CSV with features first, then any of ``group``, ``split``, ``label``, and ``y`` last.

A column whose every entry reads as a number is a feature as it stands; any other column is a category and
becomes one 0/1 column per level, named ``column=level``. An empty entry is missing: NaN in a number, no level
in a category.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.datasets.dataset import Dataset
from askew.exceptions import DataError

_ABOUT_THE_ROW = ("group", "split", "label", "y")


def read_table(path: Path, name: str) -> Dataset:
    """Read one CSV file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        header = next(reader, [])
        columns = dict(zip(header, zip(*reader, strict=True), strict=False))
    if "y" not in columns:
        raise DataError(f"{path.name} must have a header and a column 'y'; its columns: {', '.join(header)}.")
    names: list[str] = []
    features: list[NDArray[np.float64]] = []
    for column, entries in columns.items():
        if column not in _ABOUT_THE_ROW:
            expanded = _expand(column, entries)
            names.extend(expanded)
            features.extend(expanded.values())
    about = {key: np.array(columns[key]) for key in _ABOUT_THE_ROW if key in columns}
    return Dataset(
        name=name,
        X=np.column_stack(features),
        y=about["y"].astype(np.int8),
        feature_names=tuple(names),
        labels=about.get("label"),
        groups=about.get("group"),
        split=about.get("split"),
    )


def _expand(column: str, entries: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """The numeric columns one column of the file stands for."""
    try:
        return {column: np.array([float(entry) if entry else np.nan for entry in entries])}
    except ValueError:
        values = np.array(entries)
        levels = [level for level in np.unique(values).tolist() if level]
        return {f"{column}={level}": (values == level).astype(np.float64) for level in levels}
