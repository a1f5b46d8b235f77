"""A solver for matrices whose rows are dear and whose products are not.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and equality sums (``askew.qp``).
Given
    A ``Problem``, and a stand-in K̃ ≈ K with cheap rows, which is solved first. Each round, with g = Kβ + p exact in
    float64, solves
        minimise ½ d'K̃d + g'd,   lower ≤ β + d ≤ upper,   sums of d zero
    by the working-set solver, and moves to β + θd with the exact step θ = min(1, −g'd / d'Kd): the objective falls in
    every round whatever K̃ is, and the next gradient is g + θKd, all in float64. K̃ then learns from d and Kd.
    When rounds stop helping, the rows of K itself finish the work.
Returns
    ``Solution``, judged on exact gradients of K alone. A stand-in decides how many rounds there are, never the answer.
Stops when
    the KKT violation is at most tol, or after max_iter inner steps.
Reference
    Lange (2016), MM Optimization Algorithms, chapter 4; Tseng and Yun (2009), Math. Programming 117:387, for inexact
    quadratic models on polyhedra.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.qp import Constraint, GroupSums, Problem, Solution, Status, Sum, certify
from askew.qp.problem import SymmetricMatrix
from askew.solvers import working_set
from askew.solvers.start import feasible_start

Vector = NDArray[np.float64]

PATIENCE = 12  # rounds that may pass without halving the violation
INNER_ACCURACY = 0.02  # of the present violation
BEGINNING = 1e-4  # accuracy of the first round, in units of K times the sums


class StandIn(SymmetricMatrix, Protocol):
    """A symmetric matrix with cheap rows that can learn from a step."""

    def refine(self, move: Vector, change: Vector, believed: Vector) -> StandIn:
        """The stand-in with the curvature of K along ``move``, given Kd and K̃d."""
        ...


def solve(
    problem: Problem,
    stand_in: Any,
    *,
    start: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_bytes: int = working_set.DEFAULT_CACHE_BYTES,
) -> Solution:
    """Solve ``problem`` to a KKT violation of ``tol`` through ``stand_in``.

    Parameters
    ----------
    problem : Problem
        With equality sums.
    stand_in : StandIn
    start, tol, max_iter, cache_bytes
        As for ``askew.solvers.working_set.solve``.

    Returns
    -------
    Solution
    """
    beta, steps = _begin(problem, stand_in, start, tol, max_iter, cache_bytes)
    gradient = problem.gradient(beta)
    rounds, history, lesson, least_curvature = 0, [], None, np.inf
    while True:
        verdict = certify(problem, beta, gradient)
        history.append(verdict.violation)
        left = max_iter - steps if max_iter >= 0 else -1
        if verdict.violation <= tol or max_iter >= 0 >= left:
            status = _status(problem, verdict.violation <= tol, least_curvature)
            return Solution(beta, gradient, status, verdict, steps, rounds, {})
        if _has_lost_patience(history):
            last = working_set.solve(problem, start=beta, tol=tol, max_iter=left, cache_bytes=cache_bytes)
            return replace(last, n_iter=last.n_iter + steps, n_outer=last.n_outer + rounds)
        if lesson is not None:
            stand_in = stand_in.refine(*lesson)
        inner = working_set.solve(
            _step_problem(problem, stand_in, beta, gradient),
            tol=max(INNER_ACCURACY * verdict.violation, 0.3 * tol),
            max_iter=left,
            cache_bytes=cache_bytes,
        )
        steps, rounds = steps + inner.n_iter, rounds + 1
        moved = _arrive(problem, beta, inner.beta)
        move = moved - beta
        change = problem.matrix.matvec(move)
        lesson = move, change, inner.gradient - gradient
        least_curvature = min(least_curvature, float(move @ change) / max(float(move @ move), 1e-300))
        beta, gradient = _step(beta, gradient, move, change, moved)


def _begin(
    problem: Problem, stand_in: Any, start: Vector | None, tol: float, max_iter: int, cache_bytes: int
) -> tuple[Vector, int]:
    """Where the rounds begin: at a warm start, or where the stand-in itself is solved, no better than it deserves."""
    if start is not None:
        return feasible_start(problem, start), 0
    posed = Problem(stand_in, problem.linear, problem.lower, problem.upper, problem.constraint)
    size = float(np.max(np.abs(stand_in.diagonal()))) * float(np.max(np.abs(problem.constraint.totals)))
    found = working_set.solve(posed, tol=max(tol, BEGINNING * size), max_iter=max_iter, cache_bytes=cache_bytes)
    return found.beta, found.n_iter


def _step_problem(problem: Problem, stand_in: Any, beta: Vector, gradient: Vector) -> Problem:
    """The programme of the step d from β."""
    return Problem(stand_in, gradient, problem.lower - beta, problem.upper - beta, _zero_sums(problem.constraint))


def _zero_sums(constraint: Constraint) -> Constraint:
    if isinstance(constraint, GroupSums):
        return GroupSums(constraint.group, tuple(0.0 for _ in constraint.totals))
    return Sum(0.0)


def _arrive(problem: Problem, beta: Vector, move: Vector) -> Vector:
    """β + d, exactly at the bounds where d reaches them."""
    moved = np.clip(beta + move, problem.lower, problem.upper)
    moved = np.where(move == problem.lower - beta, problem.lower, moved)
    return np.where(move == problem.upper - beta, problem.upper, moved)


def _step(beta: Vector, gradient: Vector, move: Vector, change: Vector, moved: Vector) -> tuple[Vector, Vector]:
    """The least objective on the segment from β to β + d, and its gradient."""
    slope, curvature = float(gradient @ move), float(move @ change)
    if curvature <= 0 or slope + curvature <= 0:
        return moved, gradient + change
    theta = max(0.0, -slope / curvature)
    return beta + theta * move, gradient + theta * change


def _has_lost_patience(history: list[float]) -> bool:
    return len(history) > PATIENCE and min(history[-PATIENCE:]) > 0.5 * min(history[:-PATIENCE])


def _status(problem: Problem, is_good: bool, least_curvature: float) -> Status:
    if not is_good:
        return Status.MAX_ITER
    known = problem.matrix.is_psd
    bends_down = least_curvature < -1e-8 * float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
    return Status.STATIONARY if known is False or (known is None and bends_down) else Status.OPTIMAL
