"""Kernel boundary alignment (KBA): space is stretched around points interpolated on the boundary.

Solves
    D(x) ∝ mean_b exp(−k‖φ(x) − φ(x_b)‖² / τ_b²), φ(x_b) = (1 − s)φ(x⁺) + sφ(x⁻) between a support vector x⁺ of the
    minority and x⁻ of the majority, each support vector paired with the nearest of the other class. No φ is needed:
        ‖φ(x) − φ(x_b)‖² = (1 − s)‖φ(x) − φ(x⁺)‖² + s‖φ(x) − φ(x⁻)‖² − s(1 − s)‖φ(x⁺) − φ(x⁻)‖².
    τ_b² is the mean squared distance from x_b to the support vectors nearer than M_b, M_b the mean of the nearest and
    the farthest; M_b itself where none is nearer. k = 1 is the paper's. Scaled to a mean square of 1 on the rows.
    The boundary of a skewed machine stands too near the minority. With a score of +1 on the minority's margin and −1 on
    the majority's, s places it at score 1 − 2s: ½ where it is, 1 on the majority's margin. s minimises the hinge loss
        Σ c_i max(0, 1 − z_i(g_i + 2s − 1)),   z = +1 and g = score for the minority,   ½ ≤ s ≤ 1,
    with costs c that let the two classes count alike: a convex piecewise linear function whose minimiser is a
    weighted quantile of its kinks z_i − g_i.
Given
    The distinct support vectors of the machine fitted before, their classes, feature distances, s and k ≥ 0.
Reference
    Wu and Chang (2005), IEEE TKDE 17:786; Maratea and Petrosino, eq. 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.kernels.bends.bend import Array, Bend, Sight, Slopes, Vector
from askew.kernels.bends.distances import Distances
from askew.kernels.bends.radial import log_mean_exp, middle, shares, usable_widths


@dataclass(frozen=True)
class Boundary(Bend):
    """D = mean_b exp(−rate_b ‖φ(x) − φ(x_b)‖²) / unit.

    Parameters
    ----------
    rows : array of int, shape (2 n_pairs,)
        x⁺ of every pair, then x⁻ of every pair.
    rates : array of shape (n_pairs,)
    lengths : array of shape (n_pairs,)
        ‖φ(x⁺) − φ(x⁻)‖².
    share : float
        s.
    log_unit : float
    """

    rows: NDArray[np.int64]
    rates: Vector
    lengths: Vector
    share: float
    log_unit: float = field(default=0.0, kw_only=True)
    space: ClassVar[str] = "feature"

    @classmethod
    def of(
        cls, rows: NDArray[np.int64], is_minority: NDArray[np.bool_], distances: Distances, share: float, k: float
    ) -> Boundary:
        """The bend for support vectors ``rows``, some of them of the minority, on the points of ``distances``."""
        among = distances.subset(rows)
        plus, minus, lengths = nearest_pairs(among, is_minority)
        unbent = cls(np.concatenate([plus, minus]), np.zeros(len(plus)), lengths, share)
        widths = usable_widths(unbent.widths(among))
        return replace(unbent, rows=rows[unbent.rows], rates=k / widths)

    @property
    def anchors(self) -> NDArray[np.int64]:
        return self.rows

    def moved(self, position: NDArray[np.int64]) -> Boundary:
        return replace(self, rows=position[self.rows])

    def widths(self, distances: Distances) -> Vector:
        """τ² of each boundary point among the support vectors, pairs in blocks."""
        n_pairs, step = len(self.lengths), max(1, 2**20 // max(1, distances.n))
        widths = np.empty(n_pairs)
        for start in range(0, n_pairs, step):
            some = slice(start, min(n_pairs, start + step))
            ends = np.concatenate([self.rows[:n_pairs][some], self.rows[n_pairs:][some]])
            part = replace(self, rows=ends, rates=self.rates[some], lengths=self.lengths[some])
            seen = part.to_boundary(distances.to_anchors(ends)).T
            reach = middle(seen)
            is_near = seen < reach[:, None]
            count = is_near.sum(axis=1)
            near = np.where(is_near, seen, 0.0).sum(axis=1)
            widths[some] = np.where(count > 0, near / np.maximum(count, 1), reach)
        return widths

    def to_boundary(self, distances: Array) -> Array:
        """Squared distances to the boundary points from those to their two ends."""
        n_pairs, s = len(self.lengths), self.share
        along = (1.0 - s) * distances[:, :n_pairs] + s * distances[:, n_pairs:]
        return np.maximum(along - s * (1.0 - s) * self.lengths, 0.0)

    def log_factor(self, sight: Sight) -> Vector:
        return log_mean_exp(-self.rates * self.to_boundary(sight.distances)) - self.log_unit

    def slopes(self, sight: Sight) -> Slopes:
        slopes = -self.rates * shares(-self.rates * self.to_boundary(sight.distances))
        by_distance = np.hstack([(1.0 - self.share) * slopes, self.share * slopes])
        return Slopes(np.zeros_like(sight.score), by_distance)


def nearest_pairs(
    distances: Distances, is_minority: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Vector]:
    """(x⁺, x⁻, squared length) of every pair of a point and the nearest one of the other group, each pair once."""
    nearest, lengths = np.empty(distances.n, dtype=np.int64), np.empty(distances.n)

    def work(first: int, last: int, seen: Array) -> None:
        apart = np.where(is_minority[first:last, None] != is_minority, seen, np.inf)
        nearest[first:last] = apart.argmin(axis=1)
        lengths[first:last] = apart.min(axis=1)

    distances.over_windows(np.arange(distances.n), work)
    itself = np.arange(distances.n)
    pairs = np.stack([np.where(is_minority, itself, nearest), np.where(is_minority, nearest, itself)])
    _, first_seen = np.unique(pairs, axis=1, return_index=True)
    plus, minus = pairs[:, first_seen]
    return plus, minus, lengths[first_seen]


def balanced_share(score: Vector, is_minority: NDArray[np.bool_], weight: Vector) -> float:
    """s in [½, 1] at which the hinge loss of the moved boundary is least when both classes count alike.

    ``score`` is positive for the minority.
    """
    cost = np.where(is_minority, weight / weight[is_minority].sum(), weight / weight[~is_minority].sum())
    kinks = np.where(is_minority, 1.0, -1.0) - score
    order = np.argsort(kinks)
    # the slope of the loss rises by c_i at each kink, from minus the cost of the minority, which is 1
    place = int(np.searchsorted(np.cumsum(cost[order]), 1.0 - 1e-9))
    return 0.5 + 0.5 * float(np.clip(kinks[order[min(place, len(order) - 1)]], 0.0, 1.0))
