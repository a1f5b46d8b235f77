"""The working-set method where the matrix is stored whole: many small programmes on the same points.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and sums that are equalities.
Given
    A ``Problem`` whose matrix can hand out its stored array (``whole``), in float64 and perhaps in float32 too, or is
    such a matrix bent; and for a warm start a point with its scores Kβ: on a path the neighbour's product is corrected,
    not recomputed.
Returns
    ``Solution`` with a float64 gradient computed anew at the end, and the certificate made from it.
Stops when
    the KKT violation is at most tol on a gradient recomputed in float64; rounds run on float32 rows until those bring
    it no further, then on float64 rows, and end as stalled when those do not either. Or after max_iter steps.
Reference
    See ``rounds``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askew.kernels.conformal import Conformal
from askew.qp import Problem, Solution, Status, certify
from askew.qp.problem import Vector
from askew.solvers.start import feasible_start

WORKING_SET = 512
_NOISE = 0.1  # of tol: what the rounding of the entries may make of a gradient, at random
_FEWER = 0.5  # a pass over float32 rows that leaves more than this of the violation was the last one


def solve(
    problem: Problem,
    *,
    start: Vector | None = None,
    start_scores: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
) -> Solution:
    """Solve ``problem`` to a KKT violation of ``tol``.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n,), optional
        A point to start from; it is made feasible first.
    start_scores : array of shape (n,), optional
        K times ``start``, when it is at hand.
    tol : float
        Largest KKT violation, judged on a float64 gradient.
    max_iter : int
        Limit of steps (pairs moved); -1 for none.
    """
    from askew.solvers.rounds import run_rounds

    beta = feasible_start(problem, start, None if start_scores is None else start_scores + problem.linear)
    g = _first_gradient(problem, beta, start, start_scores)
    labels, groups = problem.constraint.labels(problem.n), len(problem.constraint.totals)
    size = min(problem.n, WORKING_SET)
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    steps, rounds, least_curvature, status = 0, 0, np.inf, Status.STALLED
    (rows, factor), last = _rows(problem, np.float32), np.inf
    while True:
        done, some, _, curvature = run_rounds(
            rows, factor, problem.matrix.diagonal().astype(rows.dtype), g, beta, problem.lower, problem.upper,
            labels, groups, 0.9 * tol, size, limit - steps,
        )  # fmt: skip
        steps, rounds, least_curvature = steps + done, rounds + some, min(least_curvature, curvature)
        g = _judged_gradient(problem, beta, tol)
        certificate = certify(problem, beta, g)
        if certificate.violation <= tol:
            status = _converged(problem, least_curvature, rows.dtype)
            break
        if steps >= limit:
            status = Status.MAX_ITER
            break
        if certificate.violation > _FEWER * last:
            if rows.dtype == np.float64:
                break
            (rows, factor), last = _rows(problem, np.float64), np.inf
        else:
            last = certificate.violation
    return Solution(beta, g, status, certificate, steps, rounds, {})


def _rows(problem: Problem, dtype: Any) -> tuple[Any, Vector]:
    """The stored matrix in a precision, or in float64 where it has no other, and the factor that bends it, or none."""
    matrix: Any = problem.matrix
    factor = np.empty(0)
    if isinstance(matrix, Conformal):
        matrix, factor = matrix.matrix, matrix.factor
    rows = matrix.whole(dtype)
    return matrix.whole(np.float64) if rows is None else rows, factor


def _judged_gradient(problem: Problem, beta: Vector, tol: float) -> Vector:
    """Kβ + p in float64, from entries fine enough to judge ``tol`` by."""
    matrix: Any = problem.matrix
    matrix = matrix.matrix if isinstance(matrix, Conformal) else matrix
    if hasattr(matrix, "sharpen"):
        size = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
        if matrix.rounding * size * float(np.sqrt(beta @ beta)) > _NOISE * tol:
            matrix.sharpen()
    return problem.gradient(beta)


def _first_gradient(problem: Problem, beta: Vector, start: Vector | None, scores: Vector | None) -> Vector:
    """Kβ + p at a feasible point near ``start``."""
    if start is None or scores is None:
        return problem.gradient(beta)
    return problem.matrix.matvec(beta - start) + scores + problem.linear


def _converged(problem: Problem, least_curvature: float, dtype: Any) -> Status:
    """Optimal, or stationary where the kernel's formula, or for want of one a step, says that K is indefinite."""
    is_psd = problem.matrix.is_psd
    if is_psd is None:
        scale = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
        is_psd = least_curvature >= -100 * float(np.finfo(dtype).eps) * scale
    return Status.OPTIMAL if is_psd else Status.STATIONARY
