"""Which rows train and which are kept back to place the threshold. No row, and no group, does both.

With weights the promise is about E[w·1(s > b)]/E[w], and needs a bound M ≥ w that does not come from the held-out rows:
heavy tails allow none without it. A row is kept with probability min(w, M)/M, and the rule that counts rows is exact
for the weights min(w, M).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.exceptions import DataError, ParameterError

__all__ = ["Holdout", "bound_of", "take_rows", "thinned"]


@dataclass(frozen=True)
class Holdout:
    """Row numbers of the training part and of the held-out negatives and positives, each ascending.

    Parameters
    ----------
    train, negatives, positives : ndarray of int
    weight_bound : float or None
        Largest weight a held-out negative counts with; None without weights, and where no negative is held out.
    n_above_bound : int
        Held-out negatives (or groups of them) that were heavier.

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
    weight_bound: float | None = None
    n_above_bound: int = 0

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

    def weighed(
        self,
        weight: NDArray[np.float64],
        is_negative: NDArray[np.bool_],
        weight_bound: float | None,
        random_state: np.random.RandomState,
        groups: NDArray | None = None,
    ) -> Holdout:
        """The held-out rows of each class thinned in proportion to their weights, up to a bound."""
        if not np.isfinite(weight).all() or (weight < 0.0).any():
            raise DataError("sample_weight must be finite and not negative.")
        parts = self
        for name, is_mine in (("negatives", is_negative), ("positives", ~is_negative)):
            held = getattr(self, name)
            if len(held) == 0:
                continue
            bound = bound_of(weight, held, self.train[is_mine[self.train]], weight_bound, name)
            parts = replace(parts, **{name: thinned(held, weight, bound, random_state, groups)})
            if name == "negatives":
                n_above = int((_heaviest(held, weight, groups)[1] > bound).sum())
                parts = replace(parts, weight_bound=bound, n_above_bound=n_above)
        return parts


def bound_of(
    weight: NDArray[np.float64], held: NDArray[np.intp], trained: NDArray[np.intp], given: float | None, label: str
) -> float:
    """Largest weight that a held-out row of one class counts with.

    The bound given, else the largest weight of the training rows, else the one weight that all held-out rows have. The
    largest of several weights among the held-out rows would not do: heavy rows that the sample has missed would not
    count, and the threshold would let them through.

    Parameters
    ----------
    weight : ndarray, shape (n,)
        Of all rows.
    held, trained : ndarray of int
        Rows of the class that are held out, and those that train.
    given : float or None
        The bound a user has stated.
    label : str
        Name of the class, for messages.

    Examples
    --------
    >>> bound_of(np.array([1.0, 3.0, 9.0]), np.array([2]), np.array([0, 1]), None, "negatives")
    3.0
    """
    if given is not None:
        return float(given)
    if len(trained):
        largest = float(weight[trained].max())
        if largest == 0.0:
            raise DataError(f"sample_weight is zero on all {label} of the training part. Give `weight_bound`.")
        return largest
    if np.ptp(weight[held]) > 0.0:
        raise ParameterError(
            f"sample_weight differs among the {label}, from {weight[held].min():.4g} to {weight[held].max():.4g}, and "
            "no row of theirs was trained on to bound it. Give `weight_bound`, the largest weight a row can have, "
            "or any number chosen without these rows: heavier rows are counted as that."
        )
    return float(weight[held[0]])


def thinned(
    rows: NDArray[np.intp],
    weight: NDArray[np.float64],
    bound: float,
    random_state: np.random.RandomState,
    groups: NDArray | None = None,
) -> NDArray[np.intp]:
    """Keep each row with probability min(weight, bound) / bound.

    The rows kept are a plain sample of the population with the weights min(weight, bound), so that a rule which counts
    rows stays exact for it. Rows of one group are kept together, by the largest weight among them; a weight of zero
    keeps nothing.

    Examples
    --------
    >>> thinned(np.array([4, 7, 9]), np.ones(10), 1.0, np.random.RandomState(0)).tolist()
    [4, 7, 9]
    """
    each = weight[rows]
    if each.max() == 0.0:
        raise DataError("sample_weight is zero on every held-out row of one class.")
    unit, heaviest = _heaviest(rows, weight, groups)
    is_kept = random_state.random_sample(len(heaviest)) < np.minimum(heaviest, bound) / bound
    return rows[is_kept[unit] & (each > 0.0)]


def _heaviest(
    rows: NDArray[np.intp], weight: NDArray[np.float64], groups: NDArray | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Which row or group each row counts in, and the largest weight of each of them."""
    if groups is None:
        return np.arange(len(rows)), weight[rows]
    names, unit = np.unique(groups[rows], return_inverse=True)
    heaviest = np.zeros(len(names))
    np.maximum.at(heaviest, unit, weight[rows])
    return unit, heaviest


def take_rows(X: object, rows: NDArray[np.intp]) -> object:
    """Rows of an array, a sparse matrix, a data frame of any library, or a list, as the same type."""
    if isinstance(X, (list, tuple)):
        return [X[i] for i in rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if frame is X:
        return X[rows]
    return frame[rows].to_native()
