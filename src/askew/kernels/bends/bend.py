"""What every bend has in common: it sees a score and some distances, and answers with a factor.

Solves
    D(x) > 0 as log D, and its derivatives, from what is known at x of the machine fitted before:
    its score f(x), and the squared distances from x to the bend's anchors (support vectors of that machine).
Returns
    log D rather than D, so that a point far from everything still has a direction in which D grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Vector = NDArray[np.float64]
NO_ANCHORS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Sight:
    """What a bend sees of some points.

    Attributes
    ----------
    score : array of shape (n_points,)
        f of the machine fitted before.
    distances : array of shape (n_points, n_anchors)
        Squared distances to the bend's anchors; no columns for a bend without anchors.
    """

    score: Vector
    distances: Array


@dataclass(frozen=True)
class Slopes:
    """Derivatives of log D: by the score, shape (n_points,), and by each squared distance, (n_points, n_anchors)."""

    by_score: Vector
    by_distance: Array


@dataclass(frozen=True)
class Bend:
    """Base of the bends.

    Attributes
    ----------
    space : {"none", "feature", "input"}
        Where the distances to the anchors are measured.
    """

    space: ClassVar[str] = "none"

    @property
    def anchors(self) -> NDArray[np.int64]:
        """Rows whose distances the bend asks for."""
        return NO_ANCHORS

    def moved(self, position: NDArray[np.int64]) -> Bend:
        """The same bend where row i stands at position[i]."""
        return self

    def log_factor(self, sight: Sight) -> Vector:
        """log D at the points of a sight."""
        raise NotImplementedError

    def slopes(self, sight: Sight) -> Slopes:
        """Derivatives of log D at the points of a sight."""
        raise NotImplementedError
