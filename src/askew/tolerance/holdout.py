"""Which rows train and which are kept back to place the threshold. No row, and no group, does both."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.exceptions import DataError

__all__ = ["Holdout", "take_rows", "thinned"]


@dataclass(frozen=True)
class Holdout:
    """Row numbers of the training part and of the held-out negatives and positives, each ascending.

    Examples
    --------
    >>> is_negative = np.array([True] * 8 + [False] * 2)
    >>> parts = Holdout.split(is_negative, 0.5, 0.5, np.random.RandomState(0))
    >>> len(parts.train), len(parts.negatives), len(parts.positives)
    (5, 4, 1)
    """

    train: NDArray[np.intp]
    negatives: NDArray[np.intp]
    positives: NDArray[np.intp]

    @classmethod
    def of_everything(cls, is_negative: NDArray[np.bool_]) -> Holdout:
        """For an estimator fitted elsewhere: every row is held out."""
        none = np.empty(0, dtype=np.intp)
        return cls(none, np.flatnonzero(is_negative), np.flatnonzero(~is_negative))

    @classmethod
    def split(
        cls,
        is_negative: NDArray[np.bool_],
        fraction: float,
        positive_fraction: float,
        random_state: np.random.RandomState,
        groups: ArrayLike | None = None,
    ) -> Holdout:
        """Hold out a share of the negatives (or of the groups with negatives), and a share of the positives.

        Groups with a negative are drawn by ``fraction`` and bring their positives along; groups of
        positives only are drawn by ``positive_fraction``. A fraction of 0 holds no negative out.
        """
        if groups is None:
            unit, has_negative = np.arange(len(is_negative)), is_negative
        else:
            names, unit = np.unique(np.asarray(groups), return_inverse=True)
            has_negative = np.zeros(len(names), dtype=bool)
            has_negative[unit[is_negative]] = True
        with_negative, without = np.flatnonzero(has_negative), np.flatnonzero(~has_negative)
        if fraction > 0.0 and len(with_negative) < 2:
            raise DataError(
                f"n_samples={len(with_negative)} of the negative class, where at least two are needed: one to "
                "train and one to calibrate."
            )
        n_held = min(max(1, round(fraction * len(with_negative))), len(with_negative) - 1) if fraction > 0.0 else 0
        held = np.zeros(len(has_negative), dtype=bool)
        held[random_state.permutation(with_negative)[:n_held]] = True
        held[random_state.permutation(without)[: int(positive_fraction * len(without))]] = True
        is_held = held[unit]
        return cls(
            train=np.flatnonzero(~is_held),
            negatives=np.flatnonzero(is_held & is_negative),
            positives=np.flatnonzero(is_held & ~is_negative),
        )


def thinned(rows: NDArray[np.intp], weight: ArrayLike | None, random_state: np.random.RandomState) -> NDArray[np.intp]:
    """Keep each row with probability weight / largest weight.

    The rows kept are a plain sample of the weighted population, so that a rule which counts rows stays exact
    for it. Equal weights keep everything; a weight of zero keeps nothing.

    Examples
    --------
    >>> thinned(np.array([4, 7, 9]), np.ones(10), np.random.RandomState(0)).tolist()
    [4, 7, 9]
    """
    if weight is None or len(rows) == 0:
        return rows
    every = np.asarray(weight, dtype=np.float64).ravel()
    each = every[rows]
    if not np.isfinite(each).all() or (each < 0.0).any():
        raise DataError("sample_weight must be finite and not negative.")
    if each.max() == 0.0:
        raise DataError("sample_weight is zero on every held-out row of one class.")
    return rows[random_state.random_sample(len(rows)) * each.max() < each]


def take_rows(X: object, rows: NDArray[np.intp]) -> object:
    """Rows of an array, a sparse matrix, a data frame of any library, or a list, as the same type."""
    if isinstance(X, (list, tuple)):
        return [X[i] for i in rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if frame is X:
        return X[rows]
    return frame[rows].to_native()
