"""Kernel scaling (KS): space is stretched along the boundary, alike on both sides.

Solves
    D(x) = exp(−k f(x)² / max f²), the maximum over the training rows: 1 on the boundary f = 0, e^−k at the row
    farthest from it. In these units one k means the same for every data set and every C.
Given
    The score f of the machine fitted before, on the training rows, and k ≥ 0.
Reference
    Williams, Li, Feng, Wu (2005), ISNN, LNCS 3496:831; Maratea and Petrosino, eq. 8, with k / max f² for their k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askew.kernels.bends.bend import Bend, Sight, Slopes, Vector


def score_unit(score: Vector) -> float:
    """max f² over the training rows; 1 where the score is zero everywhere and no k can matter."""
    return float(np.max(score**2, initial=0.0)) or 1.0


@dataclass(frozen=True)
class Symmetric(Bend):
    """D = exp(−rate f²).

    Parameters
    ----------
    rate : float
        k / max f².
    """

    rate: float

    @classmethod
    def of(cls, score: Vector, k: float) -> Symmetric:
        """The bend for the training scores of a machine."""
        return cls(k / score_unit(score))

    def log_factor(self, sight: Sight) -> Vector:
        return -self.rate * sight.score**2

    def slopes(self, sight: Sight) -> Slopes:
        return Slopes(-2.0 * self.rate * sight.score, np.zeros_like(sight.distances))
