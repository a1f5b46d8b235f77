"""Asymmetric kernel scaling (AKS): space is stretched along the boundary, differently on its two sides.

Solves
    D(x) = exp(−k₊ f(x)² / max f²) where f(x) ≥ 0 and exp(−k₋ f(x)² / max f²) elsewhere. The k's belong to roles:
    k_majority rules the side where f says majority, k_minority the other. k_majority = k_minority is KS.
Given
    The score f of the machine fitted before, on the training rows; which side the majority is on; the k's ≥ 0.
Reference
    Maratea and Petrosino, eq. 9, with k / max f² for their k. They ask for a larger k on the majority's side and
    report a smaller one as best, hence the names by role and no order between the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askew.kernels.bends.bend import Bend, Sight, Slopes, Vector
from askew.kernels.bends.symmetric import score_unit


@dataclass(frozen=True)
class Asymmetric(Bend):
    """D = exp(−rate f²) with a rate for each sign of f.

    Parameters
    ----------
    positive_rate, negative_rate : float
        k / max f² where f ≥ 0, and where f < 0.
    """

    positive_rate: float
    negative_rate: float

    @classmethod
    def of(cls, score: Vector, majority_sign: float, k_majority: float, k_minority: float) -> Asymmetric:
        """The bend for the training scores of a machine whose majority scores with ``majority_sign``."""
        unit = score_unit(score)
        majority, minority = k_majority / unit, k_minority / unit
        return cls(majority, minority) if majority_sign > 0 else cls(minority, majority)

    def log_factor(self, sight: Sight) -> Vector:
        return -self._rate(sight) * sight.score**2

    def slopes(self, sight: Sight) -> Slopes:
        return Slopes(-2.0 * self._rate(sight) * sight.score, np.zeros_like(sight.distances))

    def _rate(self, sight: Sight) -> Vector:
        return np.where(sight.score >= 0, self.positive_rate, self.negative_rate)
