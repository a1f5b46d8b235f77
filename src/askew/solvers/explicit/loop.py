"""The working-set method where the matrix stands in memory as an array: many small programmes on the same points.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and sums that are equalities.
    A pass solves over all that may move at once, where they are few enough (``active_block``), and otherwise by
    ``rounds``.
Given
    A ``Problem`` whose matrix can hand out its array (``whole``), in float64 and perhaps in float32 too, bent by a
    factor D or not: the matrix of the programme is then DKD, and only what a round reads of it is ever multiplied out.
    For a warm start a point with its scores Kβ: on a path the neighbour's product is corrected, not recomputed.
Returns
    ``Solution`` with a float64 gradient, computed anew after the first pass and then moved in float64, and the
    certificate made from it.
Stops when
    the KKT violation is at most tol on that gradient. Passes run on float32 rows until those bring the violation no
    further, then on float64 rows, and end as stalled when those do not either. Or after max_iter steps.
Why it stands beside ``working_set.loop``
    There every round is interpreted, since rows must be made, cached and moved between devices. Here every row is at
    hand, a round of a few thousand variables takes under a millisecond, and interpreted code between its parts would
    cost as much again: rounds are compiled from end to end, and folds run side by side without the interpreter's lock.
Reference
    Zanni, Serafini, Zanghirati (2006), JMLR 7:1467; Fan, Chen, Lin (2005), JMLR 6:1889; and see ``active_block``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askew.qp import Certificate, Problem, Solution, Status, certify
from askew.qp.problem import Vector
from askew.solvers.explicit.active_block import LARGEST_BLOCK, ActiveBlock, find_movers
from askew.solvers.explicit.rounds import measure, run_rounds
from askew.solvers.request import Kept, Request
from askew.solvers.start import feasible_start
from askew.solvers.status import judge

_WORKING_SET = 512  # variables of a round
_AIM = 0.9  # of tol, for a pass: the rest is for the rounding of its gradient
_INNER = 0.3  # of that, for a kept block: as tight as the last rounds are
_NOISE = 0.1  # of tol: what the rounding of the entries may make of a gradient, at random
_FEWER = 0.5  # a pass over float32 rows that leaves more than this of the violation was the last one
_NARROWER = 0.05  # of the violation: how far rounds go before those that may move are counted again
_PASSES = 6  # over kept blocks, at most: rows that are left out should be found in the first two


def solve_whole(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem`` to a KKT violation of ``request.tol``, on the block that earlier programmes have left.

    Parameters
    ----------
    problem : Problem
    request : Request
        ``max_iter`` counts pairs moved.
    kept : Kept
        Its block is used where it was gathered from this array, and left for the next programme.
    """
    if kept.block is None:
        kept.block = ActiveBlock()
    beta = feasible_start(
        problem, request.start, None if request.start_scores is None else request.start_scores + problem.linear
    )
    work = _Work(problem, beta, _first_gradient(problem, beta, request), request, kept.block)
    while True:
        if not work.take_pass():
            continue
        if work.judge() <= request.tol or work.left <= 0:
            break
        if work.is_stuck and not work.was_kept:
            if work.rows.dtype == np.float64:
                break
            work.use_rows(np.float64)
    certificate = certify(problem, work.beta, work.g)
    return Solution(work.beta, work.g, work.status_of(certificate), certificate, work.steps, work.rounds, {})


class _Work:
    """Where a programme stands: β, its gradient, and the rows that passes are made on."""

    def __init__(self, problem: Problem, beta: Vector, g: Vector, request: Request, block: ActiveBlock) -> None:
        self.problem, self.beta, self.g, self.tol = problem, beta, g, request.tol
        self.limit, self.block = request.step_limit, block
        self.steps, self.rounds, self.least_curvature, self.passes = 0, 0, np.inf, 0
        self.groups, self.box = len(problem.constraint.totals), (problem.lower, problem.upper)
        self.labels = problem.constraint.labels(problem.n)
        self.use_rows(np.float32)
        self.keeps, self.was_kept = len(self.factor) == 0, False
        self.judged: Vector | None = None  # where g was computed in float64

    @property
    def left(self) -> int:
        """Steps that may still be taken."""
        return self.limit - self.steps

    def use_rows(self, dtype: Any) -> None:
        """Make passes on the array in a precision, or in float64 where it has no other."""
        matrix: Any = self.problem.matrix
        self.factor, rows = matrix.bend, matrix.whole(dtype)
        self.rows = matrix.whole(np.float64) if rows is None else rows
        self.diagonal = self.problem.matrix.diagonal().astype(self.rows.dtype)
        self.violation, self.is_stuck = np.inf, False

    def status_of(self, certificate: Certificate) -> Status:
        """How the passes ended."""
        return judge(
            self.problem,
            certificate,
            self.tol,
            has_run_out=self.left <= 0,
            least_curvature=self.least_curvature,
            precision=self.rows.dtype,
        )

    def take_pass(self) -> bool:
        """Move β by all that may move at once, or by rounds; returns whether it is time to judge."""
        goal = _AIM * self.tol
        if self.keeps:
            movers, violation = find_movers(self.g, self.beta, *self.box, self.labels, self.groups, LARGEST_BLOCK)
            if violation <= goal and self.judged is None:
                return True
            if len(movers) and self._hold(movers):
                steps, _, curvature = self.block.solve(
                    self.diagonal, self.g, self.beta, *self.box, _INNER * goal, self.left
                )
                self._count(steps, 1, curvature)
                return True
            goal = max(goal, _NARROWER * violation) if self.keeps else goal
        return self._run_rounds(goal)

    def _hold(self, movers: Any) -> bool:
        """Have the rows that may move in the block; False where it has done what it can."""
        has_new = self.block.hold(self.rows, movers, self.labels, self.groups)
        self.passes += 1
        if (self.is_stuck and not has_new) or self.passes > _PASSES:  # nobody was left out: a matter of rounding
            self.keeps, self.was_kept, self.violation = False, False, np.inf
        else:
            self.was_kept = True
        return self.keeps

    def _run_rounds(self, goal: float) -> bool:
        size = min(self.problem.n, _WORKING_SET)
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


def _sharpen(problem: Problem, beta: Vector, tol: float) -> bool:
    """Go over to float64 entries where others are too rough to judge ``tol`` by; returns whether they were."""
    matrix: Any = problem.matrix
    size = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
    is_rough = matrix.rounding * size * float(np.sqrt(beta @ beta)) > _NOISE * tol
    if is_rough:
        matrix.sharpen()
    return is_rough


def _first_gradient(problem: Problem, beta: Vector, request: Request) -> Vector:
    """Kβ + p at a feasible point near the start."""
    if request.start is None or request.start_scores is None:
        return problem.gradient(beta)
    return problem.matrix.matvec(beta - request.start) + request.start_scores + problem.linear
