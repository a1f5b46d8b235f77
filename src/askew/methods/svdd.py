"""Support vector data description: the smallest ball around the data.

Solves
    minimise R² + (1/(νN)) Σ ξ_i   subject to   ‖φ(x_i) − a‖² ≤ R² + ξ_i,  ξ ≥ 0.
    Dual: minimise α'Kα − Σ α_i K_ii,  0 ≤ α_i ≤ 1/(νN),  Σα = 1. With β = sα, s = νN, and the objective times s²/2:
        minimise ½ β'Kβ − (s/2) Σ β_i K_ii,   0 ≤ β_i ≤ weight_i,   Σβ = s,   N the sum of the weights.
Given
    K on the points, ν in (0, 1], sample weights (1 each by default).
Returns
    score(x) = R² − ‖φ(x) − a‖² with a = Σ α_i φ(x_i): ≥ 0 inside the ball. It is
        2 Σ α_i k(x_i, x) − k(x, x) + offset,   offset = R² − α'Kα,
    where inside the box the gradient (Kβ)_i − (s/2)K_ii equals λ, hence R² = α'Kα − 2λ/s.
    For kernels with a constant diagonal (rbf) it ranks as the one-class SVM does.
Reference
    Tax and Duin (2004), Machine Learning 54:45.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.methods.boundary import boundary_multiplier
from askew.methods.expansion import Expansion
from askew.qp import Problem, Solution, Sum, SymmetricMatrix

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Ball:
    """The ball: its centre as an expansion, α'Kα, and its squared radius."""

    centre: Expansion
    centre_norm: float
    squared_radius: float


def formulate(matrix: SymmetricMatrix, nu: float, weight: Vector) -> Problem:
    """The dual programme at outlier fraction ν."""
    size = nu * float(weight.sum())
    return Problem(matrix, -0.5 * size * matrix.diagonal(), np.zeros(matrix.n), weight, Sum(size))


def recover(problem: Problem, solution: Solution) -> Ball:
    """Centre and radius of a solved programme."""
    size = problem.constraint.totals[0]
    alpha = solution.beta / size
    centre_norm = float(alpha @ (solution.gradient - problem.linear)) / size
    return Ball(
        centre=Expansion.of(alpha, 0.0),
        centre_norm=centre_norm,
        squared_radius=max(0.0, centre_norm - 2.0 * boundary_multiplier(problem, solution) / size),
    )
