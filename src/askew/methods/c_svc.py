"""The C-support vector classifier, with a cost per point.

Solves
    minimise ½‖w‖² + Σ C_i ξ_i   subject to   y_i (w'φ(x_i) + b) ≥ 1 − ξ_i,  ξ ≥ 0.
    Dual in signed variables β = y∘α:   minimise ½ β'Kβ − y'β,   β_i between 0 and y_i C_i,   Σβ = 0.
Given
    K on the points, y in {−1, +1}, and C_i > 0: the cost, times class weight, times sample weight.
Returns
    score(x) = Σ β_i k(x_i, x) + b, with b = −λ: inside the box the gradient (Kβ − y)_i equals λ, so the score is y_i.
Reference
    Cortes and Vapnik (1995), Machine Learning 20:273.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.methods.expansion import Expansion
from askew.qp import Problem, Solution, Sum, SymmetricMatrix

Vector = NDArray[np.float64]


def formulate(matrix: SymmetricMatrix, y: Vector, cost: Vector) -> Problem:
    """The dual programme for labels y = ±1 and a cost per point."""
    reach = y * cost
    return Problem(matrix, -y, np.minimum(reach, 0.0), np.maximum(reach, 0.0), Sum(0.0))


def recover(solution: Solution) -> Expansion:
    """The score of a solved programme."""
    return Expansion.of(solution.beta, -solution.multipliers[0])
