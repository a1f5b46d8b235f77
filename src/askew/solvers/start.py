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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.qp import Problem

Vector = NDArray[np.float64]
ROUNDING = 1e-12


def feasible_start(problem: Problem, near: Vector | None = None, gradient: Vector | None = None) -> Vector:
    """A feasible β, as near to ``near`` as the sums allow; ``gradient`` is Kβ + p there, when it is at hand."""
    wanted = np.zeros(problem.n) if near is None else np.asarray(near, dtype=np.float64)
    beta = np.clip(wanted, problem.lower, problem.upper)
    labels, slack = problem.constraint.labels(problem.n), problem.constraint.slack
    for g, total in enumerate(problem.constraint.totals):
        mine = np.flatnonzero(labels == g)
        missing = total - beta[mine].sum()
        if slack is not None:
            missing = missing - np.clip(missing, *slack)
        room = np.minimum(problem.upper[mine] - beta[mine], beta[mine] - problem.lower[mine])
        if 0.0 < abs(missing) <= min(ROUNDING * abs(total), float(np.max(room, initial=0.0))):
            beta[mine[np.argmax(room)]] += missing  # no more than rounding: whoever has most room takes it
        elif missing != 0.0:
            reluctance = beta[mine] == 0 if gradient is None else np.copysign(1.0, missing) * gradient[mine]
            beta[mine] = _shift(beta[mine], problem.lower[mine], problem.upper[mine], missing, reluctance)
    return beta


def _shift(beta: Vector, lower: Vector, upper: Vector, missing: float, reluctance: NDArray[Any]) -> Vector:
    """Raise (or lower) entries in turn, the least reluctant first, until their sum has moved by ``missing``."""
    room = upper - beta if missing > 0 else beta - lower
    order = np.argsort(reluctance, kind="stable")
    reach = np.cumsum(np.minimum(room[order], 1e300))
    amount = abs(missing)
    full = int(np.searchsorted(reach, amount))
    moves = np.zeros(len(beta))
    moves[order[:full]] = room[order[:full]]
    if full < len(beta):
        moves[order[full]] = amount - (reach[full - 1] if full else 0.0)
    return np.clip(beta + np.copysign(moves, missing), lower, upper)
