"""From a user's words (``kernel``, ``gamma``, ``degree``, ``coef0``) to a kernel function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from askew.arrays import Home, is_elsewhere
from askew.exceptions import ParameterError
from askew.kernels.function import RBF, KernelFunction, Linear, Polynomial, Sigmoid
from askew.kernels.points import without_duplicates

_FUNCTIONS: dict[str, Callable[[float, float, float], KernelFunction]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "rbf": lambda gamma, degree, coef0: RBF(gamma),
    "poly": lambda gamma, degree, coef0: Polynomial(gamma, degree, coef0),
    "polynomial": lambda gamma, degree, coef0: Polynomial(gamma, degree, coef0),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0),
}
NAMES = (*_FUNCTIONS, "precomputed")


def make_function(kernel: str, gamma: float = 1.0, degree: float = 3, coef0: float = 0.0) -> KernelFunction:
    """The kernel function a name stands for; ``gamma`` must already be a number."""
    if kernel not in _FUNCTIONS:
        raise ParameterError(f"kernel must be one of {', '.join(map(repr, NAMES))}; got {kernel!r}.")
    return _FUNCTIONS[kernel](float(gamma), degree, coef0)


def resolve_gamma(gamma: float | str, X: Any, sample_weight: Any = None, variance: float | None = None) -> float:
    """The number behind ``gamma="scale"`` (1 / (d · var(X))) or ``"auto"`` (1 / d).

    The variance is weighted by ``sample_weight``, so that weights stay equal to repetition; rows that are not held
    bring the ``variance`` they have counted.
    """
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / X.shape[1]
        if gamma == "scale":
            variance = _variance(X, sample_weight) if variance is None else variance
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        raise ParameterError(f'gamma must be "scale", "auto" or a positive number; got {gamma!r}.')
    if not gamma >= 0 or not np.isfinite(gamma):
        raise ParameterError(f"gamma must be a finite number ≥ 0; got {gamma!r}.")
    return float(gamma)


def _variance(X: Any, sample_weight: Any) -> float:
    """Variance over all entries of X, rows counted by their weight."""
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = weight.sum() * d
    if not total > 0:
        return 0.0
    if is_elsewhere(X):
        return _variance_elsewhere(X, weight, total)
    if sparse.issparse(X):
        X = without_duplicates(X.tocsr())
        entries = np.repeat(weight, np.diff(X.indptr))
        mean = float(entries @ X.data) / total
        stored = float(entries @ np.square(np.asarray(X.data, dtype=np.float64) - mean))
        return (stored + (total - float(entries.sum())) * mean * mean) / total
    mean = float(weight @ X.sum(axis=1, dtype=np.float64)) / total
    centred = np.asarray(X, dtype=np.float64) - mean
    return float(weight @ np.einsum("ij,ij->i", centred, centred)) / total


def _variance_elsewhere(X: Any, weight: Any, total: float) -> float:
    home = Home(X)
    xp, weight, rows = home.xp, home.put(weight), home.put(X, np.float64)
    mean = float(xp.sum(xp.sum(rows, axis=1) * weight)) / float(total)
    return float(xp.sum(xp.sum((rows - mean) ** 2, axis=1) * weight)) / float(total)
