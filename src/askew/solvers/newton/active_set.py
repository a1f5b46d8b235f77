"""A Newton step over the variables strictly inside their box.

Solves
    minimise ½ δ'Kδ + g'δ over the variables F that are strictly inside, Σδ = 0 in each group, β + δ within the box:
    the step is cut where it meets the box, the variables that meet it (or soon would) stay there, and the rest go on.
    Pairs of variables, which is all SMO moves, take thousands of steps where K is badly conditioned (wide kernels,
    hulls that nearly touch); there one factorisation of K_FF does what they do not.
Given
    A ``Problem`` whose sums are equalities, β and its gradient, at most ``LARGEST`` variables inside.
Returns
    β, no worse in objective up to rounding; β itself where there is nothing to do or K_FF is not positive definite.
Reference
    Nocedal and Wright (2006), Numerical Optimization, section 16.5 (active-set methods).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from askew.qp import Problem
from askew.qp.problem import Vector

LARGEST = 1500
_CUTS = 100  # how often the step may meet the box before SMO is the better tool,
_WORK = 3e9  # and how many operations the factorisations may take
_NEAR = 3.0  # variables that would meet it within this multiple of the cut stay too: fewer factorisations, same end
_RIDGE = 1e-14


def polish(problem: Problem, beta: Vector, gradient: Vector) -> Vector:
    """Move the variables inside their box to the optimum over them, as far as the box allows."""
    inside = np.flatnonzero((beta > problem.lower) & (beta < problem.upper))
    if not 2 <= len(inside) <= LARGEST or problem.constraint.slack is not None:
        return beta
    K = problem.matrix.block(inside, np.float64)
    labels = problem.constraint.labels(problem.n)[inside]
    position, g = beta[inside], gradient[inside]
    lower, upper = problem.lower[inside], problem.upper[inside]
    free = np.ones(len(inside), dtype=bool)
    for _ in range(int(min(_CUTS, 1 + _WORK / (len(inside) ** 3 / 3)))):
        direction = _newton(K[np.ix_(free, free)], g[free], labels[free])
        if direction is None:
            break
        step = np.zeros(len(inside))
        step[free] = direction
        shares = _shares(position, step, lower, upper)
        length = min(1.0, float(shares.min()))
        position = np.clip(position + length * step, lower, upper)
        g = g + length * (K @ step)
        if length == 1.0:
            break
        met = shares == length
        position[met] = np.where(step > 0, upper, lower)[met]
        free[shares <= min(1.0, _NEAR * length)] = False
    polished = beta.copy()
    polished[inside] = position
    return polished


def _newton(K: Vector, g: Vector, labels: NDArray[np.int64]) -> Vector | None:
    """δ at the minimum of ½ δ'Kδ + g'δ with the sum of each group kept, or None."""
    if len(g) < 2:
        return None
    K = K.copy()
    K.flat[:: len(g) + 1] += _RIDGE * np.trace(K)
    sums = (labels[:, None] == np.unique(labels)).astype(np.float64)
    try:
        solved = cho_solve(cho_factor(K, overwrite_a=True, check_finite=False), np.column_stack([g, sums]))
        multipliers = np.linalg.solve(sums.T @ solved[:, 1:], sums.T @ solved[:, 0])
    except (LinAlgError, np.linalg.LinAlgError):
        return None
    direction = solved[:, 1:] @ multipliers - solved[:, 0]
    is_usable = np.isfinite(direction).all() and g @ direction < 0
    return direction if is_usable else None


def _shares(position: Vector, step: Vector, lower: Vector, upper: Vector) -> Vector:
    """How much of the step each variable can take before it meets its box."""
    room = np.where(step > 0, upper - position, lower - position)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(step != 0, np.maximum(room / step, 0.0), np.inf)
