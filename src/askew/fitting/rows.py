"""The rows, labels and weights that estimators are given: read, checked, and named where they are at fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from askew.arrays import Home, fetched, host, is_elsewhere, is_out_of_memory, take_rows
from askew.exceptions import DataError, ParameterError
from askew.fitting.nystroem import check_approximation
from askew.fitting.state import as_fitted
from askew.sklearn_private import check_weights
from askew.sources import is_beyond_memory
from askew.sources.rows import LARGEST, check_finite
from askew.sources.source import naming
from askew.summaries import StreamedRows
from askew.tables import encode_labels

READ: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}
"""How scikit-learn's ``validate_data`` reads the rows of a fit."""


def opened_rows(
    machine: Any, X: Any, y: Any, sample_weight: Any, target: str | None, is_labelled: bool = True
) -> tuple[Any, Any, Any]:
    """X, y and weights as given to a kernel machine; or the rows, labels and weights of a source it is to read."""
    check_approximation(machine)
    if target is None and not is_beyond_memory(X):
        return X, y, sample_weight
    if not machine._is_approximated:
        raise ParameterError(
            f"{type(machine).__name__} fits rows in memory, since the exact kernel needs them again and again; got "
            f'{type(X).__name__}. Set approximation="nystroem" to fit from files and other sources, or load the '
            "rows first."
        )
    rows = StreamedRows.open(X, y, target, sample_weight, is_labelled)
    return rows, rows.y if is_labelled else y, rows.weight


def read_training(machine: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, NDArray[np.int64]]:
    """Validated X, y, positive weights, and the rows they came from; rows of weight zero are left out."""
    if isinstance(X, StreamedRows):
        return _read_streamed(machine, X, y, sample_weight)
    y, sample_weight = fetched(y), fetched(sample_weight)
    is_precomputed = machine.kernel == "precomputed"
    if is_elsewhere(X) and not machine._computes_elsewhere:
        X = host(X)
    if is_elsewhere(X):
        with telling_of_memory(machine.cache_size):
            X, y = read_rows(machine, X, reset=True), None if y is None else _labels_of(y, X.shape[0])
        weight = check_weights(sample_weight, np.empty((X.shape[0], 1)))
    else:
        options = {**READ, "accept_sparse": False if is_precomputed else "csr"}
        if y is None:
            X = validate_data(machine, X, **options)
        else:
            X, y = validate_data(machine, X, y, **options)
        weight = check_weights(sample_weight, X)
        if is_precomputed:
            _check_precomputed(X)
    rows = np.flatnonzero(weight > 0)
    if len(rows) == X.shape[0]:
        return X, y, weight, rows
    kept = X[np.ix_(rows, rows)] if is_precomputed else take_rows(X, rows)
    return kept, None if y is None else y[rows], weight[rows], rows


def read_classes(machine: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any, NDArray[np.int64]]:
    """Checked rows of a classifier: X, the classes, the class number of each row, weights, which rows they are."""
    name = type(machine).__name__
    if y is None:
        raise DataError(f"{name} requires y to be passed, but the target y is None. Pass one class label per row.")
    check_classification_targets(fetched(y))
    X, y, weight, rows = read_training(machine, X, y, sample_weight)
    classes, codes = encode_labels(y)
    if len(classes) < 2:
        raise DataError(
            f"{name} needs rows of at least two classes with positive weight; got one class, "
            f"{classes.tolist()[0]!r}. With normal rows only, use OneClassSVM or CovarianceOneClassSVM."
        )
    return X, classes, codes, weight, rows


def read_scoring(machine: Any, X: Any) -> Any:
    """Checked rows that a fitted kernel machine is to score."""
    check_is_fitted(machine)
    if is_elsewhere(X) and not machine._computes_elsewhere:
        X = host(X)
    if is_elsewhere(X):
        return read_rows(machine, X, reset=False)
    accept_sparse = False if as_fitted(machine, "kernel") == "precomputed" else "csr"
    return validate_data(machine, X, **{**READ, "accept_sparse": accept_sparse}, reset=False)


def read_labelled(
    estimator: Any, X: Any, y: Any, sample_weight: Any, reset: bool, **options: Any
) -> tuple[Any, Any, NDArray[np.float64]]:
    """Rows, labels and weights as a fit takes them; rows of another array library stay where they are."""
    y, sample_weight = fetched(y), fetched(sample_weight)
    if not is_elsewhere(X):
        X, y = validate_data(estimator, X, y, reset=reset, **options, **READ)
        return X, y, check_weights(sample_weight, X)
    X, n = read_rows(estimator, X, reset), X.shape[0]
    check_array(y, ensure_2d=False, dtype=None)
    if len(y) != n:
        raise DataError(f"Found input variables with inconsistent numbers of samples: {[n, len(y)]}.")
    return X, np.asarray(y), check_weights(sample_weight, np.empty((n, 1)))


def read_rows(estimator: Any, X: Any, reset: bool) -> Any:
    """X as float32 or float64 where it lives, of two dimensions and finite; sets or checks ``n_features_in_``."""
    name = type(estimator).__name__
    if len(X.shape) != 2:
        raise DataError(f"{name} expects X of shape (n_samples, n_features); got shape {tuple(X.shape)}.")
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise DataError(
            f"{name} takes dense arrays on a device; got a sparse tensor. "
            "Pass X.to_dense(), or a SciPy matrix on the CPU."
        )
    n, d = (int(size) for size in X.shape)
    if n == 0 or d == 0:
        raise DataError(f"{name} needs at least one row and one feature; got X of shape {(n, d)}.")
    if reset:
        estimator.n_features_in_ = d
    elif d != estimator.n_features_in_:
        raise DataError(f"X has {d} features, but {name} is expecting {estimator.n_features_in_} features as input.")
    home = Home(X)
    if home.xp.isdtype(X.dtype, "complex floating"):
        raise DataError(f"Complex data not supported: {name} got X of dtype {X.dtype}.")
    is_kept = X.dtype == home.xp.float32 or X.dtype == home.xp.float64
    rows = X if is_kept else home.put(X, np.float64)
    # a finite sum has finite terms; only where it is not are they looked at one by one
    is_fine = bool(home.xp.isfinite(home.xp.sum(rows, dtype=home.xp.float64)))
    if not (is_fine or bool(home.xp.all(home.xp.isfinite(rows)))):
        first = int(np.argmin(host(home.xp.all(home.xp.isfinite(rows), axis=1))))
        raise DataError(
            f"X contains NaN or infinity, first in row {first}; {name} needs finite numbers. Drop or fill such rows."
        )
    return rows


@contextmanager
def telling_of_memory(cache_size: float) -> Iterator[None]:
    """Where a device has no memory left, an error that says what to change; any other error as it is.

    Yields
    ------
    None
    """
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise DataError(
            f"The device has no memory left for the points, two float32 copies of them and tiles of up to "
            f"cache_size={cache_size:g} MB. Lower `cache_size`, pass float32 rows, fewer rows, or free other tensors. "
            f"({str(error).splitlines()[0]})"
        ) from None


def weights_of_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Factor of each class: 1 for None, the given one for a dict, total / (n_classes · class total) for "balanced".

    Totals are sums of sample weights, so that weights stay equal to repetition.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        return weight.sum() / (len(classes) * np.bincount(codes, weight, minlength=len(classes)))
    unknown = [label for label in class_weight if label not in classes]
    if unknown:
        raise ParameterError(
            f"class_weight names {unknown[0]!r}, which is not among the classes of y: {classes.tolist()}."
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not np.all(factors > 0) or not np.all(np.isfinite(factors)):
        raise ParameterError(f"class_weight must be positive and finite for every class; got {class_weight!r}.")
    return factors


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

    Yields
    ------
    None
    """
    try:
        yield
    except ValueError as error:
        if not is_elsewhere(X):
            _refuse_text(X, error)
            _refuse_size(X)
        raise


def _read_streamed(
    machine: Any, X: StreamedRows, y: Any, sample_weight: Any
) -> tuple[Any, Any, Any, NDArray[np.int64]]:
    machine.n_features_in_ = X.shape[1]
    if X.names:
        machine.feature_names_in_ = np.array(X.names, dtype=object)
    machine._chose_by_name = bool(X.names)
    weight = check_weights(sample_weight, np.empty((X.n, 1)))
    rows = np.flatnonzero(weight > 0)
    if len(rows) == X.n:
        return X, y, weight, rows
    return X.subset(rows), None if y is None else y[rows], weight[rows], rows


def _labels_of(y: Any, n: int) -> NDArray[Any]:
    y = column_or_1d(y, warn=True)
    if len(y) != n:
        raise DataError(f"Found input variables with inconsistent numbers of samples: {[n, len(y)]}.")
    return np.asarray(y)


def _check_precomputed(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise DataError(
            f'kernel="precomputed" needs a square matrix of kernel values in fit; got shape {X.shape}. '
            "Pass k(x_i, x_j) for all pairs of training rows."
        )
    if not np.allclose(X, X.T, rtol=1e-4, atol=1e-6 * max(1.0, float(np.abs(X).max()))):
        raise DataError(
            'kernel="precomputed" needs a symmetric matrix; the one given differs from its transpose by '
            f"{float(np.abs(X - X.T).max()):.3g}. Pass (K + K.T) / 2 if that is rounding."
        )


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
