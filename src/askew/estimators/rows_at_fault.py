"""What is wrong with rows in memory, said in terms of the frame they came in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from askew.arrays import is_elsewhere
from askew.exceptions import DataError, ParameterError
from askew.sources import is_beyond_memory
from askew.sources.rows import LARGEST, check_finite
from askew.sources.source import naming


def check_in_memory(estimator: Any, X: Any, target: str | None, otherwise: str) -> None:
    """Refuse rows beyond memory, and labels that are a column of X, for an estimator that takes neither.

    Parameters
    ----------
    estimator : estimator
    X : rows as given to ``fit``
    target : str or None
    otherwise : str
        What to do with a source instead.
    """
    name = type(estimator).__name__
    if is_beyond_memory(X):
        raise ParameterError(
            f"{name} fits rows in memory, since the exact kernel needs them again and again; got {type(X).__name__}. "
            f"Load the rows, or a sample of them, first; or {otherwise}."
        )
    if target is not None:
        raise ParameterError(
            f"{name} takes features and labels apart; got target={target!r}. "
            "Pass the columns themselves, as in fit(frame.drop(columns='fraud'), frame['fraud'])."
        )


def check_sizes(evidence: Any, X: Any) -> None:
    """Refuse rows whose squares overflow, of those that are kept and of those that are summed.

    Parameters
    ----------
    evidence : Evidence
        Of one machine, whichever: every row is a point or a summand of each.
    X : rows as given to ``fit``
    """
    if is_elsewhere(X):
        return
    check_finite(evidence.X)
    if not (np.abs(evidence.moments.mean) * evidence.moments.n_samples <= LARGEST).all():
        check_finite(X)


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Where numbers cannot be read off X, or their squares overflow, an error that says which column it is.

    It is looked for only once something has failed.
    """
    try:
        yield
    except ValueError as error:
        if not is_elsewhere(X):
            _refuse_text(X, error)
            _refuse_size(X)
        raise


def _refuse_text(X: Any, error: ValueError) -> None:
    for name, values in _columns(X):
        text = next((value for value in values if isinstance(value, str) and not _is_number(value)), None)
        if text is None:
            continue
        where = f"Column {name!r}" if isinstance(name, str) else f"Column number {name} of X"
        raise DataError(
            f"{where} holds text ({text!r}), and fit(X, y) takes numbers. Keep the labels in the frame and name their "
            "column, fit(frame, target='fraud'): each text becomes a 0/1 column of its own. Or encode it first, for "
            "instance with scikit-learn's OneHotEncoder."
        ) from error


def _refuse_size(X: Any) -> None:
    rows = X if sparse.issparse(X) else np.asarray(X)
    if rows.dtype.kind not in "fiubO":
        return
    try:
        rows = rows.astype(np.float64, copy=False)
    except (ValueError, TypeError):
        return
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") and not hasattr(X, "num_rows") else ()
    if rows.ndim == 2 and np.isfinite(rows.data if sparse.issparse(X) else rows).all():
        naming("X", lambda block: check_finite(block, names), rows)


def _columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """Names and values of the columns that may hold text."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        kinds = (nw.String, nw.Categorical, nw.Enum, nw.Object)
        yield from ((str(c.name), c.to_list()) for c in frame.iter_columns() if c.dtype in kinds)
    elif not sparse.issparse(X):
        rows = np.asarray(X)
        if rows.ndim == 2 and rows.dtype.kind in "OUS":
            yield from ((j, rows[:, j].tolist()) for j in range(rows.shape[1]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
