"""From a table as people keep it to a matrix of numbers, learnt in one pass.

It stands among the estimators because it is one: a scikit-learn transformer with ``partial_fit``, usable in a Pipeline
and, block by block, on data beyond memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from askew.estimators.table_category import CategoryColumn
from askew.estimators.table_date import DateColumn
from askew.estimators.table_number import NumberColumn
from askew.exceptions import DataError, ParameterError
from askew.sources.frames import as_table
from askew.sources.names import nearest

Vector = NDArray[np.float64]


class TablePreparation(TransformerMixin, BaseEstimator):
    """Make a table numeric: scale numbers, spread categories, fill gaps, read dates, and say what was done.

    Use it in front of any askew estimator when the data are a table with mixed columns. For a matrix of numbers,
    scikit-learn's ``StandardScaler`` does. Needs pyarrow.

    Parameters
    ----------
    max_categories : int, default=25
        Levels of a category that get a column of their own.
    categorical : sequence of str, default=()
        Columns of numbers that are codes and not quantities.

    Attributes
    ----------
    columns_ : dict of str to NumberColumn, CategoryColumn or DateColumn
        What was learnt of each column.
    unused_ : dict of str to str
        Columns that are left out, with the reason.
    feature_names_in_ : array of str
    n_features_in_ : int

    Examples
    --------
    >>> from askew.estimators.table_preparation import TablePreparation
    >>> table = {"amount": [1.0, 3.0, None, 5.0], "country": ["fr", "de", "fr", "fr"]}
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['amount', 'amount is missing', 'country=fr', 'country=de']
    >>> preparation.transform(table).shape
    (4, 4)
    """

    def __init__(self, max_categories: int = 25, categorical: Sequence[str] = ()) -> None:
        self.max_categories = max_categories
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Learn from a whole table.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, dict of columns, or array of shape (n, d)
        y : ignored
        """
        self.__dict__.pop("columns_", None)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Learn from one more block. The columns and their types are those of the first."""
        table = _tabulated(X)
        if not hasattr(self, "columns_"):
            self._begin(table)
        self._check_columns(table)
        if table.num_rows == 0:
            raise DataError("Found a table with 0 rows (0 sample(s)) while a minimum of 1 is required.")
        for name, column in self.columns_.items():
            column.learn(table.column(name))
        return self

    def transform(self, X: Any) -> Vector:
        """The table as an array of float64, one row each."""
        check_is_fitted(self, "columns_")
        table = _tabulated(X)
        self._check_columns(table)
        used = self._used()
        widths = [len(column.names_out()) for column in used]
        out = np.empty((table.num_rows, sum(widths)))
        ends = np.cumsum([0, *widths])
        for column, start, end in zip(used, ends[:-1], ends[1:], strict=True):
            column.write(table.column(column.name), out[:, start:end])
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the prepared columns."""
        check_is_fitted(self, "columns_")
        return np.array([name for column in self._used() for name in column.names_out()], dtype=object)

    @property
    def unused_(self) -> dict[str, str]:
        """Columns that are left out, with the reason."""
        idle = {name: column.why_dropped for name, column in self.columns_.items() if column.why_dropped}
        return {**self._unreadable, **idle}

    @property
    def needed_(self) -> tuple[str, ...]:
        """Columns of the table that ``transform`` reads."""
        return tuple(column.name for column in self._used())

    @property
    def means_out_(self) -> Vector:
        """Mean of each prepared column over the rows learnt from."""
        return np.array([mean for column in self._used() for mean in column.means_out()])

    @property
    def sources_out_(self) -> list[str]:
        """The column of the table that each prepared column comes from."""
        return [column.name for column in self._used() for _ in column.names_out()]

    def explain(self) -> list[str]:
        """One line per column of the table: what is done with it, or why it is left out."""
        check_is_fitted(self, "columns_")
        lines = [f"{column.name}: {column.explain()}" for column in self._used()]
        return lines + [f"{name}: left out, {reason}" for name, reason in self.unused_.items()]

    def _begin(self, table: Any) -> None:
        if self.max_categories < 1:
            raise ParameterError(f"max_categories must be at least 1; got {self.max_categories}.")
        absent = [name for name in self.categorical if name not in table.column_names]
        if absent:
            raise ParameterError(f"There is no column {absent[0]!r}. {nearest(absent[0], table.column_names)}")
        self.columns_: dict[str, Any] = {}
        self._unreadable: dict[str, str] = {}
        for field in table.schema:
            column = self._column(field.name, field.type)
            if column is None:
                self._unreadable[field.name] = f"its type {field.type} is not supported"
            else:
                self.columns_[field.name] = column
        self.feature_names_in_ = np.array(table.column_names, dtype=object)
        self.n_features_in_ = len(table.column_names)

    def _column(self, name: str, kind: Any) -> Any:
        from pyarrow import types

        kind = kind.value_type if types.is_dictionary(kind) else kind
        if name in self.categorical or any(
            test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
        ):
            return CategoryColumn(name, self.max_categories)
        if types.is_timestamp(kind) or types.is_date(kind):
            return DateColumn(name, types.is_timestamp(kind))
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        if any(test(kind) for test in (*numeric, types.is_time, types.is_duration)):
            return NumberColumn(name)
        return None

    def _check_columns(self, table: Any) -> None:
        present = set(table.column_names)
        absent = [name for name in self.columns_ if name not in present and name not in self.unused_]
        if absent:
            extra = [name for name in table.column_names if name not in set(self.feature_names_in_)]
            others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            hint = nearest(absent[0], extra) if extra else ""
            raise DataError(
                f"The data lack the column {absent[0]!r}{others}, which the model was fitted with. "
                f"{hint if 'Did you' in hint else ''}".rstrip()
            )

    def _used(self) -> list[Any]:
        return [column for column in self.columns_.values() if not column.why_dropped]


def _tabulated(X: Any) -> Any:
    """A frame or an array as an Arrow table; columns of an array are called x0, x1, …"""
    if hasattr(X, "toarray"):
        raise DataError("Sparse data was passed, but a table is needed. Sparse features need no preparation.")
    if isinstance(X, (np.ndarray, list)):
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows by columns; got {X.ndim}. Reshape your data.")
        return as_table({f"x{j}": X[:, j] for j in range(X.shape[1])})
    return as_table(X)
