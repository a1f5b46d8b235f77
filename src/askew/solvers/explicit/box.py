"""A box alone, and a matrix small enough to form: coordinate descent that Newton steps finish.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   (constraint ``Free``).
    Rounds of greedy coordinate descent (``coordinate.sweeps``) find which variables sit at a bound; between rounds one
    Newton step over the variables strictly inside, cut where it meets the box, does what coordinates do slowly when K
    is badly conditioned.
Given
    A ``Problem`` whose K fits in memory (it is read whole, once); or many, side by side or one after the other.
Returns
    ``Solution``; n_iter counts coordinate steps, n_outer the rounds between Newton steps.
Stops when
    the KKT violation is at most tol on a gradient computed anew, after max_iter coordinate steps, or when neither kind
    of step moves any more.
Reference
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.qp import Ability, Certificate, Problem, Solution, certify
from askew.qp.problem import Vector
from askew.solvers.explicit.box_rounds import LIMITED, curvatures, solve_box
from askew.solvers.request import Kept, Request
from askew.solvers.status import judge
from askew.threads import workers


def solve_formed(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem``, box only, to a KKT violation of ``request.tol``; K stays formed for the next solve."""
    if kept.whole is None or kept.whole[0] is not problem.matrix:
        kept.whole = problem.matrix, form(problem.matrix)
    start = np.zeros(problem.n) if request.start is None else request.start
    beta, g = np.clip(start, problem.lower, problem.upper), np.empty(problem.n)
    box = (problem.linear, problem.lower, problem.upper)
    steps, rounds, ending = solve_box(kept.whole[1], *box, beta, g, request.tol, request.step_limit)
    certificate = certify(problem, beta, g)
    status = judge(problem, certificate, request.tol, has_run_out=ending == LIMITED)
    return Solution(beta, g, status, certificate, steps, rounds, {})


def form(matrix: Any) -> Vector:
    """K as a float64 array: the one that is stored, the products of all points, or all rows."""
    if Ability.WHOLE in matrix.abilities and not len(matrix.bend):
        return np.asarray(matrix.whole(np.float64))
    filled = matrix.filled() if Ability.POINTS in matrix.abilities else matrix.rows(np.arange(matrix.n))
    return np.asarray(filled)


def solve_boxes(problems: Sequence[Problem], tols: Vector, max_iter: int, in_turn: bool) -> list[Solution]:
    """Solve many programmes, box only, with little done besides; each ends as ``solve_formed`` would end it."""
    if not problems:
        return []
    first = np.concatenate([[0], np.cumsum([problem.n for problem in problems])])
    p, lower, upper = (np.concatenate([getattr(q, name) for q in problems]) for name in ("linear", "lower", "upper"))
    beta, g, endings = np.clip(0.0, lower, upper), np.empty(len(p)), np.empty((len(problems), 3), np.int64)
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    formed = {id(problem.matrix): problem.matrix for problem in problems}
    arrays = {key: form(matrix) for key, matrix in formed.items()}
    diagonals = {key: curvatures(K) for key, K in arrays.items()}

    def work(begin: int, end: int) -> None:
        for k in range(begin, end):
            mine, key = slice(first[k], first[k + 1]), id(problems[k].matrix)
            if in_turn and k > 0:
                np.clip(beta[first[k - 1] : first[k]], lower[mine], upper[mine], out=beta[mine])
            endings[k] = solve_box(
                arrays[key], p[mine], lower[mine], upper[mine], beta[mine], g[mine], tols[k], limit, diagonals[key]
            )

    if in_turn:
        work(0, len(problems))
    else:
        with workers() as pool:
            pool.map(work, _shares(first, 2 * pool.count))
    found = []
    for k, (violation, gap, objective) in enumerate(_judged(first, p, lower, upper, beta, g)):
        mine, (steps, rounds, ending) = slice(first[k], first[k + 1]), endings[k].tolist()
        certificate = Certificate(objective, violation, gap, 0.0, (0.0,))
        status = judge(problems[k], certificate, tols[k], has_run_out=ending == LIMITED)
        found.append(Solution(beta[mine], g[mine], status, certificate, steps, rounds, {}, "box"))
    return found


def _judged(
    first: NDArray[np.int64], p: Vector, lower: Vector, upper: Vector, beta: Vector, g: Vector
) -> list[tuple[float, float, float]]:
    """Violation, gap and objective of every programme, as ``certify`` has them, all at once.

    The gradient was computed anew; no sum binds, so every multiplier is 0.
    """
    starts = first[:-1]
    high = np.maximum.reduceat(np.where(beta > lower, g, 0.0), starts)
    low = np.minimum.reduceat(np.where(beta < upper, g, 0.0), starts)
    bound = np.where(g >= 0.0, lower, upper)
    gap = np.add.reduceat(np.where((g == 0.0) | (beta == bound), 0.0, g * (beta - bound)), starts)
    objective = np.add.reduceat(0.5 * beta * (g + p), starts)
    violation = np.maximum(high, 0.0) - np.minimum(low, 0.0)
    return list(zip(violation.tolist(), gap.tolist(), objective.tolist(), strict=True))


def _shares(first: NDArray[np.int64], parts: int) -> list[tuple[int, int]]:
    """Neighbouring programmes in parts of about the same work, which grows with the square of their variables."""
    work = np.cumsum(np.diff(first).astype(np.float64) ** 2)
    edges = np.unique([0, *np.searchsorted(work, work[-1] * np.arange(1, parts) / parts), len(work)])
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
