"""Which array library a computation runs in, and in what precision.

The outer loops of askew are written against the array API standard. ``namespace`` finds the library of the arrays at
hand through array-api-compat; what the standard lacks and every library has under another name stands here once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace as namespace
from array_api_compat import is_numpy_array

__all__ = ["FLOAT32_ARGUMENT_LIMIT", "is_numpy_array", "namespace", "row_precision", "smallest"]

FLOAT32_ARGUMENT_LIMIT = 1e3
"""Largest sum of terms a float32 kernel row may be computed from: its entries then keep about four digits."""


def row_precision(n: int, tol: float, argument_bound: float) -> Any:
    """Precision of the kernel rows a solver starts with.

    float32 halves the memory traffic that limits large problems. It is not worth its rounding for small problems, for
    tolerances near its resolution, or where the kernel's argument is a small difference of large numbers.
    """
    if n <= 1000 or tol < 1e-5 or argument_bound > FLOAT32_ARGUMENT_LIMIT:
        return np.float64
    return np.float32


def smallest(values: Any, count: int) -> Any:
    """Indices of the ``count`` smallest values, in no particular order."""
    n = values.shape[0]
    if count >= n:
        return namespace(values).arange(n)
    if is_numpy_array(values):
        return np.argpartition(values, count)[:count]
    xp = namespace(values)
    return xp.argsort(values)[:count]
