"""Bends that decay with the distance from support vectors.

Solves
    log D(x) = log mean_a exp(−rate_a d_a(x)) − log unit, d_a the squared distance to anchor a.
    The papers write a sum, or a mean. A constant factor of D is a change of C and nothing else (K' is multiplied by its
    square): with a sum the second fit would have a C larger by |SV|², with a mean one smaller by orders of magnitude.
    The unit is such that D² has mean 1 over the training rows, so that C keeps its meaning, and k = 0 is D = 1.

    ``Support``, Amari and Wu's bend: rate = k / r² for all anchors, r² the mean squared distance between two support
    vectors: in units of r one k means the same whatever the scale of the features. Distances are those of input space,
    or of feature space where only a kernel matrix is known.

    ``Adaptive``, the adaptive conformal transformation (ACT): each support vector stretches space as far as its own
    surroundings reach: rate_i = k / τ_i², where τ_i² is the mean squared feature distance from x_i to the support
    vectors of the other class nearer than M_i, M_i the mean of its nearest and farthest squared distance to another
    support vector; for support vectors of the minority τ_i² is multiplied by |SV of the majority| /
    |SV of the minority|. Where no support vector of the other class is nearer than M_i, τ_i² = M_i. k = 1 is the
    paper's.
Given
    The distinct support vectors of the machine fitted before, their classes, distances, and k ≥ 0.
Reference
    Amari and Wu (1999), Neural Networks 12:783; Wu and Chang (2003), ICML, 816; Maratea and Petrosino, eqs. 5 and 6,
    the first with k / r² for their k.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.kernels.bends.bend import Array, Bend, Sight, Slopes, Vector
from askew.kernels.bends.distances import Distances


def log_mean_exp(exponents: Array) -> Vector:
    """log mean_a exp(e_a) along the last axis, exact however small the terms."""
    top = exponents.max(axis=1)
    return np.asarray(top + np.log(np.mean(np.exp(exponents - top[:, None]), axis=1)))


def shares(exponents: Array) -> Array:
    """exp(e_a) / Σ exp(e): how much each anchor has to do with D at a point."""
    terms = np.exp(exponents - exponents.max(axis=1)[:, None])
    return np.asarray(terms / terms.sum(axis=1)[:, None])


def usable_widths(squared: Vector) -> Vector:
    """Squared widths with those that vanish (anchors on top of each other) replaced by the mean of the others.

    All vanish when every anchor is the same point: then infinite widths, that is no bend.
    """
    is_good = squared > 1e-12 * np.max(squared, initial=0.0)
    if not is_good.any():
        return np.full(len(squared), np.inf)
    return np.where(is_good, squared, squared[is_good].mean())


@dataclass(frozen=True)
class Radial(Bend):
    """D = mean_a exp(−rate_a d_a) / unit.

    Parameters
    ----------
    rows : array of int
        The anchors.
    rates : array of float
        One per anchor, ≥ 0.
    log_unit : float
    """

    rows: NDArray[np.int64]
    rates: Vector
    log_unit: float = field(default=0.0, kw_only=True)

    @property
    def anchors(self) -> NDArray[np.int64]:
        return self.rows

    def moved(self, position: NDArray[np.int64]) -> Radial:
        return replace(self, rows=position[self.rows])

    def log_factor(self, sight: Sight) -> Vector:
        return log_mean_exp(-self.rates * sight.distances) - self.log_unit

    def slopes(self, sight: Sight) -> Slopes:
        exponents = -self.rates * sight.distances
        return Slopes(np.zeros_like(sight.score), -self.rates * shares(exponents))


@dataclass(frozen=True)
class Support(Radial):
    """D = mean_i exp(−rate ‖x − x_i‖²) / unit, one rate for all support vectors."""

    space: ClassVar[str] = "input"

    @classmethod
    def of(cls, rows: NDArray[np.int64], distances: Distances, k: float) -> Support:
        """The bend for support vectors ``rows`` of a machine on the points of ``distances``."""
        width = usable_widths(np.array([mean_squared_distance(distances.subset(rows))]))
        return cls(rows, np.repeat(k / width, len(rows)))


def mean_squared_distance(distances: Distances) -> float:
    """Mean over pairs of different points."""
    totals = np.zeros(distances.n)

    def work(first: int, last: int, seen: Array) -> None:
        totals[first:last] = seen.sum(axis=1)

    distances.over_windows(np.arange(distances.n), work)
    return float(totals.sum() / max(1, distances.n * (distances.n - 1)))


@dataclass(frozen=True)
class Adaptive(Radial):
    """D = mean_i exp(−rate_i ‖φ(x) − φ(x_i)‖²) / unit."""

    space: ClassVar[str] = "feature"

    @classmethod
    def of(cls, rows: NDArray[np.int64], is_minority: NDArray[np.bool_], distances: Distances, k: float) -> Adaptive:
        """The bend for support vectors ``rows``, some of them of the minority, on the points of ``distances``."""
        widths = neighbourhood_widths(distances.subset(rows), is_minority)
        n_minority = int(is_minority.sum())
        widths[is_minority] *= (len(rows) - n_minority) / max(1, n_minority)
        return cls(rows, k / usable_widths(widths))


def neighbourhood_widths(distances: Distances, group: NDArray[np.bool_]) -> Vector:
    """τ² of each point: mean squared distance to those of the other group nearer than M, else M."""
    widths = np.empty(distances.n)

    def work(first: int, last: int, seen: Array) -> None:
        itself = np.arange(first, last)
        reach = middle(seen, itself)
        is_near = (group[first:last, None] != group) & (seen < reach[:, None])
        count = is_near.sum(axis=1)
        near = np.where(is_near, seen, 0.0).sum(axis=1)
        widths[first:last] = np.where(count > 0, near / np.maximum(count, 1), reach)

    distances.over_windows(np.arange(distances.n), work)
    return widths


def middle(seen: Array, itself: NDArray[np.int64] | None = None) -> Vector:
    """M: mean of the least and the greatest distance along each row, the point itself left out."""
    far = seen.max(axis=1)
    if itself is not None and seen.shape[1] > 1:
        seen = seen.copy()
        seen[np.arange(len(seen)), itself] = np.inf
    return np.asarray(0.5 * (seen.min(axis=1) + far))


def with_unit_mean_square(bend: Any, score: Vector, distances: Distances, weight: Vector) -> Any:
    """The same bend with a weighted mean of D² over the training rows of 1."""
    doubled = 2.0 * on_rows(bend, score, distances)
    top = float(np.max(doubled))
    mean = float(np.average(np.exp(doubled - top), weights=weight))
    return replace(bend, log_unit=bend.log_unit + 0.5 * (top + np.log(mean)))


def on_rows(bend: Bend, score: Vector, distances: Distances | None) -> Vector:
    """log D on the training rows."""
    if not len(bend.anchors) or distances is None:
        return bend.log_factor(Sight(score, np.empty((len(score), 0))))
    values = np.empty(len(score))

    def work(first: int, last: int, seen: Array) -> None:
        values[first:last] = bend.log_factor(Sight(score[first:last], seen))

    distances.over_windows(bend.anchors, work)
    return values
