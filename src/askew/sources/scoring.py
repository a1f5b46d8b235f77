"""Any estimator's scores on rows that are not in memory, in one place for all estimators.

A Dask or Spark object gives back a lazy Dask or Spark result; a path, dataset or source gives back an array, computed
block by block.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from askew.arrays import Home, is_elsewhere, is_out_of_memory
from askew.exceptions import DataError
from askew.sources.names import nearest
from askew.sources.opening import open_source
from askew.sources.recognition import is_beyond_memory, is_dask, is_lazy, is_spark


class ScoresAnywhere:
    """A mixin: ``decision_function``, ``predict`` and ``score_samples`` also take rows beyond memory.

    The methods a class defines are seen through :func:`score_blocks`; rows in memory reach them untouched.

    Examples
    --------
    >>> import dask.array as da
    >>> from askew import SVC
    >>> model = SVC().fit([[0.0], [1.0]], [0, 1])
    >>> lazy = model.predict(da.array([[0.1], [0.9]]))
    >>> type(lazy).__name__, lazy.compute().tolist()
    ('Array', [0, 1])
    """

    _scoring_methods: ClassVar[tuple[str, ...]] = ("decision_function", "predict", "score_samples")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in cls._scoring_methods:
            method = cls.__dict__.get(name)
            if callable(method):
                setattr(cls, name, _anywhere(method))


def _anywhere(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def score(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if is_elsewhere(X):
            return _where_it_lives(partial(method, self), X, *args, **options)
        if not is_beyond_memory(X):
            return method(self, X, *args, **options)
        return score_blocks(self, partial(method, self), X, _OUTPUTS.get(method.__name__, method.__name__))

    return score


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
    if not is_lazy(X):
        X = open_source(X)
    columns = _features(estimator, X)
    if not hasattr(estimator, "feature_names_in_"):
        score = partial(_without_names, score)
    example = np.asarray(score(_one_row(estimator, X, columns)))
    if is_dask(X):
        from askew.sources import dask

        return dask.map_rows(score, X if columns is None else X[columns], example, name)
    if is_spark(X):
        from askew.sources import spark

        return spark.map_rows(score, X, columns or (), example, name)
    parts = [np.asarray(score(_rows(block, columns))) for block in X.blocks(columns)]
    return np.concatenate(parts) if parts else example[:0]


def _features(estimator: Any, X: Any) -> list[str] | None:
    """The columns the estimator was fitted with, None for rows without names; an error where they are not there."""
    if hasattr(X, "chunks") or not len(X.columns):
        _check_width(estimator, X.shape[1] if hasattr(X, "chunks") else None)
        return None
    wanted = list(getattr(estimator, "feature_names_in_", X.columns))
    for name in wanted:
        if name not in X.columns:
            raise DataError(f"There is no column {name!r}, which the model was fitted with. {nearest(name, X.columns)}")
    _check_width(estimator, len(wanted))
    return wanted


def _check_width(estimator: Any, found: int | None) -> None:
    expected = getattr(estimator, "n_features_in_", found)
    if found is not None and found != expected:
        raise DataError(
            f"X has {found} features, but {type(estimator).__name__} was fitted with {expected}. "
            "Give the same columns in the same order."
        )


def _one_row(estimator: Any, X: Any, columns: list[str] | None) -> Any:
    """A row of zeros: what comes back for it shows the type and width of all results."""
    if columns is None:
        return np.zeros((1, X.shape[1] if hasattr(X, "shape") else estimator.n_features_in_))
    import pandas as pd

    texts = getattr(estimator, "categories_", {})
    return pd.DataFrame({name: [None] if name in texts else [0.0] for name in columns})


def _without_names(score: Callable[[Any], Any], rows: Any) -> Any:
    return score(rows.to_numpy() if hasattr(rows, "columns") else rows)


def _rows(block: Any, columns: list[str] | None) -> Any:
    rows = getattr(block, "X", block)
    return rows if columns is None else rows.select(columns).to_pandas()
