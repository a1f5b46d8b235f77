"""A feasible point near a given one.

Solves
    Given β₀ of any kind (zeros, the solution at other bounds, a neighbour on a path), the point of the box nearest to
    it in each coordinate, then moved as little as needed until the sums hold: entries that were non-zero move first,
    since scaling what is there keeps a warm start warm.
Given
    A ``Problem`` and β₀, or nothing: then the variables are filled in their order, whole ones first, so that few
    are strictly inside their box. With the gradient at β₀ the sums are mended by the variables that ask for it most.
Returns
    β with lower ≤ β ≤ upper and exact sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.qp import Problem

Vector = NDArray[np.float64]
ROUNDING = 1e-12


def feasible_start(problem: Problem, near: Vector | None = None, gradient: Vector | None = None) -> Vector:
    """A feasible β, as near to ``near`` as the sums allow; ``gradient`` is Kβ + p there, when it is at hand."""
    wanted = np.zeros(problem.n) if near is None else np.asarray(near, dtype=np.float64)
    beta, slack = np.clip(wanted, problem.lower, problem.upper), problem.constraint.slack
    for mine, total in zip(problem.members(), problem.constraint.totals, strict=True):
        part = beta[mine]
        missing = total - part.sum()
        if slack is not None:
            missing = missing - np.clip(missing, *slack)
        if missing == 0.0:
            continue
        lower, upper = problem.lower[mine], problem.upper[mine]
        if abs(missing) <= ROUNDING * abs(total):
            room = np.minimum(upper - part, part - lower)
            most = int(np.argmax(room))
            if abs(missing) <= room[most]:  # no more than rounding: whoever has most room takes it
                part[most] += missing
                beta[mine] = part
                continue
        order = _order(part, missing, None if gradient is None else gradient[mine])
        beta[mine] = _shift(part, lower, upper, missing, order)
    return beta


def _order(beta: Vector, missing: float, gradient: Vector | None) -> NDArray[np.int64]:
    """Who moves first: the least reluctant by the gradient; without one, those that have moved already."""
    if gradient is not None:
        return np.argsort(np.copysign(1.0, missing) * gradient, kind="stable")
    has_moved = beta != 0
    return np.concatenate([np.flatnonzero(has_moved), np.flatnonzero(~has_moved)])


def _shift(beta: Vector, lower: Vector, upper: Vector, missing: float, order: NDArray[np.int64]) -> Vector:
    """Raise (or lower) entries in turn until their sum has moved by ``missing``."""
    room = (upper - beta if missing > 0 else beta - lower)[order]
    reach = np.cumsum(np.minimum(room, 1e300))
    full = int(np.searchsorted(reach, abs(missing)))
    movers, moves = order[: full + 1], room[: full + 1]
    if full < len(beta):
        moves[full] = abs(missing) - (reach[full - 1] if full else 0.0)
    moved = beta.copy()
    moved[movers] = np.clip(beta[movers] + np.copysign(moves, missing), lower[movers], upper[movers])
    return moved
