"""Rows that are arrays of another library, on a GPU say, checked where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from askew.arrays import Home, host, is_out_of_memory
from askew.exceptions import DataError


def read_rows(estimator: Any, X: Any, reset: bool) -> Any:
    """X as float32 or float64 where it lives, of two dimensions and finite; sets or checks ``n_features_in_``."""
    name = type(estimator).__name__
    if len(X.shape) != 2:
        raise DataError(f"{name} expects X of shape (n_samples, n_features); got shape {tuple(X.shape)}.")
    if getattr(X, "is_sparse", False):
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
    if not bool(home.xp.all(home.xp.isfinite(rows))):
        first = int(np.argmin(host(home.xp.all(home.xp.isfinite(rows), axis=1))))
        raise DataError(
            f"X contains NaN or infinity, first in row {first}; {name} needs finite numbers. Drop or fill such rows."
        )
    return rows


def told_of_memory(error: BaseException, cache_size: float) -> BaseException:
    """The error itself, or where a device had no memory left, one that says what to change."""
    if not is_out_of_memory(error):
        return error
    return DataError(
        f"The device has no memory left for the points, two float32 copies of them and tiles of up to "
        f"cache_size={cache_size:g} MB. Lower `cache_size`, pass float32 rows, fewer rows, or free other tensors. "
        f"({str(error).splitlines()[0]})"
    )
