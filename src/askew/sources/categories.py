"""Columns of categories: which values a block holds, and which of them each row has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.sources.arrow import arrow
from askew.sources.names import nearest

Level = Any
"""A category: a text, or what a dictionary holds; None where the value is missing."""


class Categories(NamedTuple):
    """Columns of categories as numbers.

    Attributes
    ----------
    levels : tuple of tuples
        Of each column, in order; None, which stands for a missing value, comes last.
    codes : array of shape (n, n_columns)
        Where each row's value stands among the levels of its column; -1 for none of them.
    """

    levels: tuple[tuple[Level, ...], ...]
    codes: NDArray[np.int32]


def is_category(kind: Any) -> bool:
    """Whether an Arrow type is one of text or of a dictionary; numbers, truth values and times are not."""
    types = arrow("types")
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    return types.is_dictionary(kind) or any(test(kind) for test in texts)


def text_columns(schema: Any) -> tuple[str, ...]:
    """Names of the columns of categories in an Arrow schema."""
    return tuple(field.name for field in schema if is_category(field.type))


def sort_levels(levels: Iterable[Level]) -> tuple[Level, ...]:
    """In order, missing last.

    Examples
    --------
    >>> sort_levels(["fr", None, "de"])
    ('de', 'fr', None)
    """
    there = list(levels)
    known = [level for level in there if level is not None]
    try:
        known.sort()
    except TypeError as error:
        kinds = sorted({type(level).__name__ for level in known})
        raise DataError(f"there are categories of different types: {', '.join(kinds)}. Make them one.") from error
    return (*known, *([None] if len(known) < len(there) else []))


def read_categories(table: Any, names: Sequence[str], known: Sequence[tuple[Level, ...]] | None = None) -> Categories:
    """Columns of a table as levels and codes.

    Parameters
    ----------
    table : pyarrow.Table
    names : sequence of str
    known : sequence of tuples, optional
        The levels to look for; without them, those that occur.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"country": ["fr", None, "de", "fr"]})
    >>> found = read_categories(table, ["country"])
    >>> found.levels, found.codes.ravel().tolist()
    ((('de', 'fr', None),), [1, 2, 0, 1])
    >>> read_categories(table, ["country"], [("fr", "it")]).codes.ravel().tolist()
    [0, -1, -1, 0]
    """
    levels, codes = [], np.empty((table.num_rows, len(names)), np.int32)
    for j, name in enumerate(names):
        if name not in table.column_names:
            raise DataError(f"there is no column {name!r}. {nearest(name, table.column_names)}")
        values, numbers = _dictionary(table.column(name), name)
        if known is None:
            occurs = np.bincount(numbers, minlength=len(values)) > 0
            levels.append(sort_levels({value for value, is_there in zip(values, occurs, strict=True) if is_there}))
        else:
            levels.append(known[j])
        place = {level: k for k, level in enumerate(levels[-1])}
        codes[:, j] = np.array([place.get(value, -1) for value in values], np.int32)[numbers]
    return Categories(tuple(levels), codes)


def _dictionary(column: Any, name: str) -> tuple[list[Level], NDArray[np.int64]]:
    """The values of a column, None among them, and for each row the number of its own."""
    pa, kind = arrow(), column.type
    if not is_category(kind):
        raise DataError(f"Column {name!r} holds {kind} here, and categories (text) elsewhere. Make it one type.")
    if pa.types.is_null(kind):
        return [None], np.zeros(len(column), np.int64)
    if pa.types.is_dictionary(kind):
        column = column.unify_dictionaries()
    else:
        column = column.dictionary_encode()
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no chunks
        return [None], np.zeros(len(column), np.int64)
    values = [None if value != value else value for value in whole.dictionary.to_pylist()]
    numbers = whole.indices.cast(pa.int64()).fill_null(len(values))
    return [*values, None], numbers.to_numpy(zero_copy_only=False)
