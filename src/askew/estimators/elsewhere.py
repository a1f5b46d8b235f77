"""Rows that are arrays of another library, on a GPU say, checked where they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from askew.arrays import Home, fetched, host, is_out_of_memory
from askew.exceptions import DataError


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
    """Where a device has no memory left, an error that says what to change; any other error as it is."""
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


class Classifies(ClassifierMixin):
    """scikit-learn's classifier, whose accuracy also takes rows, labels and weights that live on a device."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose class is predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        predicted = fetched(self.predict(X))  # type: ignore[attr-defined]
        return float(accuracy_score(fetched(y), predicted, sample_weight=fetched(sample_weight)))
