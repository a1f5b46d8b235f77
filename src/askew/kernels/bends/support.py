"""Amari and Wu's bend: space is stretched around the support vectors.

Solves
    D(x) ∝ Σ_{i∈SV} exp(−k‖x − x_i‖² / r²), r² the mean squared distance between two support vectors: in units of r
    one k means the same whatever the scale of the features. Scaled to a mean square of 1 over the training rows.
Given
    The distinct support vectors of the machine fitted before, and k ≥ 0. Distances are those of input space, or of
    feature space where only a kernel matrix is known.
Reference
    Amari and Wu (1999), Neural Networks 12:783; Maratea and Petrosino, eq. 5, with k / r² for their k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.kernels.bends.bend import Array
from askew.kernels.bends.distances import Distances
from askew.kernels.bends.radial import Radial, usable_widths


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
