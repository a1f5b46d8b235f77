"""Adaptive conformal transformation (ACT): each support vector stretches space as far as its own surroundings reach.

Solves
    D(x) ∝ Σ_{i∈SV} exp(−k‖φ(x) − φ(x_i)‖² / τ_i²), where τ_i² is the mean squared feature distance from x_i to the
    support vectors of the other class nearer than M_i, M_i the mean of its nearest and farthest squared distance to
    another support vector; for support vectors of the minority τ_i² is multiplied by |SV of the majority| /
    |SV of the minority|. Where no support vector of the other class is nearer than M_i, τ_i² = M_i.
    k = 1 is the paper's. Scaled to a mean square of 1 over the training rows.
Given
    The distinct support vectors of the machine fitted before, their classes, feature distances, and k ≥ 0.
Reference
    Wu and Chang (2003), ICML, 816; Maratea and Petrosino, eq. 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.kernels.bends.bend import Array, Vector
from askew.kernels.bends.distances import Distances
from askew.kernels.bends.radial import Radial, usable_widths


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
