"""Parkinsons with minority rows taken out, and its folds by rows or by speakers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.data import load
from studies.kernel_scaling.paper import BASE, N_FOLDS

NAME = "parkinsons"
DEALS = ("rows", "speakers")
KERNELS = {
    "paper": {"features": "standard", "gamma": BASE},
    "wide": {"features": "standard", "gamma": "scale"},
    "narrow": {"features": "standard", "gamma": 1 / (2 * BASE**2)},
    "raw": {"features": "raw", "gamma": BASE},
}
"""Readings of the paper's kernel. "wide" is none of them: it is γ = 1 / (d · variance), a common default."""


@dataclass(frozen=True)
class Fold:
    """Training and test rows, in the units of the setting; y is +1 for the minority."""

    X: NDArray[np.float64]
    y: NDArray[np.int8]
    test: NDArray[np.float64]
    truth: NDArray[np.int8]


@lru_cache(maxsize=1)
def _data() -> Any:
    return load(NAME)


def thinned(y: NDArray[Any], removed: int, repeat: int) -> NDArray[np.intp]:
    """Rows that stay when ``removed`` minority rows go at random; what goes first goes at every larger number too."""
    minority = np.random.default_rng(repeat).permutation(np.flatnonzero(y == 1))
    return np.sort(np.concatenate([minority[removed:], np.flatnonzero(y == -1)]))


def folds(removed: int, deal: str, repeat: int, setting: str) -> Iterator[Fold]:
    """The five folds of one repeat, scaled by their training part; one without minority rows to learn is left out."""
    data = _data()
    kept = thinned(data.y, removed, repeat)
    X, y, speakers = data.X[kept], data.y[kept], data.groups[kept]
    if deal == "rows":
        parts = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y)
    else:
        parts = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y, speakers)
    for train, test in parts:
        if np.any(y[train] == 1):
            yield in_units(Fold(X[train], y[train], X[test], y[test]), KERNELS[setting]["features"])


def in_units(fold: Fold, features: str) -> Fold:
    """The same fold with every feature at mean 0 and variance 1 on the training part, or as it is."""
    if features == "raw":
        return fold
    scaler = StandardScaler().fit(fold.X)
    return Fold(scaler.transform(fold.X), fold.y, scaler.transform(fold.test), fold.truth)
