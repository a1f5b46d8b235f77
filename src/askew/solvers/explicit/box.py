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

import numba
import numpy as np
from numpy.typing import NDArray

from askew.qp import Ability, Certificate, Problem, Solution, certify
from askew.qp.problem import Vector
from askew.solvers.coordinate.sweeps import descend_stored
from askew.solvers.request import Kept, Request
from askew.solvers.status import judge
from askew.threads import workers

GOOD, LIMITED, STUCK = 0, 1, 2
_POLISH = 1e-6  # the last Newton step costs little and leaves an error this far below the tolerance
_ROUNDS = 1000  # far more than any problem has needed; a bound on time, not a tuning knob

_compile = numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy", nogil=True)


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

    def work(begin: int, end: int) -> None:
        for k in range(begin, end):
            mine, K = slice(first[k], first[k + 1]), arrays[id(problems[k].matrix)]
            if in_turn and k > 0:
                np.clip(beta[first[k - 1] : first[k]], lower[mine], upper[mine], out=beta[mine])
            endings[k] = solve_box(K, p[mine], lower[mine], upper[mine], beta[mine], g[mine], tols[k], limit)

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


@_compile
def solve_box(K, p, lower, upper, beta, g, tol, max_steps):  # type: ignore[no-untyped-def]
    """Solve one programme; returns (steps, rounds, ending)."""
    n = beta.shape[0]
    diagonal = curvatures(K)
    evaluate(K, p, beta, g)
    steps, last, aim = 0, np.inf, 0.5 * tol
    for rounds in range(1, _ROUNDS + 1):
        # rounds of coordinates are short: where they are slow, the Newton step between them is not
        pace = min(2 * n + 20, max_steps - steps)
        done, left = descend_stored(K, diagonal, g, beta, lower, upper, aim, pace)
        steps += done
        if left > aim * _POLISH:
            step_inside(K, g, beta, lower, upper)
        evaluate(K, p, beta, g)
        now = violation(g, beta, lower, upper)
        if now <= tol:
            return steps, rounds, GOOD
        if steps >= max_steps:
            return steps, rounds, LIMITED
        if done == 0 and not now < last:
            return steps, rounds, STUCK
        last = now
    return steps, _ROUNDS, LIMITED


@_compile
def curvatures(K):  # type: ignore[no-untyped-def]
    """The diagonal; a row of zeros (a positive at the mean) is given the least curvature that sends it to its bound."""
    n = K.shape[0]
    diagonal, largest = np.empty(n), 0.0
    for i in range(n):
        diagonal[i] = K[i, i]
        largest = max(largest, K[i, i])
    for i in range(n):
        diagonal[i] = max(diagonal[i], 1e-15 * max(1e-300, largest))
    return diagonal


@_compile
def evaluate(K, p, beta, g):  # type: ignore[no-untyped-def]
    """g = Kβ + p."""
    n = beta.shape[0]
    g[:] = p
    for i in range(n):
        if beta[i] != 0.0:
            for k in range(n):
                g[k] += beta[i] * K[i, k]


@_compile
def violation(g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """The largest gradient of a variable that can fall less the smallest of one that can rise, each beyond 0."""
    high, low = 0.0, 0.0
    for i in range(beta.shape[0]):
        if beta[i] > lower[i]:
            high = max(high, g[i])
        if beta[i] < upper[i]:
            low = min(low, g[i])
    return high - low


@_compile
def step_inside(K, g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """Newton step over the variables strictly inside their box, as far as the box allows."""
    inside = np.flatnonzero((beta > lower) & (beta < upper))
    m = inside.shape[0]
    if m == 0:
        return
    block, trace = np.empty((m, m)), 0.0
    for i in range(m):
        trace += K[inside[i], inside[i]]
        for k in range(m):
            block[i, k] = K[inside[i], inside[k]]
    move_inside(block, trace, inside, g, beta, lower, upper)


@_compile
def move_inside(block, trace, inside, g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """The step itself; ``block`` is K among the variables inside, and is overwritten."""
    m = inside.shape[0]
    for i in range(m):
        block[i, i] += 1e-13 * trace / m
    direction = np.empty(m)
    for i in range(m):
        direction[i] = -g[inside[i]]
    if not solve_in_place(block, direction):  # an indefinite kernel: coordinates alone go on
        return
    length = 1.0
    for i in range(m):
        k = inside[i]
        if direction[i] > 0.0:
            length = min(length, (upper[k] - beta[k]) / direction[i])
        elif direction[i] < 0.0:
            length = min(length, (lower[k] - beta[k]) / direction[i])
    for i in range(m):
        k = inside[i]
        beta[k] = min(max(beta[k] + length * direction[i], lower[k]), upper[k])


@_compile
def solve_in_place(A, b):  # type: ignore[no-untyped-def]
    """b ← A⁻¹b by Cholesky, A overwritten; False where A is not positive definite."""
    try:
        L = np.linalg.cholesky(A)
    except Exception:
        return False
    n = b.shape[0]
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]
    return np.isfinite(b).all()
