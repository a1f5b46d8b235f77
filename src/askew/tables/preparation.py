"""What one pass learns of the columns of a table, and the matrix of numbers that follows from it.

Parts learnt from different rows merge to what all the rows together teach, so blocks, files and partitions of a cluster
give one preparation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import DataError, ParameterError
from askew.sources import SparseBlock, as_table
from askew.sources.names import nearest
from askew.sources.schemas import is_category
from askew.tables.categories import CategoryColumn
from askew.tables.dates import DateColumn
from askew.tables.numbers import NumberColumn
from askew.tables.values import Kind, Spelling

Vector = NDArray[np.float64]
KINDS = ("number", "category", "text", "date")


@dataclass(frozen=True)
class Reading:
    """How a table is to be read.

    Attributes
    ----------
    max_categories : int
        Levels of a category that get a column of their own.
    kinds : mapping of str to {"number", "category", "text", "date"}
        What columns are, where their type does not tell.
    drop : tuple of str
        Columns to leave out.
    text : int
        Columns that free text is hashed to, 0 for never.
    spelling : Spelling
    """

    max_categories: int = 25
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    text: int = 64
    spelling: Spelling = field(default_factory=Spelling)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse names that are none of the columns, and kinds that are none."""
        for name in (*self.drop, *self.kinds):
            if name not in columns:
                raise ParameterError(f"There is no column {name!r}. {nearest(name, columns)}")
        for name, kind in self.kinds.items():
            if kind not in KINDS:
                raise ParameterError(f"kinds[{name!r}] must be one of {', '.join(map(repr, KINDS))}; got {kind!r}.")

    def column(self, name: str, arrow_type: Any) -> Any:
        """The column of a preparation that suits an Arrow type, nothing learnt yet; or the reason why there is none."""
        from pyarrow import types

        plain = arrow_type.value_type if types.is_dictionary(arrow_type) else arrow_type
        kind, is_text = self.kinds.get(name), is_category(plain)
        if kind in ("category", "text") or (kind is None and is_text):
            return CategoryColumn(name, self.max_categories, kind or "auto", self.text or 64 * (kind == "text"))
        if kind == "date" or (kind is None and (types.is_timestamp(plain) or types.is_date(plain))):
            return DateColumn(name, is_text or types.is_timestamp(plain))
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if kind == "number" or any(test(plain) for test in (*numeric, types.is_time, types.is_duration)):
            return NumberColumn(name)
        return f"its type {arrow_type} is not supported"


@dataclass(frozen=True)
class TableColumns:
    """What is known of the columns of a table.

    Attributes
    ----------
    names : tuple of str
        Of all columns.
    columns : dict of str to NumberColumn, CategoryColumn or DateColumn
    left_out : dict of str to str
        Columns that were not looked at, with the reason.
    spelling : Spelling
    """

    names: tuple[str, ...]
    columns: dict[str, Any]
    left_out: dict[str, str]
    spelling: Spelling = field(default_factory=Spelling)

    @classmethod
    def of(cls, block: Any, reading: Reading) -> TableColumns:
        """What the rows of a block teach; columns to leave out may have been left out of the block already."""
        table = tabulated(block)
        named = table.column_names
        reading.check([*named, *([] if isinstance(block, np.ndarray) else reading.drop)])
        table = table.select([name for name in named if name not in reading.drop])
        if table.num_rows == 0:
            raise DataError("Found a table with 0 rows (0 sample(s)) while a minimum of 1 is required.")
        suited = {each.name: reading.column(each.name, each.type) for each in table.schema}
        left_out = {name: column for name, column in suited.items() if isinstance(column, str)}
        columns = {name: column for name, column in suited.items() if name not in left_out}
        for name, column in columns.items():
            column.learn(reading.spelling.read(table.column(name), _kind(column), name))
        return cls(tuple(table.column_names), columns, left_out, reading.spelling)

    def merge(self, other: TableColumns) -> TableColumns:
        """What the rows of both teach."""
        if not isinstance(other, TableColumns):
            raise DataError("Some rows have named columns and others are sparse. Give rows of one kind.")
        _check_present(self.names, other.names, self.names)
        columns = {name: _merged(column, other.columns.get(name)) for name, column in self.columns.items()}
        late = {name: other.columns[name] for name in self.left_out if name in other.columns}
        if late:
            raise DataError(f"Column {next(iter(late))!r} is of another type in other rows. Make it one type.")
        return replace(self, columns=columns)

    def transform(self, X: Any) -> Vector:
        """The rows as float64, one column for each of ``names_out``."""
        table = tabulated(X)
        _check_present(self.needed, table.column_names, self.names)
        used = self._used
        widths = [len(column.names_out()) for column in used]
        out = np.empty((table.num_rows, sum(widths)))
        ends = np.cumsum([0, *widths])
        for column, start, end in zip(used, ends[:-1], ends[1:], strict=True):
            values = self.spelling.read(table.column(column.name), _kind(column), column.name)
            column.write(values, out[:, start:end])
        return out

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns that ``transform`` reads."""
        return tuple(column.name for column in self._used)

    @property
    def unused(self) -> dict[str, str]:
        """Columns that are left out, with the reason."""
        idle = {name: column.why_dropped for name, column in self.columns.items() if column.why_dropped}
        return {**self.left_out, **idle}

    @property
    def names_out(self) -> list[str]:
        """Names of the prepared columns."""
        return [name for column in self._used for name in column.names_out()]

    @property
    def means_out(self) -> Vector:
        """Mean of each prepared column over the rows learnt from."""
        return np.array([mean for column in self._used for mean in column.means_out()])

    @property
    def sources_out(self) -> list[str]:
        """The column of the table that each prepared column comes from."""
        return [column.name for column in self._used for _ in column.names_out()]

    def explain(self) -> list[str]:
        """One line for each column: what is done with it, or why it is left out."""
        lines = [f"{column.name}: {column.explain()}" for column in self._used]
        return lines + [f"{name}: left out, {reason}" for name, reason in self.unused.items()]

    @property
    def _used(self) -> list[Any]:
        return [column for column in self.columns.values() if not column.why_dropped]


@dataclass(frozen=True)
class SparseColumns:
    """Numbered features of sparse rows, which are used as they are.

    Attributes
    ----------
    n_features, n_rows : int
    sums : array of shape (n_features,)
    """

    n_features: int
    n_rows: int
    sums: Vector
    needed: tuple[str, ...] = ()

    @classmethod
    def of(cls, block: Any, reading: Reading | None = None) -> SparseColumns:
        """What the rows of a block teach: how many features there are, and their sums."""
        X = rows_of(block)
        return cls(X.shape[1], X.shape[0], np.asarray(X.sum(axis=0), np.float64).ravel())

    def merge(self, other: Any) -> SparseColumns:
        """What the rows of both teach."""
        if not isinstance(other, SparseColumns) or other.n_features != self.n_features:
            raise DataError(f"Some rows have {self.n_features} sparse features and others have not. Give one kind.")
        return SparseColumns(self.n_features, self.n_rows + other.n_rows, self.sums + other.sums)

    def transform(self, block: Any) -> Any:
        """The rows as a CSR matrix."""
        X = rows_of(block)
        if not sparse.issparse(X):
            raise DataError("The model was fitted on svmlight rows; a table has no numbered features. Give svmlight.")
        if X.shape[1] != self.n_features:
            raise DataError(f"X has {X.shape[1]} sparse features, and the model was fitted with {self.n_features}.")
        if not np.isfinite(X.data).all():
            raise DataError("The svmlight rows hold NaN or infinity. Remove those entries.")
        return sparse.csr_matrix(X)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.names_out)

    @property
    def names_out(self) -> list[str]:
        """Names of the features."""
        return [f"feature {j}" for j in range(self.n_features)]

    @property
    def sources_out(self) -> list[str]:
        """The features themselves."""
        return self.names_out

    @property
    def means_out(self) -> Vector:
        """Mean of each feature."""
        return self.sums / max(self.n_rows, 1)

    @property
    def unused(self) -> dict[str, str]:
        """None are left out."""
        return {}

    def explain(self) -> list[str]:
        """What is done, for a person."""
        return [f"{self.n_features:,} sparse features, used as they are"]


def learn(block: Any, reading: Reading) -> TableColumns | SparseColumns:
    """What the rows of a block of any kind teach."""
    is_sparse = sparse.issparse(rows_of(block))
    return (SparseColumns if is_sparse else TableColumns).of(block, reading)


def rows_of(block: Any) -> Any:
    """The rows of a block without the labels that svmlight files keep beside them."""
    return block.X if isinstance(block, SparseBlock) else block


def tabulated(X: Any) -> Any:
    """A frame or an array as an Arrow table; columns of an array are called x0, x1, …"""
    if sparse.issparse(rows_of(X)):
        raise DataError("Sparse rows have no named columns, and the model was fitted on a table. Give a table.")
    if isinstance(X, (np.ndarray, list)):
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows by columns; got {X.ndim}. Reshape your data.")
        return as_table({f"x{j}": X[:, j] for j in range(X.shape[1])})
    return as_table(X)


def _kind(column: Any) -> Kind:
    return {NumberColumn: "number", DateColumn: "date"}.get(type(column), "category")  # type: ignore[return-value]


def _merged(column: Any, other: Any) -> Any:
    """One column learnt from two parts; a part without any value has no type of its own."""
    if type(column) is type(other):
        return column.merge(other)
    if other is None or (column.n_values and other.n_values):
        raise DataError(
            f"Column {column.name!r} is of another type in other rows. Make it one type, or say which in `kinds`."
        )
    known, empty = (other, column) if other.n_values else (column, other)
    both = copy(known)
    both.skip(empty.n_missing if isinstance(empty, NumberColumn) else empty.n_rows)
    return both


def _check_present(wanted: Sequence[str], present: Sequence[str], known: Sequence[str]) -> None:
    there = set(present)
    absent = [name for name in wanted if name not in there]
    if absent:
        extra = [name for name in present if name not in set(known)]
        others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        hint = nearest(absent[0], extra) if extra else ""
        raise DataError(
            f"The data lack the column {absent[0]!r}{others}, which the model was fitted with. "
            f"{hint if 'Did you' in hint else ''}".rstrip()
        )
