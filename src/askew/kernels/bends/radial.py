"""Bends that decay with the distance from anchors.

Solves
    log D(x) = log mean_a exp(−rate_a d_a(x)) − log unit, d_a the squared distance to anchor a.
    The papers write a sum, or a mean. A constant factor of D is a change of C and nothing else (K' is multiplied by its
    square): with a sum the second fit would have a C larger by |SV|², with a mean one smaller by orders of magnitude.
    The unit is such that D² has mean 1 over the training rows, so that C keeps its meaning, and k = 0 is D = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

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
