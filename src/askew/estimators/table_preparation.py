"""From a table as people keep it to a matrix of numbers, learnt in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from askew.fitting import blank, commit
from askew.sklearn_private import Interval, check_parameters
from askew.sources import open_source
from askew.tables import Kind, Reading, SparseColumns, Spelling, TableColumns, learn


class TablePreparation(TransformerMixin, BaseEstimator):
    """Make a table numeric: scale numbers, spread categories, hash text, fill gaps, read dates, and say what was done.

    Use it in front of any askew estimator when the data are a table with mixed columns. For a matrix of numbers,
    scikit-learn's ``StandardScaler`` does. Sparse rows pass through. Needs pyarrow for tables.

    Parameters
    ----------
    max_categories : int, default=25
        Levels of a category that get a column of their own; the rarer ones share one.
    kinds : mapping of str to {"number", "category", "text", "date"}, default=None
        What columns are, where their type does not tell: codes that look like numbers, numbers or dates kept as text.
    null : sequence of str, default=()
        Texts that stand for a missing value, such as "?"; an empty one always does.
    decimal, thousands : str, default="." and ""
        Marks within numbers that are kept as text, for columns that ``kinds`` calls numbers.
    text : int, default=64
        Columns that the character n-grams of free text are hashed to; 0 leaves free text to be a category or an
        identifier.
    drop : sequence of str, default=()
        Columns to leave out.

    Attributes
    ----------
    columns_ : dict of str to a learnt column
        What was learnt of each column.
    unused_ : dict of str to str
        Columns that are left out, with the reason.
    feature_names_in_ : array of str
        For tables.
    n_features_in_ : int

    Examples
    --------
    >>> from askew import TablePreparation
    >>> table = {"amount": [1.0, 3.0, None, 5.0], "country": ["fr", "de", "fr", "fr"]}
    >>> preparation = TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['amount', 'amount is missing', 'country=fr', 'country=de']
    >>> preparation.transform(table).shape
    (4, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_categories": [Interval(Integral, 1, None, closed="left")],
        "kinds": [Mapping, None],
        "null": ["array-like"],
        "decimal": [str],
        "thousands": [str],
        "text": [Interval(Integral, 0, None, closed="left")],
        "drop": ["array-like"],
    }

    _learnt_privately = frozenset({"_learnt"})

    def __init__(
        self,
        max_categories: int = 25,
        *,
        kinds: Mapping[str, Kind] | None = None,
        null: Sequence[str] = (),
        decimal: str = ".",
        thousands: str = "",
        text: int = 64,
        drop: Sequence[str] = (),
    ) -> None:
        self.max_categories = max_categories
        self.kinds = kinds
        self.null = null
        self.decimal = decimal
        self.thousands = thousands
        self.text = text
        self.drop = drop

    def fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Learn from all rows, in one pass.

        Parameters
        ----------
        X : frame, dict of columns, array, sparse matrix, or rows beyond memory
            Beyond memory are a path (file, folder, pattern), a Dask or Spark frame, a pyarrow dataset and any source.
        y : ignored
        """
        reading = self._reading()
        texts = [name for name, kind in reading.kinds.items() if kind != "number"]
        is_rows = isinstance(X, list) and not all(isinstance(each, (str, PathLike)) for each in X)
        source = open_source(np.asarray(X) if is_rows else X, text=texts)
        columns = None
        if source.columns:
            reading.check(source.columns)
            columns = [name for name in source.columns if name not in reading.drop]
        return self._adopt(source.map_reduce(partial(learn, reading=reading), _merge, columns))

    def partial_fit(self, X: Any, y: Any = None) -> TablePreparation:
        """Learn from one more block. The columns and their types are those of the first."""
        part = learn(X, self._reading())
        return self._adopt(self._learnt.merge(part) if hasattr(self, "_learnt") else part)

    def merge(self, other: TablePreparation) -> TablePreparation:
        """A preparation that has learnt from the rows of both."""
        check_is_fitted(self, "_learnt")
        check_is_fitted(other, "_learnt")
        both = type(self)(**self.get_params(deep=False))
        return both._adopt(self._learnt.merge(other._learnt))

    def transform(self, X: Any) -> Any:
        """The table as an array of float64, one row each; sparse rows as a CSR matrix."""
        check_is_fitted(self, "_learnt")
        return self._learnt.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the prepared columns."""
        check_is_fitted(self, "_learnt")
        return np.array(self._learnt.names_out, dtype=object)

    def explain(self) -> list[str]:
        """One line per column of the table: what is done with it, or why it is left out."""
        check_is_fitted(self, "_learnt")
        return self._learnt.explain()

    @property
    def columns_(self) -> dict[str, Any]:
        """What was learnt of each column; nothing of sparse ones."""
        return getattr(self._learnt, "columns", {})

    @property
    def unused_(self) -> dict[str, str]:
        """Columns that are left out, with the reason."""
        return self._learnt.unused

    @property
    def needed_(self) -> tuple[str, ...]:
        """Columns of the table that ``transform`` reads."""
        return self._learnt.needed

    @property
    def means_out_(self) -> NDArray[np.float64]:
        """Mean of each prepared column over the rows learnt from."""
        return self._learnt.means_out

    @property
    def sources_out_(self) -> list[str]:
        """The column of the table that each prepared column comes from."""
        return self._learnt.sources_out

    def _reading(self) -> Reading:
        check_parameters(self)
        spelling = Spelling(tuple(self.null), self.decimal, self.thousands)
        return Reading(self.max_categories, dict(self.kinds or {}), tuple(self.drop), self.text, spelling)

    def _adopt(self, learnt: TableColumns | SparseColumns) -> TablePreparation:
        new = blank(self)
        new._learnt = learnt
        new.n_features_in_ = learnt.n_features if isinstance(learnt, SparseColumns) else len(learnt.names)
        if isinstance(learnt, TableColumns):
            new.feature_names_in_ = np.array(learnt.names, dtype=object)
        return commit(self, new)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Preparations of model files of format 1 held their columns side by side; those of sparse rows, their sums."""
        if "_unreadable" in state:
            columns, left_out = state.pop("columns_"), state.pop("_unreadable")
            names = tuple(map(str, state["feature_names_in_"]))
            kinds: dict[str, Kind] = dict.fromkeys(state.pop("categorical"), "category")
            state = {**TablePreparation(kinds=kinds).__dict__, **state}
            state["_learnt"] = TableColumns(names, columns, left_out)
        if "sums" in state:
            learnt = SparseColumns(state["n_features"], state["n_rows"], state["sums"])
            state = {**TablePreparation().__dict__, "n_features_in_": learnt.n_features, "_learnt": learnt}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags


def _merge(part: Any, other: Any) -> Any:
    return part.merge(other)
