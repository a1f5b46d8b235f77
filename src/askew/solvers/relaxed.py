"""A box and a sum that may not exceed a total: the box alone first.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper,  Σβ ≤ total   (constraint ``SumAtMost``).
Given
    A ``Problem`` whose box alone another route solves fast. Where that solution has no more than the total, it is the
    answer; else the sum binds, and pairs of variables keep it from there on.
Returns
    ``Solution``, at the optimum to rounding where that costs little (``newton.interior.settle``).
Stops when
    the route of the box does, or the working-set method.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from askew.qp import Ability, Problem, Solution, certify
from askew.solvers.newton.interior import settle
from askew.solvers.request import Kept, Request
from askew.solvers.routes import route_of, without_sum

SETTLED_ENTRIES = 2**24  # of points up to which a pass or two more over them are not felt
SETTLED_INFEASIBILITY = 1e-12  # of a settled point at most: sums are met to rounding, or it is not taken


def solve_relaxed(problem: Problem, request: Request, kept: Kept) -> Solution:
    """The box alone; where its solution has too large a sum, the sum binds and pairs of variables keep it."""
    box, total = without_sum(problem), problem.constraint.totals[0]
    found = route_of(box).run(box, request, kept)
    if found.beta.sum() <= total:
        found = replace(found, certificate=certify(problem, found.beta, found.gradient))
    else:
        found = route_of(problem, route="by_rows").run(problem, replace(request, start=found.beta), kept)
    return _settled(problem, found)


def _settled(problem: Problem, found: Solution) -> Solution:
    """The optimum to rounding next to a solution, where that costs little: its points are dense and few.

    Pairs of variables end somewhere within tol, and where depends on the rounding of the data.
    """
    if Ability.POINTS not in problem.matrix.abilities or not found.status.has_converged:
        return found
    points = problem.matrix.inner_points().rows  # type: ignore[attr-defined]
    if not isinstance(points, np.ndarray) or points.size > SETTLED_ENTRIES:
        return found
    total = problem.constraint.totals[0] if found.multipliers[0] < 0 else None
    beta = settle(points, problem.linear, problem.lower, problem.upper, found.beta, total)
    if beta is None:
        return found
    gradient = problem.gradient(beta)
    verdict = certify(problem, beta, gradient)
    is_better = verdict.violation <= found.certificate.violation and verdict.infeasibility <= SETTLED_INFEASIBILITY
    return replace(found, beta=beta, gradient=gradient, certificate=verdict) if is_better else found
