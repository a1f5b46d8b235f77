"""Columns of text: one 0/1 column for each level, by one code and one scheme of names wherever a table is encoded.

A preparation gives columns of their own to the most frequent levels and joins the others; an estimator that meets text
in its table gives one to every level. Free text, which has too many levels to say anything, is hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import DataError
from askew.sources import as_table
from askew.sources.names import nearest
from askew.sources.rows import FINITE, check_finite, columns_of
from askew.sources.schemas import is_category
from askew.tables.names import MISSING, OTHERS, derived_name
from askew.tables.text import hashed
from askew.tables.values import as_text

Vector = NDArray[np.float64]
Codes = NDArray[np.int32]
Level = str | None
"""A category; None where the value is missing."""
MOST_LEVELS = 10_000  # different values beyond which their number alone is known
MANY_LEVELS = 20  # different values from which a column that hardly repeats any is an identifier or free text


class CategoryColumn:
    """One 0/1 column per frequent level, one for all others together, one for missing values; free text is hashed.

    Parameters
    ----------
    name : str
    max_levels : int
        Levels that get a column of their own, the most frequent ones.
    role : {"auto", "category", "text"}
        Free text by "auto" is a column whose frequent levels are less than half of its rows, of two words on average
        (of three where hardly any value occurs twice, which is an identifier otherwise).
    text_columns : int
        Columns that free text is hashed to; with 0, none is found by "auto".
    """

    role, text_columns, n_words = "category", 0, 0  # of models saved by askew before it read free text

    def __init__(self, name: str, max_levels: int, role: str = "category", text_columns: int = 0) -> None:
        self.name, self.max_levels, self.role, self.text_columns = name, max_levels, role, text_columns
        self.counts: dict[str, int] = {}
        self.n_missing = self.n_rows = self.n_words = 0
        self.is_identifier = False

    @property
    def n_values(self) -> int:
        """Rows learnt from that held a value."""
        return self.n_rows - self.n_missing

    def skip(self, n_rows: int) -> None:
        """Take in rows that are all missing."""
        self.n_rows, self.n_missing = self.n_rows + n_rows, self.n_missing + n_rows

    def learn(self, values: Any) -> None:
        """Take in a block of Arrow strings."""
        import pyarrow.compute as pc

        self.n_rows, self.n_missing = self.n_rows + len(values), self.n_missing + values.null_count
        found = pc.value_counts(values.drop_null())
        levels, counts = found.field(0), found.field(1).to_numpy()
        words = pc.count_substring_regex(levels, pattern=r"\S+").to_numpy(zero_copy_only=False)
        self.n_words += int(words @ counts)
        self._count(dict(zip(levels.to_pylist(), counts.tolist(), strict=True)))

    def merge(self, other: CategoryColumn) -> CategoryColumn:
        """What was learnt from the rows of both."""
        both = copy(self)
        both.counts, both.n_rows, both.n_missing = dict(self.counts), self.n_rows + other.n_rows, 0
        both.n_missing, both.n_words = self.n_missing + other.n_missing, self.n_words + other.n_words
        both.is_identifier = self.is_identifier or other.is_identifier
        both._count(other.counts)
        return both

    def _count(self, more: Mapping[str, int]) -> None:
        if not self.is_identifier:
            for level, count in more.items():
                self.counts[level] = self.counts.get(level, 0) + count
        if self.is_identifier or len(self.counts) > MOST_LEVELS:
            self.is_identifier, self.counts = True, {}

    @property
    def kind(self) -> str:
        return "text" if self.is_text else "category"

    @property
    def is_text(self) -> bool:
        """Whether the column is hashed."""
        if self.role != "auto" or not self.text_columns or not self.n_values:
            return self.role == "text" and self.n_values > 0
        frequent = sum(self.counts[level] for level in self.levels)
        return frequent < self.n_values / 2 and self.n_words >= (3 if self._hardly_repeats else 2) * self.n_values

    @property
    def _hardly_repeats(self) -> bool:
        return self.is_identifier or len(self.counts) > max(MANY_LEVELS, 0.9 * self.n_values)

    @property
    def why_dropped(self) -> str:
        """Why it cannot help, or ""."""
        if not self.n_values:
            return "no values"
        if self.is_text:
            return ""
        if self.is_identifier:
            return f"more than {MOST_LEVELS:,} different values, an identifier"
        if len(self.counts) == 1 and not self.n_missing:
            return f"always {next(iter(self.counts))!r}"
        if self._hardly_repeats:
            return f"{len(self.counts)} different values in {self.n_rows} rows, an identifier"
        return ""

    @property
    def levels(self) -> list[str]:
        """Levels with a column of their own, the most frequent first; equal counts by name."""
        ranked = sorted(self.counts, key=lambda level: (-self.counts[level], level))
        return ranked[: self.max_levels]

    @property
    def has_others(self) -> bool:
        return len(self.counts) > self.max_levels

    def names_out(self) -> list[str]:
        if self.is_text:
            names = [derived_name(self.name, "~", k) for k in range(self.text_columns)]
        else:
            names = [derived_name(self.name, "=", level) for level in self.levels]
            names += [derived_name(self.name, " is ", OTHERS)] * self.has_others
        return names + [derived_name(self.name, " is ", MISSING)] * bool(self.n_missing)

    def means_out(self) -> list[float]:
        """Mean of each prepared column over the rows learnt from; 0, that of an empty text, for hashed columns."""
        if self.is_text:
            counts = [0] * self.text_columns
        else:
            counts = [self.counts[level] for level in self.levels]
            counts += [sum(self.counts.values()) - sum(counts)] * self.has_others
        return [count / self.n_rows for count in counts + [self.n_missing] * bool(self.n_missing)]

    def write(self, values: Any, out: Vector) -> None:
        """Fill the prepared columns of a block; a level never seen counts as another, or else as none."""
        if self.is_text:
            out[:, : self.text_columns] = hashed(values, self.text_columns)
            if self.n_missing:
                out[:, -1] = values.is_null().to_numpy(zero_copy_only=False)
            return
        levels: list[Level] = [*self.levels]
        codes = level_codes(values, levels)
        if self.has_others:
            is_other = (codes < 0) & values.is_valid().to_numpy(zero_copy_only=False)
            codes[is_other] = len(levels)
        if self.n_missing:
            codes[values.is_null().to_numpy(zero_copy_only=False)] = out.shape[1] - 1
        out[:] = one_hot(codes[:, None], [out.shape[1]]).toarray()

    def explain(self) -> str:
        """What is done, for a person."""
        missing = f"{self.n_missing / self.n_rows:.2%} missing as a level" if self.n_missing else ""
        if self.is_text:
            return f"text, its characters in threes and fours hashed to {self.text_columns} columns" + (
                f"; {missing}" if missing else ""
            )
        shown = ", ".join(self.levels[:6]) + (", …" if len(self.levels) > 6 else "")
        parts = [f"{len(self.levels)} levels ({shown})"]
        if self.has_others:
            parts.append(f"{len(self.counts) - len(self.levels)} rarer ones as one")
        return "one 0/1 column each for " + ", ".join([*parts, *([missing] if missing else [])])


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
    codes: Codes


def sort_levels(levels: Iterable[Level]) -> tuple[Level, ...]:
    """In order, missing last.

    Examples
    --------
    >>> sort_levels(["fr", None, "de"])
    ('de', 'fr', None)
    """
    return tuple(sorted(levels, key=lambda level: (level is None, level or "")))


def level_codes(text: Any, levels: Sequence[Level]) -> Codes:
    """Where the text of each row stands among the levels; -1 for none of them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> level_codes(pa.array(["fr", None, "de", "it"]), ["de", "fr", None]).tolist()
    [1, 2, 0, -1]
    """
    place, found = {level: k for k, level in enumerate(levels)}, text.dictionary_encode()
    of_each = [place.get(level, -1) for level in [*found.dictionary.to_pylist(), None]]
    codes = found.indices.fill_null(len(of_each) - 1).to_numpy(zero_copy_only=False)
    return np.array(of_each, np.int32)[codes]


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
        column = table.column(name)
        if not is_category(column.type):
            raise DataError(
                f"Column {name!r} holds {column.type} here, and categories (text) elsewhere. Make it one type."
            )
        text = as_text(column)
        levels.append(known[j] if known is not None else sort_levels(text.unique().to_pylist()))
        codes[:, j] = level_codes(text, levels[-1])
    return Categories(tuple(levels), codes)


def one_hot(codes: Codes, sizes: Sequence[int]) -> Any:
    """A 0/1 column for every category of every column, sparse; a code of -1 is none of them."""
    starts = np.cumsum([0, *sizes])
    is_known = codes >= 0
    indices = (codes + starts[:-1].astype(np.int32))[is_known]
    ends = np.append(0, np.cumsum(is_known.sum(axis=1)))
    return sparse.csr_array((np.ones(len(indices)), indices, ends), shape=(len(codes), int(starts[-1])))


def encode(frame: Any, features: Sequence[str], categories: Mapping[str, Sequence[Level]]) -> Vector:
    """Numbers as they are, and a 0/1 column for every category; one that the fit has not met is zero in all of them.

    Parameters
    ----------
    frame : pandas, Polars or Arrow frame, or dict of columns
    features : sequence of str
        Columns the model was fitted with.
    categories : mapping of str to sequence
        Of those that are categories.

    Examples
    --------
    >>> frame = {"amount": [1.5, 2.0, 3.0], "country": ["fr", "de", "it"]}
    >>> encode(frame, ["amount", "country"], {"country": ["de", "fr"]}).tolist()
    [[1.5, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 0.0]]
    """
    if hasattr(frame, "shape") and not hasattr(frame, "columns") and not hasattr(frame, "column_names"):
        raise DataError(
            "The model was fitted with columns of categories and needs a frame with the same columns to score; got "
            f"{type(frame).__name__}."
        )
    table, parts = as_table(frame), []
    for name in features:
        if name in categories:
            levels = tuple(categories[name])
            parts.append(one_hot(read_categories(table, [name], [levels]).codes, [len(levels)]).toarray())
        else:
            parts.append(columns_of(table, (name,))[0].astype(np.float64)[:, None])
            check_finite(parts[-1], (name,), where="of X", largest=FINITE)
    return np.hstack(parts)


def encoded_names(features: Sequence[str], categories: Mapping[str, Sequence[Level]]) -> NDArray[Any]:
    """Names of the columns that ``encode`` gives, those of a preparation.

    Examples
    --------
    >>> encoded_names(["amount", "country"], {"country": ["de", None]}).tolist()
    ['amount', 'country=de', 'country is missing']
    """
    names = [
        [
            derived_name(name, " is ", MISSING) if level is None else derived_name(name, "=", level)
            for level in categories[name]
        ]
        if name in categories
        else [name]
        for name in features
    ]
    return np.array([each for group in names for each in group], dtype=object)
