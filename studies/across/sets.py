"""The sets, the families they come from, and how each is cut into a training and a test part.

Sets of one family share rows (the KEEL cuts of abalone, glass and yeast) or come from the same measurements (KDD 1999,
shuttle), so they are no independent witnesses: the first set of each family stands for it in the main ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold, StratifiedShuffleSplit

from askew.datasets import Dataset
from benchmarks.data import load

MOST_TRAINING, MOST_TEST, POOL = 700, 4000, 20_000
FEWEST_POSITIVES = 40  # in the training part of a set that is cut down, where it has them
TEST_SHARE = 0.3
MILDEST = 5.0  # negatives per positive; a milder set has its positives thinned out until there are THINNED
THINNED = 9.0

FAMILIES: dict[str, tuple[str, ...]] = {
    "abalone": ("keel/abalone-17_vs_7-8-9-10", "keel/abalone9-18", "keel/abalone19"),
    "adult": ("ada",),
    "aloi": ("aloi",),
    "annthyroid": ("annthyroid",),
    "australian": ("australian",),
    "breast": ("breast_wisconsin",),
    "bupa": ("bupa",),
    "campaign": ("campaign",),
    "caspase": ("caspase3_sites",),
    "covertype": ("covtype",),
    "creditcard": ("creditcard_sample",),
    "flare": ("keel/flare-F",),
    "german": ("german_numeric",),
    "glass": ("keel/glass6", "keel/glass-0-1-2-3_vs_4-5-6"),
    "haberman": ("haberman",),
    "ijcnn1": ("ijcnn1",),
    "ionosphere": ("ionosphere",),
    "kdd": ("http", "keel/kddcup-buffer_overflow_vs_back"),
    "led": ("keel/led7digit-0-2-4-5-6-7-8-9_vs_1",),
    "letter": ("letter",),
    "mammography": ("mammography",),
    "mnist": ("mnist",),
    "new-thyroid": ("keel/new-thyroid1",),
    "pendigits": ("pendigits",),
    "phoneme": ("phoneme",),
    "pima": ("pima",),
    "poker": ("keel/poker-8-9_vs_5",),
    "satimage": ("satimage",),
    "segment": ("keel/segment0",),
    "shuttle": ("shuttle", "keel/shuttle-2_vs_5"),
    "spectf": ("spectf",),
    "vehicle": ("keel/vehicle1", "keel/vehicle0"),
    "vowel": ("keel/vowel0",),
    "w8a": ("w8a",),
    "yeast": ("keel/yeast4", "keel/yeast3", "keel/yeast-2_vs_4", "keel/yeast6"),
}
FIRST = tuple(members[0] for members in FAMILIES.values())
ALL = FIRST + tuple(name for members in FAMILIES.values() for name in members[1:])


@dataclass(frozen=True)
class Parts:
    """A training and a test part; y is ±1, groups name the person or protein of a row where that is known."""

    X: NDArray[np.float64]
    y: NDArray[np.int8]
    groups: NDArray[Any] | None
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int8]


@lru_cache(maxsize=len(ALL))
def pool(name: str) -> Dataset:
    """The set without rows that miss a value, dense, of large ones a fixed draw of at most ``POOL`` rows."""
    data = load(name).complete_rows()
    if data.n_samples > POOL:
        data = data.take(thin(data.y, POOL, np.random.default_rng(0), fewest=300))
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    return Dataset(name=name, X=np.ascontiguousarray(X, dtype=np.float64), y=data.y, groups=data.groups)


def thin(y: Any, most: int, rng: np.random.Generator, fewest: int = 0) -> NDArray[np.int64]:
    """At most ``most`` rows in the classes' own proportion, but ``fewest`` positives where there are as many."""
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    if len(y) <= most:
        return np.arange(len(y))
    n_positive = max(round(most * len(positive) / len(y)), min(fewest, len(positive)))
    chosen = [rng.choice(positive, n_positive, replace=False)]
    chosen.append(rng.choice(negative, min(most - n_positive, len(negative)), replace=False))
    return np.sort(np.concatenate(chosen))


def skew(y: Any, rng: np.random.Generator) -> NDArray[np.int64]:
    """All rows of a set that is skewed already; of a milder one all negatives, and a ninth as many positives."""
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    if len(negative) >= MILDEST * len(positive):
        return np.arange(len(y))
    kept = rng.choice(positive, round(len(negative) / THINNED), replace=False)
    return np.sort(np.concatenate([kept, negative]))


def split(name: str, repeat: int) -> Parts:
    """One of the repeated 70/30 splits, stratified, groups kept whole; the same for every method."""
    rng = np.random.default_rng([repeat, 2026])
    data = pool(name)
    data = data.take(skew(data.y, rng))
    if data.groups is None:
        cut = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=repeat)
        train, test = next(cut.split(data.X, data.y))
    else:
        tenths = StratifiedGroupKFold(10, shuffle=True, random_state=repeat).split(data.X, data.y, data.groups)
        test = np.concatenate([held_out for _, held_out in islice(tenths, round(10 * TEST_SHARE))])
        train = np.setdiff1d(np.arange(data.n_samples), test)
    train = train[thin(data.y[train], MOST_TRAINING, rng, FEWEST_POSITIVES)]
    test = test[thin(data.y[test], MOST_TEST, rng, FEWEST_POSITIVES)]
    groups = None if data.groups is None else data.groups[train]
    return Parts(data.X[train], data.y[train], groups, data.X[test], data.y[test])
