"""Where a one-class score is zero.

Solves
    In a one-class programme the points strictly inside their box lie on the boundary. A solver leaves their gradients
    equal only up to its tolerance; the boundary is put under the lowest of them (and a rounding error lower, so that
    scoring a training row in another order of summation does not cross it). Then no point is outside unless it is at
    its upper bound, and the fraction outside is at most ν at any tolerance.
Given
    A solved programme.
Returns
    The multiplier λ to read the offset from; the middle of the KKT interval when no point is inside its box.
"""

from __future__ import annotations

import numpy as np

from askew.qp import Problem, Solution

ROUNDING = 1e-11


def boundary_multiplier(problem: Problem, solution: Solution) -> float:
    """λ such that every point strictly inside its box scores ≥ 0."""
    inside = (solution.beta > problem.lower) & (solution.beta < problem.upper)
    if not inside.any():
        return solution.multipliers[0]
    scale = float(np.max(np.abs(solution.gradient)) + np.max(np.abs(problem.linear)))
    return float(np.min(solution.gradient[inside])) - ROUNDING * scale
