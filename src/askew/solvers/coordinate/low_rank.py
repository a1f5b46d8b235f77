"""Programmes whose matrix is of low rank: sweeps first, then the working set.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and equality sums (``askew.qp``),   K = Z diag(a) Z'.
Given
    A ``Problem`` whose matrix offers ``FACTOR`` and ``HELD``. Sweeps of coordinate descent (``sweeps``) carry the bulk
    of the variables to their bounds at 2r operations each, the sums held by multipliers that move after every sweep;
    pairs of variables could only carry a working set at a time. What sweeps end slowly, the last digits and the sums
    themselves, the working-set method does at once: at most about r variables are then strictly inside their box.
    On Covertype (n = 500,000, r = 500, 241,000 support vectors) the two take 9 s, the working set alone more than 100.
Returns
    ``Solution``; n_iter counts coordinates and pairs moved.
Stops when
    the working-set method does: KKT violation at most tol on a float64 gradient, or after max_iter steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from askew.qp import Problem, Solution, certify
from askew.qp.problem import Vector
from askew.solvers.coordinate.sweeps import sweep_sums
from askew.solvers.request import Kept, Request
from askew.solvers.working_set.loop import solve_by_rows

FEW = 4096  # variables up to which the working set needs no help
SWEEPS = 40
WAKING = 10  # sweeps after which those that rest are looked at again
MANY, LARGE_SET = 2**17, 2048  # variables from which a pass is so dear that larger working sets pay


def solve_low_rank(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem`` to a KKT violation of ``request.tol``; ``max_iter`` counts coordinates and pairs moved."""
    moves = 0
    if problem.n > FEW:
        start, moves = descend(problem, request.start, request.tol, request.max_iter)
        left = request.max_iter if request.max_iter < 0 else max(0, request.max_iter - moves)
        request = replace(request, start=start, max_iter=left)
    solution = solve_by_rows(problem, request, kept, working_set_size=LARGE_SET if problem.n >= MANY else None)
    return replace(solution, n_iter=solution.n_iter + moves)


def descend(problem: Problem, start: Vector | None, tol: float, max_iter: int) -> tuple[Vector, int]:
    """β near the optimum, its sums nearly met, and how many coordinates were moved."""
    matrix: Any = problem.matrix
    n, totals = problem.n, np.array(problem.constraint.totals)
    beta = np.clip(np.zeros(n) if start is None else start, problem.lower, problem.upper)
    group, diagonal = problem.constraint.labels(n), matrix.diagonal()
    sigma = float(diagonal.mean()) or 1.0
    excess = np.bincount(group, beta, minlength=len(totals)) - totals
    multipliers = _multipliers(problem, beta) if start is not None else np.zeros(len(totals))
    v = matrix.scales * matrix.combine(beta)
    fixed = (matrix.features, matrix.scales, problem.linear, diagonal, v, group, excess)
    order, active, seed, low, high, moves = np.arange(n), n, np.uint64(12345), -np.inf, np.inf, 0
    for count in range(1, SWEEPS + 1):
        was_full = active == n
        active, seed, lowest, highest, moved = sweep_sums(
            *fixed, multipliers, sigma, beta, problem.lower, problem.upper, order, active, np.uint64(seed), low, high
        )
        multipliers -= sigma * excess
        moves += moved
        is_good = max(highest, -lowest) <= tol and sigma * float(np.abs(excess).max()) <= tol
        if (is_good and was_full) or 0 <= max_iter <= moves:
            break
        if is_good or count % WAKING == 0:
            active, low, high = n, -np.inf, np.inf
        else:
            low, high = lowest if lowest < 0 else -np.inf, highest if highest > 0 else np.inf
    return beta, moves


def _multipliers(problem: Problem, beta: Vector) -> Vector:
    return np.array(certify(problem, beta).multipliers)
