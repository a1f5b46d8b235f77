"""The working-set method where the matrix is stored whole: many small programmes on the same points.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and sums that are equalities.
Given
    A ``Problem`` whose matrix can hand out its stored array (``whole``), in float64 and perhaps in float32 too, or is
    such a matrix bent; and for a warm start a point with its scores Kβ: on a path the neighbour's product is corrected,
    not recomputed.
Returns
    ``Solution`` with a float64 gradient, computed anew after the first pass and then moved in float64, and the
    certificate made from it.
Stops when
    the KKT violation is at most tol on that gradient. A pass solves over all that may move at once, where they are few
    enough (``kept_block``), and otherwise by rounds. Passes run on float32 rows until those bring the violation no
    further, then on float64 rows, and end as stalled when those do not either. Or after max_iter steps.
Reference
    See ``rounds`` and ``kept_block``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askew.kernels.conformal import Conformal
from askew.qp import Problem, Solution, Status, certify
from askew.qp.problem import Vector
from askew.solvers.start import feasible_start

WORKING_SET = 512
_AIM = 0.9  # of tol, for a pass: the rest is for the rounding of its gradient
_INNER = 0.3  # of that, for a kept block: as tight as the last rounds are
_NOISE = 0.1  # of tol: what the rounding of the entries may make of a gradient, at random
_FEWER = 0.5  # a pass over float32 rows that leaves more than this of the violation was the last one
_NARROWER = 0.05  # of the violation: how far rounds go before those that may move are counted again
_PASSES = 6  # over kept blocks, at most: rows that are left out should be found in the first two


def solve(
    problem: Problem,
    *,
    start: Vector | None = None,
    start_scores: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    kept: Any = None,
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
    kept : KeptBlock, optional
        The block of the last programme on this matrix, to go on with.
    """
    beta = feasible_start(problem, start, None if start_scores is None else start_scores + problem.linear)
    work = _Work(problem, beta, _first_gradient(problem, beta, start, start_scores), tol, max_iter, kept)
    status = Status.STALLED
    while True:
        if not work.take_pass():
            continue
        violation = work.judge()
        if violation <= tol:
            status = _converged(problem, work.least_curvature, work.rows.dtype)
            break
        if work.left <= 0:
            status = Status.MAX_ITER
            break
        if work.is_stuck and not work.was_kept:
            if work.rows.dtype == np.float64:
                break
            work.use_rows(np.float64)
    certificate = certify(problem, work.beta, work.g)
    return Solution(work.beta, work.g, status, certificate, work.steps, work.rounds, {}).confirmed(problem, tol)


class _Work:
    """Where a programme stands: β, its gradient, and the rows that passes are made on."""

    def __init__(self, problem: Problem, beta: Vector, g: Vector, tol: float, max_iter: int, kept: Any) -> None:
        from askew.solvers.kept_block import KeptBlock

        self.problem, self.beta, self.g, self.tol = problem, beta, g, tol
        self.limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
        self.steps, self.rounds, self.least_curvature, self.passes = 0, 0, np.inf, 0
        self.groups, self.box = len(problem.constraint.totals), (problem.lower, problem.upper)
        self.labels = problem.constraint.labels(problem.n)
        self.kept = KeptBlock() if kept is None else kept
        self.use_rows(np.float32)
        self.keeps, self.was_kept = len(self.factor) == 0, False
        self.judged: Vector | None = None  # where g was computed in float64

    @property
    def left(self) -> int:
        """Steps that may still be taken."""
        return self.limit - self.steps

    def use_rows(self, dtype: Any) -> None:
        """Make passes on the stored matrix in a precision, or in float64 where it has no other."""
        matrix, self.factor = _unbent(self.problem)
        rows = matrix.whole(dtype)
        self.rows = matrix.whole(np.float64) if rows is None else rows
        self.diagonal = self.problem.matrix.diagonal().astype(self.rows.dtype)
        self.violation, self.is_stuck = np.inf, False

    def take_pass(self) -> bool:
        """Move β by all that may move at once, or by rounds; returns whether it is time to judge."""
        from askew.solvers.kept_block import LARGEST, find_movers

        goal = _AIM * self.tol
        if self.keeps:
            movers, violation = find_movers(self.g, self.beta, *self.box, self.labels, self.groups, LARGEST)
            if violation <= goal and self.judged is None:
                return True
            if len(movers) and self._hold(movers):
                steps, _, curvature = self.kept.solve(
                    self.diagonal, self.g, self.beta, *self.box, _INNER * goal, self.left
                )
                self._count(steps, 1, curvature)
                return True
            goal = max(goal, _NARROWER * violation) if self.keeps else goal
        return self._run_rounds(goal)

    def _hold(self, movers: Any) -> bool:
        """Have the rows that may move in the block; False where it has done what it can."""
        has_new = self.kept.hold(self.rows, movers, self.labels, self.groups)
        self.passes += 1
        if (self.is_stuck and not has_new) or self.passes > _PASSES:  # nobody was left out: a matter of rounding
            self.keeps, self.was_kept, self.violation = False, False, np.inf
        else:
            self.was_kept = True
        return self.keeps

    def _run_rounds(self, goal: float) -> bool:
        from askew.solvers.rounds import run_rounds

        size = min(self.problem.n, WORKING_SET)
        done, some, violation, curvature = run_rounds(
            self.rows, self.factor, self.diagonal, self.g, self.beta, *self.box,
            self.labels, self.groups, goal, size, self.left,
        )  # fmt: skip
        self._count(done, some, curvature)
        self.judged, self.was_kept = None, False
        return violation > goal or goal <= _AIM * self.tol or self.left <= 0

    def _count(self, steps: int, rounds: int, curvature: float) -> None:
        self.steps, self.rounds = self.steps + steps, self.rounds + rounds
        self.least_curvature = min(self.least_curvature, curvature)

    def judge(self) -> float:
        """Bring the gradient up to date in float64; returns the violation."""
        from askew.solvers.rounds import measure

        is_sharper = _sharpen(self.problem, self.beta, self.tol)
        move = self.beta if self.judged is None or is_sharper else self.beta - self.judged
        if 2 * np.count_nonzero(move) > np.count_nonzero(self.beta):
            self.g = self.problem.gradient(self.beta)
        else:
            self.g += self.problem.matrix.matvec(move)
        self.judged = self.beta.copy()
        lows, highs = np.empty(self.groups), np.empty(self.groups)
        violation = measure(self.g, self.beta, *self.box, self.labels, lows, highs)
        self.violation, self.is_stuck = violation, violation > _FEWER * self.violation
        return violation


def _unbent(problem: Problem) -> tuple[Any, Vector]:
    """The stored matrix, and the factor that bends it, or none."""
    matrix: Any = problem.matrix
    if isinstance(matrix, Conformal):
        return matrix.matrix, matrix.factor
    return matrix, np.empty(0)


def _sharpen(problem: Problem, beta: Vector, tol: float) -> bool:
    """Go over to float64 entries where others are too rough to judge ``tol`` by; returns whether they were."""
    matrix, _ = _unbent(problem)
    if not hasattr(matrix, "sharpen"):
        return False
    size = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
    is_rough = matrix.rounding * size * float(np.sqrt(beta @ beta)) > _NOISE * tol
    if is_rough:
        matrix.sharpen()
    return is_rough


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
