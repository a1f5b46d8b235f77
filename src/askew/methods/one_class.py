"""The one-class support vector machine.

Solves
    minimise ½‖w‖² − ρ + (1/(νN)) Σ ξ_i   subject to   w'φ(x_i) ≥ ρ − ξ_i,  ξ ≥ 0.
    Dual, scaled by νN as LIBSVM does so that the box does not shrink with N:
        minimise ½ β'Kβ,   0 ≤ β_i ≤ s_i,   Σβ = ν Σs,
    with s the sample weights (1 each by default; N is their sum, so a weight equals repetition).
Given
    K on the points, ν in (0, 1], s.
Returns
    score(x) = Σ β_i k(x_i, x) − ρ, with ρ = λ the common gradient inside the box: score ≥ 0 is an inlier.
Reference
    Schölkopf et al. (2001), Neural Computation 13:1443.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.methods.boundary import boundary_multiplier
from askew.methods.expansion import Expansion
from askew.qp import Problem, Solution, Sum, SymmetricMatrix

Vector = NDArray[np.float64]


def formulate(matrix: SymmetricMatrix, nu: float, weight: Vector) -> Problem:
    """The dual programme at outlier fraction ν."""
    return Problem(matrix, np.zeros(matrix.n), np.zeros(matrix.n), weight, Sum(nu * float(weight.sum())))


def recover(problem: Problem, solution: Solution) -> Expansion:
    """The score of a solved programme; its offset ρ is minus the intercept."""
    return Expansion.of(solution.beta, -boundary_multiplier(problem, solution))
