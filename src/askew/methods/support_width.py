"""The kernel width beyond which support vectors do not become fewer.

Solves
    For a one-class machine with the rbf kernel, the largest γ (the smallest σ) at which the fraction of support vectors
    is still the least there is. Narrower kernels make every point its own support; wider ones say nothing more.
Given
    The kernel at a given γ, ν, weights, a unit for γ, and ``solve(problem, start) → Solution``.
Returns
    γ, and the fractions met on the way.
Stops when
    walking from the widest kernel (unit / 64) in factors of 2, the fraction exceeds the least one seen by more than
    0.01 (or two points, if that is more), or at 64 units; then two halvings of the last factor.
    Support vectors are counted as the points on or outside the boundary: unlike β, these are unique at the optimum.
Reference
    Khan, Ksantini, Ahmad, Guan, Incorporating covariance information in one class SVC, section 4;
    Schölkopf et al. (2001), section 5, for the fraction as a guide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.methods import one_class
from askew.qp import Problem, Solution, SymmetricMatrix

Vector = NDArray[np.float64]

WIDEST, NARROWEST = -6, 6
HALVINGS = 2
ROOM = 0.01


@dataclass(frozen=True)
class Width:
    """One γ and the fraction of support vectors there."""

    gamma: float
    support_fraction: float


def choose_width(
    matrix_at: Callable[[float], SymmetricMatrix],
    nu: float,
    weight: Vector,
    unit: float,
    solve: Callable[[Problem, Vector | None], Solution],
) -> tuple[float, tuple[Width, ...]]:
    """γ by the rule, and the path walked, from wide to narrow."""
    met: dict[float, float] = {}
    room = max(ROOM, 2.0 / float(weight.sum()))
    start = None

    def is_least(power: float) -> bool:
        nonlocal start
        problem = one_class.formulate(matrix_at(unit * 2.0**power), nu, weight)
        solution = solve(problem, start)
        start = solution.beta
        met[power] = support_fraction(problem, solution)
        return met[power] <= min(met.values()) + room

    powers = [float(power) for power in range(WIDEST, NARROWEST + 1)]
    beyond = next((power for power in powers if not is_least(power)), None)
    kept = powers[-1] if beyond is None else beyond - 1.0
    if beyond is not None:
        for _ in range(HALVINGS):
            middle = 0.5 * (kept + beyond)
            kept, beyond = (middle, beyond) if is_least(middle) else (kept, middle)
    return unit * 2.0**kept, tuple(Width(unit * 2.0**p, met[p]) for p in sorted(met))


def support_fraction(problem: Problem, solution: Solution) -> float:
    """Weight of the points on or outside the boundary, as a fraction."""
    inside = (solution.beta > problem.lower) & (solution.beta < problem.upper)
    level = np.max(solution.gradient[inside]) if inside.any() else solution.multipliers[0]
    level += 1e-9 * float(np.max(np.abs(solution.gradient)))
    return float(problem.upper @ (solution.gradient <= level)) / float(problem.upper.sum())
