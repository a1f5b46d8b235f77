"""The seven sets of the paper, thinned to one positive in ten rows, split 5:1, scaled by the training part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from askew.datasets import Dataset
from benchmarks.data import load

TITLES = {
    "pima": "Diabetes",
    "german_numeric": "German",
    "breast_wisconsin": "Breast Cancer",
    "ionosphere": "Ionosphere",
    "australian": "Australian",
    "covtype": "Covertype",
    "ijcnn1": "IJCNN",
}
LARGE = ("covtype", "ijcnn1")
NEGATIVES_PER_POSITIVE = 9
TEST_SHARE = 1 / 6  # of all rows: 5:1
MOST_ROWS, MOST_FRESH = 1800, 20_000


@dataclass(frozen=True)
class Split:
    """Training and test rows; for large sets also fresh ones, drawn like the test rows from what was left over."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int8]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int8]
    X_fresh: NDArray[np.float64] | None = None
    y_fresh: NDArray[np.int8] | None = None


def draw(name: str, repeat: int) -> Split:
    """Rows of one repeat: thinned, split and scaled to [−1, 1], all anew."""
    data, rng = read(name), np.random.default_rng(repeat)
    kept = thinned(data.y, rng, MOST_ROWS if name in LARGE else None)
    train, test = train_test_split(kept, test_size=TEST_SHARE, stratify=data.y[kept], random_state=repeat)
    scale = MinMaxScaler((-1.0, 1.0)).fit(_rows(data, train))
    parts = [(scale.transform(_rows(data, rows)), data.y[rows]) for rows in (train, test)]
    if name in LARGE:
        left = np.setdiff1d(np.arange(len(data.y)), kept)
        fresh = left[thinned(data.y[left], rng, MOST_FRESH)]
        parts.append((scale.transform(_rows(data, fresh)), data.y[fresh]))
    return Split(*[each for part in parts for each in part])


def thinned(y: NDArray[Any], rng: np.random.Generator, most_rows: int | None = None) -> NDArray[np.int64]:
    """Which rows stay: as many as one positive to nine negatives allows, at most ``most_rows``, at random."""
    positives, negatives = (rng.permutation(np.flatnonzero(y * sign > 0)) for sign in (1, -1))
    n = min(len(positives), len(negatives) // NEGATIVES_PER_POSITIVE)
    if most_rows is not None:
        n = min(n, most_rows // (1 + NEGATIVES_PER_POSITIVE))
    return rng.permutation(np.concatenate([positives[:n], negatives[: NEGATIVES_PER_POSITIVE * n]]))


@lru_cache(maxsize=2)
def read(name: str) -> Dataset:
    """The set; of several classes those are merged into the positives whose share comes nearest to one in ten."""
    data = load(name).complete_rows()
    if name != "covtype":
        return data
    chosen = nearest_merge(data.labels, 1 / (1 + NEGATIVES_PER_POSITIVE))
    y = np.where(np.isin(data.labels, chosen), 1, -1).astype(np.int8)
    return Dataset(name=name, X=data.X, y=y, labels=data.labels)


def nearest_merge(labels: Any, share: float) -> tuple[Any, ...]:
    """The classes that together make up the share of rows nearest to ``share``."""
    classes, counts = np.unique(labels, return_counts=True)
    parts = dict(zip(classes.tolist(), (counts / counts.sum()).tolist(), strict=True))
    every: Iterable[tuple[Any, ...]] = (group for size in range(1, len(classes)) for group in combinations(parts, size))
    return min(every, key=lambda group: abs(sum(parts[label] for label in group) - share))


def _rows(data: Dataset, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    part = data.X[rows]
    return part.toarray() if hasattr(part, "toarray") else part
