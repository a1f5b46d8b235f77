"""A tolerance in units of the scores' own spread.

Solves
    A programme without a linear term has no unit of its own: where the (reduced) hulls of two classes nearly touch, all
    scores Kβ shrink towards each other, and a KKT violation of 1e-3 may be a thousand times their spread. Their ranking
    is then noise. Here the violation is brought below tol times the standard deviation of the scores, wherever they are.
Given
    A ``Problem``, whose boxes are the weights of its points, and a solver with an absolute tolerance.
Returns
    ``Solution`` of the last solve, its steps counted over all of them, and optimal in the relative sense when it says so.
Stops when
    violation ≤ tol · spread, or the solver stalls in float64, or the steps run out: max_iter where the user gives one,
    otherwise ``PATIENCE`` steps per point beyond an absolute tolerance of tol in units of K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from askew.qp import Problem, Solution, Status
from askew.qp.problem import Vector

PATIENCE = 1000
FIRST = 0.1  # of tol · mean K_ii: most problems are done there, and none has lost much


def spread(problem: Problem, solution: Solution) -> float:
    """Standard deviation of the scores Kβ over the points, each counted by the size of its box."""
    weight = np.minimum(problem.upper - problem.lower, 1e300)
    total = float(weight.sum())
    if not total > 0:
        return 0.0
    scores = solution.gradient - problem.linear
    return float(np.sqrt(max(0.0, weight @ (scores - weight @ scores / total) ** 2 / total)))


def relative_violation(problem: Problem, solution: Solution) -> float:
    """KKT violation in units of the spread of the scores; infinite where all scores are equal and it is not 0."""
    violation, unit = max(0.0, solution.certificate.violation), spread(problem, solution)
    if violation == 0.0:
        return 0.0
    return violation / unit if unit > 0 else np.inf


def solve_relative(
    problem: Problem,
    solve: Callable[..., Solution],
    *,
    start: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    patience: int = PATIENCE,
) -> Solution:
    """Solve ``problem`` until its violation is at most ``tol`` times the spread of the scores.

    Parameters
    ----------
    problem : Problem
    solve : callable
        ``solve(problem, start=, tol=, max_iter=) -> Solution`` with an absolute tolerance.
    start : array of shape (n,), optional
    tol : float
    max_iter : int
        Limit of steps over all solves; -1 for none but ``patience``.
    patience : int
        Steps per point spent beyond the first, absolute tolerance when ``max_iter`` sets no limit.
    """
    goal = FIRST * tol * (float(np.mean(np.abs(problem.matrix.diagonal()))) or 1.0)
    steps, rounds, limit = 0, 0, max_iter
    while True:
        solution = solve(problem, start=start, tol=goal, max_iter=limit)
        steps, rounds = steps + solution.n_iter, rounds + solution.n_outer
        is_good = relative_violation(problem, solution) <= tol
        left = (max_iter if max_iter >= 0 else patience * problem.n) - steps
        if is_good or not solution.status.has_converged or left <= 0:
            break
        goal = min(0.5 * tol * spread(problem, solution), 0.1 * goal)
        start, limit = solution.beta, left
    return replace(solution, n_iter=steps, n_outer=rounds, status=_status(solution, is_good))


def _status(solution: Solution, is_good: bool) -> Status:
    if is_good:
        indefinite = solution.status is Status.STATIONARY
        return Status.STATIONARY if indefinite else Status.OPTIMAL
    return Status.MAX_ITER if solution.status.has_converged else solution.status
