"""A tolerance in units of the scores' own spread.

Solves
    A programme without a linear term has no unit of its own: where the (reduced) hulls of two classes nearly touch, all
    scores Kβ shrink towards each other, and a KKT violation of 1e-3 may be a thousand times their spread. Their ranking
    is then noise. Here the violation is brought below tol times the standard deviation of the scores.
Given
    A ``Problem``, whose boxes are the weights of its points, and a solver with an absolute tolerance. It is called in
    turns with a Newton step over the variables inside their box (``polish``), which does the rest where hulls touch.
Returns
    ``Solution`` of the last solve, its steps counted over all of them; "optimal" means in the relative sense.
Stops when
    violation ≤ tol · spread, or one of the two is no more than rounding, or float64 allows no further progress, or the
    steps run out: max_iter where the user gives one, otherwise ``PATIENCE`` steps per point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from askew.qp import Problem, Solution, Status
from askew.qp.problem import Vector
from askew.solvers.newton.active_set import polish

PATIENCE = 200
EQUAL = 1e4  # scores whose spread is less than this many roundings are equal: the hulls touch
MANY = 4  # steps per point after which a solver is interrupted for a Newton step
PROGRESS = 1e-6  # of the objective, which is ½‖w‖² ≥ 0: less is none
FIRST = 0.3  # of tol · mean K_ii: most problems are done there, and none has lost much


def spread(problem: Problem, scores: Vector) -> float:
    """Standard deviation of the scores Kβ over the points, each counted by the size of its box."""
    weight = np.minimum(problem.upper - problem.lower, 1e300)
    total = float(weight.sum())
    if not total > 0:
        return 0.0
    return float(np.sqrt(max(0.0, float(weight @ (scores - weight @ scores / total) ** 2) / total)))


def relative_violation(problem: Problem, solution: Solution) -> float:
    """KKT violation in units of the spread of the scores; infinite where all scores are equal and it is not 0."""
    return _in_units(solution, spread(problem, solution.gradient - problem.linear))


def _in_units(solution: Solution, unit: float) -> float:
    violation = max(0.0, solution.certificate.violation)
    if violation == 0.0:
        return 0.0
    return violation / unit if unit > 0 else np.inf


def solve_relative(
    problem: Problem,
    solve: Callable[..., Solution],
    *,
    start: Vector | None = None,
    start_scores: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    patience: int = PATIENCE,
) -> Solution:
    """Solve ``problem`` until its violation is at most ``tol`` times the spread of the scores.

    Parameters
    ----------
    problem : Problem
    solve : callable
        ``solve(problem, start=, tol=, max_iter=) -> Solution`` with an absolute tolerance; it must take
        ``start_scores`` too when that is given here.
    start : array of shape (n,), optional
    start_scores : array of shape (n,), optional
        K times ``start``, when it is at hand.
    tol : float
    max_iter : int
        Limit of steps over all solves; -1 for ``patience`` steps per point.
    patience : int
    """
    goal = _first_goal(problem, start_scores, tol)
    limit = max_iter if max_iter >= 0 else max(patience * problem.n, 50_000)
    known = {} if start_scores is None else {"start_scores": start_scores}
    steps, rounds, stalled_at = 0, 0, np.inf
    while True:
        allowed = min(limit - steps, max(MANY * problem.n, 1_000))
        solution = solve(problem, start=start, tol=goal, max_iter=allowed, **known)
        steps, rounds, known = steps + solution.n_iter, rounds + solution.n_outer, {}
        unit, finest = spread(problem, solution.gradient - problem.linear), _rounding(problem, solution)
        is_good = _in_units(solution, unit) <= tol
        is_slow = not solution.status.has_converged
        has_stalled = solution.status is Status.STALLED
        is_stuck = has_stalled and solution.objective > (1.0 - PROGRESS) * stalled_at  # Newton did not help it on
        is_done = is_good or solution.certificate.violation <= finest or unit < EQUAL * finest
        if is_done or steps >= limit or is_stuck:
            break
        stalled_at = solution.objective if has_stalled else np.inf
        start = polish(problem, solution.beta, solution.gradient) if is_slow else solution.beta
        goal = max(finest, min(0.5 * tol * unit, goal if is_slow else 0.1 * goal))
    return replace(solution, n_iter=steps, n_outer=rounds, status=_status(solution, is_good, steps >= limit))


def _rounding(problem: Problem, solution: Solution) -> float:
    """What float64 leaves of Kβ when everything in it cancels."""
    size = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
    return 1e-16 * size * float(np.abs(solution.beta).sum())


def _first_goal(problem: Problem, start_scores: Vector | None, tol: float) -> float:
    """An absolute tolerance to begin with: what a neighbour's scores suggest, or one in units of K."""
    unit = FIRST * (float(np.mean(np.abs(problem.matrix.diagonal()))) or 1.0)
    if start_scores is not None:
        unit = min(unit, 0.7 * spread(problem, start_scores)) or unit
    return tol * unit


def _status(solution: Solution, is_good: bool, has_run_out: bool) -> Status:
    if not is_good:
        return Status.MAX_ITER if has_run_out else Status.STALLED
    return Status.STATIONARY if solution.status is Status.STATIONARY else Status.OPTIMAL
