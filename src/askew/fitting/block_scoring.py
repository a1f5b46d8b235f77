"""Any estimator's scores on rows that are not in memory, in one place for all estimators.

A Dask or Spark object gives back a lazy Dask or Spark result; a path, dataset or source gives back an array, computed
block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from askew.arrays import Home, is_elsewhere, is_out_of_memory
from askew.exceptions import DataError
from askew.sources import as_table, is_beyond_memory, open_source
from askew.sources.arrow import arrow
from askew.sources.names import nearest
from askew.sources.opening import is_dask, is_lazy, is_spark, library_of
from askew.sources.rows import FINITE, check_finite, columns_of
from askew.sources.source import naming

Method = TypeVar("Method", bound=Callable[..., Any])


class ScoresAnywhere:
    """Base of the estimators whose scoring methods also take rows beyond memory; see ``scored_anywhere``."""

    def _reader(self) -> Any:
        """The estimator that reads the rows: numbers, and texts where it has ``categories_``. None where a foreign one
        takes columns in a way of its own."""
        return self


def scored_anywhere(method: Method) -> Method:
    """A scoring method that also takes rows beyond memory, through ``score_blocks``, and rows on a device.

    Rows in memory reach the method untouched.

    Examples
    --------
    >>> import dask.array as da
    >>> from askew import SVC
    >>> model = SVC().fit([[0.0], [1.0]], [0, 1])
    >>> lazy = model.predict(da.array([[0.1], [0.9]]))
    >>> type(lazy).__name__, lazy.compute().tolist()
    ('Array', [0, 1])
    """

    @wraps(method)
    def score(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if is_elsewhere(X):
            return _where_it_lives(partial(method, self), X, *args, **options)
        if not is_beyond_memory(X):
            rows = _features_by_name(self, X)
            try:
                return method(self, rows, *args, **options)
            except (ValueError, TypeError) as error:
                if rows is not X and not isinstance(error, DataError):
                    naming("X", BlockScore(method, list(self.feature_names_in_), frozenset(), True).blame, rows)
                raise
        return score_blocks(self, partial(method, self), X, _OUTPUTS.get(method.__name__, method.__name__))

    return cast(Method, score)


_OUTPUTS = {"predict": "prediction"}
_is_inside: ContextVar[bool] = ContextVar("askew_scores_elsewhere", default=False)


def _where_it_lives(score: Callable[..., Any], X: Any, *args: Any, **options: Any) -> Any:
    """Scores of rows in another array library, as arrays of that library on their device; labels that are not numbers
    stay NumPy's. A method that calls another of its kind gets the host's numbers from it."""
    if _is_inside.get():
        return score(X, *args, **options)
    token = _is_inside.set(True)
    try:
        scores = score(X, *args, **options)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise DataError(
            f"The device has no memory left to score {X.shape[0]} rows. Score fewer at a time, or free other tensors. "
            f"({str(error).splitlines()[0]})"
        ) from None
    finally:
        _is_inside.reset(token)
    return Home(X).put(scores) if np.asarray(scores).dtype.kind in "fiub" else scores


def score_blocks(estimator: Any, score: Callable[[Any], Any], X: Any, name: str) -> Any:
    """``score`` of rows beyond memory.

    Parameters
    ----------
    estimator : fitted estimator
        Tells which columns to read.
    score : callable
        Of an array or a pandas frame.
    X : Dask array or dataframe, Spark DataFrame, path, pyarrow dataset or Source
    name : str
        Of the new column or series.

    Returns
    -------
    Dask array or series, Spark DataFrame with one more column, or array
    """
    check_is_fitted(estimator)
    if is_dask(X):
        from askew.sources import dask

        X = dask.checked(X)
    elif not is_lazy(X):
        X = open_source(X)
    columns = _features(estimator, X)
    reader = estimator._reader()
    texts = None if reader is None else frozenset(getattr(reader, "categories_", ()))
    of_block = BlockScore(score, columns, texts, hasattr(estimator, "feature_names_in_"))
    example = of_block(_one_row(estimator, X, columns, texts or ()))
    if is_dask(X):
        return dask.map_rows(of_block, X if columns is None else X[columns], example, name)
    if is_spark(X):
        from askew.sources import spark

        return spark.map_rows(of_block, X, example, name)
    parts = [naming(where, of_block, block) for where, block in X.located_blocks(columns)]
    return np.concatenate(parts) if parts else example[:0]


@dataclass(frozen=True)
class BlockScore:
    """Scores of a block of rows; what cannot be scored is refused by the name of its column.

    Attributes
    ----------
    score : callable
        Of an array, a pandas frame or, with texts, an Arrow table.
    columns : list of str or None
        What to take of the block; None for rows without names.
    texts : frozenset of str, or None
        Those of them that are categories, all others are numbers; None leaves the columns to ``score`` as they are.
    is_named : bool
        Whether ``score`` wants names.
    """

    score: Callable[[Any], Any]
    columns: list[str] | None
    texts: frozenset[str] | None
    is_named: bool

    def __call__(self, block: Any) -> Any:
        rows = getattr(block, "X", block)
        try:
            return np.asarray(self.score(self._read(rows)))
        except (ValueError, TypeError) as error:
            self.blame(rows)
            if isinstance(error, DataError):
                raise
            raise DataError(f"the rows could not be scored: {error}") from error

    def _read(self, rows: Any) -> Any:
        if self.columns is None:
            return rows
        import pandas as pd

        is_frame = isinstance(rows, pd.DataFrame)
        if self.texts is None or (is_frame and not self.texts and _holds_plain_numbers(rows)):
            frame = rows if is_frame else rows.select(self.columns).to_pandas()
            return frame if self.is_named else frame.to_numpy()
        table = _table(rows)
        chosen = table.select(_known(self.columns, table.column_names))
        if self.texts:
            return chosen
        if self.is_named and _holds_plain_numbers(chosen):
            return chosen.to_pandas()
        numbers = columns_of(chosen, tuple(self.columns))
        if not self.is_named:
            return np.column_stack(numbers)
        return pd.DataFrame(dict(zip(self.columns, numbers, strict=True)), copy=False)

    def blame(self, rows: Any) -> None:
        """Name a column that is not all finite numbers, if there is one; looked for only once a score has failed."""
        if self.texts is None:
            return
        if self.columns is None:
            if rows.dtype.kind in "fiub":
                check_finite(rows, largest=FINITE)
            return
        numbers = tuple(name for name in self.columns if name not in self.texts)
        if numbers:
            read = [column.astype(np.float64) for column in columns_of(_table(rows), numbers)]
            check_finite(np.column_stack(read), numbers, largest=FINITE)


def _table(rows: Any) -> Any:
    return as_table(rows.reset_index(drop=True) if hasattr(rows, "reset_index") else rows)


def _holds_plain_numbers(rows: Any) -> bool:
    """Whether a pandas frame or an Arrow table needs no reading: its columns are numbers as NumPy has them."""
    if hasattr(rows, "schema"):
        types = arrow("types")
        return all(types.is_floating(kind) or types.is_integer(kind) for kind in rows.schema.types)
    return all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in rows.dtypes)


def _features_by_name(estimator: Any, X: Any) -> Any:
    """A frame in memory as any other table is read: after a fit that chose its features by name, what else the frame
    holds is left out. After ``fit(X, y)`` scikit-learn's rule stands: the same columns, and no other."""
    if not getattr(estimator, "_chose_by_name", False) or hasattr(estimator, "categories_"):
        return X  # a model of categories finds its columns by name itself
    is_table = isinstance(X, dict) or hasattr(X, "num_rows")
    if not (is_table or hasattr(X, "columns")):
        return X
    import narwhals as nw

    if library_of(X) == "pandas" and not all(isinstance(name, str) for name in X.columns):
        X = X.rename(columns=str)
    frame = nw.from_native(as_table(X) if is_table else X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    return frame.select(_known(estimator.feature_names_in_, frame.columns)).to_native()


def _features(estimator: Any, X: Any) -> list[str] | None:
    """The columns the estimator was fitted with, None for rows without names; an error where they are not there."""
    if hasattr(X, "chunks") or not len(X.columns):
        _check_width(estimator, X.shape[1] if hasattr(X, "chunks") else None)
        return None
    wanted = _known(getattr(estimator, "feature_names_in_", X.columns), X.columns)
    _check_width(estimator, len(wanted))
    return wanted


def _known(wanted: Iterable[str], columns: Sequence[str]) -> list[str]:
    there = set(columns)
    for name in wanted:
        if name not in there:
            raise DataError(f"There is no column {name!r}, which the model was fitted with. {nearest(name, columns)}")
    return list(wanted)


def _check_width(estimator: Any, found: int | None) -> None:
    expected = getattr(estimator, "n_features_in_", found)
    if found is not None and found != expected:
        raise DataError(
            f"X has {found} features, but {type(estimator).__name__} was fitted with {expected}. "
            "Give the same columns in the same order."
        )


def _one_row(estimator: Any, X: Any, columns: list[str] | None, texts: Collection[str]) -> Any:
    """A row of zeros: what comes back for it shows the type and width of all results."""
    if columns is None:
        return np.zeros((1, X.shape[1] if hasattr(X, "shape") else estimator.n_features_in_))
    import pandas as pd

    return pd.DataFrame({name: [None] if name in texts else [0.0] for name in columns})
