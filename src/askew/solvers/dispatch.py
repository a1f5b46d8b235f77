"""The cheapest solver for a programme, by operation count.

Solves
    n variables, e entries per point (for a linear kernel), about S sweeps of coordinate descent:
        stored matrix   n²e/8 to fill it (products run eight times faster than sweeps) + S n²
        points          2 S n e
    A box alone goes to the cheaper of the two; the points win when n is large against e. A box with sums, or a kernel
    that is neither small nor linear, goes to the working-set method, which never needs the matrix whole.
Given
    A ``Problem``, and the options of all three.
Returns
    The ``Solution`` of the one that ran.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.qp import Ability, Free, Problem, Solution, SumAtMost, certify

Vector = NDArray[np.float64]

STORED_LIMIT = 4096  # 128 MiB of float64
SMALL = 128  # so few that the matrix costs nothing worth counting
_SWEEPS = 50


def solve(
    problem: Problem, *, start: Vector | None = None, tol: float = 1e-3, max_iter: int = -1, stored: Any = None
) -> Solution:
    """Solve ``problem`` by the method that needs the fewest operations.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n,), optional
    tol : float
    max_iter : int
        Limit of steps (sweeps on points, coordinate or pair steps otherwise); -1 for the solver's own.
    stored : array of shape (n, n), optional
        The matrix, when a caller solves several programmes on it.
    """
    from askew.solvers.coordinate import points as linear
    from askew.solvers.explicit import stored as stored_matrix
    from askew.solvers.working_set import loop as working_set

    if isinstance(problem.constraint, SumAtMost):
        relaxed = Problem(problem.matrix, problem.linear, problem.lower, problem.upper, Free())
        found = solve(relaxed, start=start, tol=tol, max_iter=max_iter, stored=stored)
        if found.beta.sum() <= problem.constraint.total:  # the sum does not bind, so it changes nothing
            certificate = certify(problem, found.beta, found.gradient)
            return Solution(
                found.beta, found.gradient, found.status, certificate, found.n_iter, found.n_outer, found.timings
            )
        start = found.beta
    if not isinstance(problem.constraint, Free):
        return working_set.solve(problem, start=start, tol=tol, max_iter=max_iter)
    if stored is None and prefers_stored(problem.matrix) and is_bilinear(problem.matrix):
        stored = problem.matrix.filled()
    if stored is not None or prefers_stored(problem.matrix):
        return stored_matrix.solve(problem, start=start, tol=tol, max_iter=max_iter, stored=stored)
    if is_bilinear(problem.matrix):
        found = linear.solve(problem, start=start, tol=tol, max_iter=max_iter)
        has_rank = problem.matrix.inner_points().shape[1] >= problem.n  # type: ignore[attr-defined]
        if found.status.has_converged or max_iter >= 0 or problem.n > STORED_LIMIT or not has_rank:
            return found
        # badly conditioned: what sweeps do slowly, the Newton steps on a stored matrix do at once
        return stored_matrix.solve(problem, start=found.beta, tol=tol)
    return working_set.solve(problem, start=start, tol=tol, max_iter=max_iter)


def is_bilinear(matrix: Any) -> bool:
    """Whether the entries are inner products of points at hand."""
    return Ability.POINTS in matrix.abilities


def prefers_stored(matrix: Any) -> bool:
    """Whether filling the n×n matrix costs less than sweeping over the points."""
    n = matrix.n
    if n > STORED_LIMIT:
        return False
    if not is_bilinear(matrix):
        return n <= STORED_LIMIT // 4
    points = matrix.inner_points()
    entries = getattr(points.rows, "nnz", points.rows.size) / max(1, n) + points.columns.shape[1]
    return n * n * (entries / 8 + _SWEEPS) <= 2 * _SWEEPS * n * entries or n <= SMALL
