"""Several classes by machines of two: who stands against whom, votes of the pairs, and the rows that support them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from askew.methods.expansion import Expansion, positive_side

Indices = NDArray[np.int64]


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """(positive, negative) of each one-vs-one machine: scikit-learn's order, where two classes score for the second."""
    return [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))


def classes_against_rest(n_classes: int) -> Sequence[int]:
    """The positive class of each one-vs-rest machine: one machine for two classes."""
    return [1] if n_classes == 2 else range(n_classes)


def signs_of(codes: Indices, positive: int) -> NDArray[np.float64]:
    """+1 for rows of a class, −1 for all others."""
    return np.where(codes == positive, 1.0, -1.0)


def votes_of_pairs(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    """For how many of its pairs each class wins, shape (n_samples, n_classes)."""
    votes = np.zeros((len(scores), n_classes), dtype=np.int64)
    for column, (i, j) in zip(scores.T, combinations(range(n_classes), 2), strict=True):
        is_first = positive_side(column)
        votes[:, i] += is_first
        votes[:, j] += ~is_first
    return votes


def unite_supports(expansions: Sequence[Expansion], codes: Indices) -> tuple[Indices, Indices]:
    """The rows that support any machine, by class; and of each training row its place among them, −1 for none."""
    support = np.unique(np.concatenate([expansion.support for expansion in expansions]))
    support = support[np.argsort(codes[support], kind="stable")]
    place = np.full(len(codes), -1)
    place[support] = np.arange(len(support))
    return support, place


def counts_by_class(support: Indices, codes: Indices, n_classes: int) -> NDArray[np.int32]:
    """Number of supporting rows of each class."""
    return np.bincount(codes[support], minlength=n_classes).astype(np.int32)
