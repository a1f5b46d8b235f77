"""A tolerance in units of the spread of the scores.

Solves
    A programme without a linear term has no unit of its own: where the (reduced) hulls of two classes nearly touch, all
    scores Kβ shrink towards each other, and a KKT violation of 1e-3 may be a thousand times their spread. Their ranking
    is then noise. Here the violation is brought below tol times the standard deviation of the scores.
Given
    A ``Problem``, whose boxes are the weights of its points, and a route with an absolute tolerance. It is taken in
    turns with a Newton step over the variables inside their box (``newton.active_set``), which does the rest where
    hulls touch.
Returns
    ``Solution`` of the last solve, its steps counted over all of them; "optimal" means in the relative sense.
Stops when
    violation ≤ tol · spread, or one of the two is no more than rounding, or float64 allows no further progress, or the
    steps run out: max_iter where the user gives one, otherwise ``STEPS_PER_POINT``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from askew.qp import Problem, Solution, Status, relative_violation, spread
from askew.solvers.newton.active_set import polish
from askew.solvers.request import Kept, Request

if TYPE_CHECKING:
    from askew.solvers.routes import Route

STEPS_PER_POINT = 200  # until the steps run out where the user gives no limit
FEWEST_STEPS = 50_000  # whatever the number of points
ROUNDING = 1e-16  # of K_ii Σ|β|: what float64 leaves of Kβ when everything in it cancels
EQUAL = 1e4  # scores whose spread is less than this many roundings are equal: the hulls touch
TURN = 4  # steps per point after which a route is interrupted for a Newton step, and no fewer than
SHORTEST_TURN = 1_000
PROGRESS = 1e-6  # of the objective, which is ½‖w‖² ≥ 0: less is none
FIRST = 0.3  # of tol · mean K_ii: most problems are done there, and none has lost much
NEIGHBOUR = 0.7  # of the spread of a neighbour's scores: where they are known, the first tolerance is in units of that


def solve_to_spread(problem: Problem, request: Request, route: Route, kept: Kept) -> Solution:
    """Solve ``problem`` until its violation is at most ``request.tol`` times the spread of the scores."""
    tol, max_iter = request.tol, request.max_iter
    goal, start, scores = _first_goal(problem, request), request.start, request.start_scores
    limit = max_iter if max_iter >= 0 else max(STEPS_PER_POINT * problem.n, FEWEST_STEPS)
    steps, rounds, stalled_at = 0, 0, np.inf
    while True:
        allowed = min(limit - steps, max(TURN * problem.n, SHORTEST_TURN))
        solution = route.run(
            problem, replace(request, start=start, start_scores=scores, tol=goal, max_iter=allowed), kept
        )
        steps, rounds, scores = steps + solution.n_iter, rounds + solution.n_outer, None
        unit, finest = spread(problem, solution.gradient - problem.linear), _rounding(problem, solution)
        is_good = relative_violation(problem, solution) <= tol
        is_slow = not solution.status.has_converged
        has_stalled = solution.status is Status.STALLED
        is_stuck = has_stalled and solution.objective > (1.0 - PROGRESS) * stalled_at  # Newton did not help it on
        is_done = is_good or solution.certificate.violation <= finest or unit < EQUAL * finest
        if is_done or steps >= limit or is_stuck or solution.status is Status.STOPPED:
            break
        stalled_at = solution.objective if has_stalled else np.inf
        start = polish(problem, solution.beta, solution.gradient) if is_slow else solution.beta
        goal = max(finest, min(0.5 * tol * unit, goal if is_slow else 0.1 * goal))
    return replace(solution, n_iter=steps, n_outer=rounds, status=_status(solution, is_good, steps >= limit))


def _rounding(problem: Problem, solution: Solution) -> float:
    size = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
    return ROUNDING * size * float(np.abs(solution.beta).sum())


def _first_goal(problem: Problem, request: Request) -> float:
    """An absolute tolerance to begin with: what a neighbour's scores suggest, or one in units of K."""
    unit = FIRST * (float(np.mean(np.abs(problem.matrix.diagonal()))) or 1.0)
    if request.start_scores is not None:
        unit = min(unit, NEIGHBOUR * spread(problem, request.start_scores)) or unit
    return request.tol * unit


def _status(solution: Solution, is_good: bool, has_run_out: bool) -> Status:
    """What the last solve says, in the relative sense."""
    if solution.status is Status.STOPPED:
        return solution.status
    if not is_good:
        return Status.MAX_ITER if has_run_out else Status.STALLED
    return Status.STATIONARY if solution.status is Status.STATIONARY else Status.OPTIMAL
