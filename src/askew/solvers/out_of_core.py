"""Programmes of low rank whose features do not fit into memory: chunks of the variables, chosen by a pass over all.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and equality sums (``askew.qp``),   K = Z diag(a) Z'.
Given
    A ``Problem`` whose matrix offers ``FACTOR``, and memory for some rows of Z. The first guess comes
    from a sample of the rows, each standing for several: its solution tells nearly every variable which bound it ends
    at. Then, in rounds, a pass over all rows gives the gradient; the variables that violate optimality, those inside
    their box and those next in line form a chunk, whose features are held and whose programme, the rest fixed, is
    solved by ``coordinate.low_rank``. Each round is one pass (m kernel values per row, no projection) and one solve in
    memory. Where more rows change sides than memory holds, chunks undo one another's work. Then all rows move
    together, by Newton steps on a smoothed dual (``newton.smoothed_dual``), and chunks go on from there; each time with
    less smoothing, until what is left of it is below tol.
Returns
    ``Solution``, judged on a float64 gradient of all rows; n_iter counts coordinates and pairs moved.
Stops when
    the KKT violation is at most tol, after max_iter steps, or when neither chunks as large as memory allows nor the
    Newton steps with the least smoothing bring progress.
Reference
    Joachims (1999), Making large-scale SVM learning practical, for the decomposition; Yu, Hsieh, Chang, Lin (2010),
    Large linear classification when data cannot fit in memory, for blocks of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import row_precision
from askew.kernels.recomputed import rows_held
from askew.qp import Certificate, Constraint, GroupSums, Problem, Solution, Status, Sum, certify
from askew.qp.problem import Vector
from askew.solvers.coordinate.low_rank import solve_low_rank
from askew.solvers.newton.smoothed_dual import approach, can_smooth
from askew.solvers.request import Kept, Request
from askew.solvers.start import feasible_start
from askew.solvers.status import judge

Indices = NDArray[np.int64]

SAMPLE = 32_768  # rows of the first guess
LEAST = 16_384  # rows of a chunk at least,
GENEROUS = 3  # and so many times those that must be in it
ACCURACY = 0.05  # of the present violation: what a chunk is solved to
PATIENCE = 15  # rounds that may pass without halving the violation, where nothing can be smoothed,
SHORT = 3  # and where it can
REACH = 8  # the first smoothing reaches that part of the rows that may be held; each further one is as much finer
FINEST = 0.5  # of tol: smoothing that is no longer seen


def solve_out_of_core(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem`` to a KKT violation of ``request.tol``, the features held no more than ``request.memory``."""
    matrix: Any = problem.matrix
    tol, max_iter, on_round = request.tol, request.max_iter, request.on_round
    held = rows_held(request.memory, len(matrix.scales), tol)
    if request.start is not None:
        beta = feasible_start(problem, request.start)
    else:
        beta = guess(problem, min(held, SAMPLE), tol)
    steps, rounds, history, size, delta = 0, 0, [], LEAST, np.inf
    patience = SHORT if can_smooth(problem) else PATIENCE
    gradient = problem.gradient(beta)
    while True:
        verdict = certify(problem, beta, gradient)
        history.append(verdict.violation)
        is_good, is_slow = verdict.violation <= tol, _is_slow(history, patience)
        has_stalled = is_slow and (patience == PATIENCE or delta <= FINEST * tol)
        if is_good or has_stalled or 0 <= max_iter <= steps:
            status = judge(problem, verdict, tol, has_run_out=not has_stalled)
            return Solution(beta, gradient, status, verdict, steps, rounds, {})
        has_stopped = False
        if is_slow:
            reduced = _reduced(problem, gradient, verdict)
            delta = max(FINEST * tol, min(_reach(reduced, held), delta / REACH))
            beta, moves, has_stopped = approach(problem, beta, reduced, delta, rows_held=held, on_round=on_round)
            history.clear()
        else:
            chunk = choose_chunk(problem, beta, gradient, verdict, size, held)
            left = max_iter - steps if max_iter >= 0 else -1
            inner = _solve_chunk(problem, beta, gradient, chunk, max(0.3 * tol, ACCURACY * verdict.violation), left)
            beta, moves = beta.copy(), inner.n_iter
            beta[chunk] = inner.beta
            if len(history) > 1 and verdict.violation > 0.5 * history[-2]:
                size = min(2 * size, held)
        steps, rounds = steps + moves, rounds + 1
        gradient = matrix.matvec(beta) + problem.linear
        if has_stopped or (on_round is not None and on_round()):
            return Solution(beta, gradient, Status.STOPPED, certify(problem, beta, gradient), steps, rounds, {})


def guess(problem: Problem, size: int, tol: float) -> Vector:
    """A feasible β from the solution on a sample: each variable at the bound that its gradient asks for."""
    matrix: Any = problem.matrix
    if problem.n <= size:
        return feasible_start(problem)
    chosen, factor = _sample(problem, size)
    held = matrix.gather(chosen, row_precision(len(chosen), tol, 1.0))
    lower, upper = factor * problem.lower[chosen], factor * problem.upper[chosen]
    labels = problem.constraint.labels(problem.n)[chosen]
    totals = [
        float(np.clip(total, lower[labels == g].sum(), upper[labels == g].sum()))
        for g, total in enumerate(problem.constraint.totals)
    ]
    posed = Problem(held, problem.linear[chosen], lower, upper, _sums(problem.constraint, labels, totals))
    found = solve_low_rank(posed, Request(tol=10 * tol), Kept())
    gradient = matrix.scores(held.scales * held.combine(found.beta)) + problem.linear
    level = np.array(found.multipliers)[problem.constraint.labels(problem.n)]
    beta = np.where(gradient > level, problem.lower, problem.upper)
    return feasible_start(problem, beta, gradient)


def choose_chunk(
    problem: Problem, beta: Vector, gradient: Vector, verdict: Certificate, size: int, rows_held: int
) -> Indices:
    """The variables inside their box or violating optimality, and those nearest to it, in rising order."""
    room = _reduced(problem, gradient, verdict)
    is_inside = (beta > problem.lower) & (beta < problem.upper)
    room = np.where(is_inside, -np.abs(room), np.where(beta < problem.upper, room, -room))  # below 0 it should move
    room[problem.lower == problem.upper] = np.inf
    count = min(max(size, GENEROUS * int(np.count_nonzero(room <= 0))), rows_held, problem.n)
    return np.sort(np.argpartition(room, count - 1)[:count])


def _solve_chunk(
    problem: Problem, beta: Vector, gradient: Vector, chunk: Indices, tol: float, max_iter: int
) -> Solution:
    matrix: Any = problem.matrix
    held = matrix.gather(chunk, row_precision(len(chunk), tol, 1.0))
    inside = beta[chunk]
    labels = problem.constraint.labels(problem.n)[chunk]
    totals = np.bincount(labels, inside, minlength=len(problem.constraint.totals))
    posed = Problem(
        held,
        gradient[chunk] - held.matvec(inside),
        problem.lower[chunk],
        problem.upper[chunk],
        _sums(problem.constraint, labels, totals.tolist()),
    )
    return solve_low_rank(posed, Request(start=inside, tol=tol, max_iter=max_iter), Kept())


def _sample(problem: Problem, size: int) -> tuple[Indices, Vector]:
    """Rows in even steps, up to half of them from the side of the box that is rarer; how many rows each stands for."""
    is_positive = problem.upper > 0
    is_rare = is_positive if 2 * np.count_nonzero(is_positive) <= problem.n else ~is_positive
    rare, common = np.flatnonzero(is_rare), np.flatnonzero(~is_rare)
    few = _evenly(rare, size // 2)
    many = _evenly(common, size - len(few))
    factor = np.empty(problem.n)
    factor[few], factor[many] = len(rare) / max(1, len(few)), len(common) / max(1, len(many))
    chosen = np.sort(np.concatenate([few, many]))
    return chosen, factor[chosen]


def _evenly(members: Indices, count: int) -> Indices:
    """At most ``count`` of the members, in even steps."""
    return members[np.unique(np.linspace(0, len(members) - 1, min(count, len(members))).astype(np.int64))]


def _sums(constraint: Constraint, labels: Indices, totals: list[float]) -> Constraint:
    return GroupSums(labels, tuple(totals)) if isinstance(constraint, GroupSums) else Sum(totals[0])


def _reduced(problem: Problem, gradient: Vector, verdict: Certificate) -> Vector:
    """The gradient about the multiplier of each variable's group."""
    return gradient - np.array(verdict.multipliers)[problem.constraint.labels(problem.n)]


def _reach(reduced: Vector, rows_held: int) -> float:
    """δ at which a fraction of the rows that may be held are inside their box."""
    at = min(len(reduced), max(1, rows_held // REACH)) - 1
    return 2.0 * float(np.partition(np.abs(reduced), at)[at])


def _is_slow(history: list[float], patience: int) -> bool:
    return len(history) > patience and min(history[-patience:]) > 0.5 * min(history[:-patience])
