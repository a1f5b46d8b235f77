"""The working-set method where the matrix stands in memory as an array: many small programmes on the same points.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and sums that are equalities.
    A pass solves over all that may move at once, where they are few enough (``active_block``), and otherwise by rounds:
    take the worst violators of each group, more of a group that has more (and from the last set what there is room
    for), solve among them (``working_set.smo``), move the gradient by the rows of those that changed.
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

import numba
import numpy as np

from askew.qp import Certificate, Problem, Solution, Status, certify
from askew.qp.gather import gather_block
from askew.qp.problem import Vector
from askew.solvers.explicit.active_block import LARGEST_BLOCK, ActiveBlock, find_movers, kth_smallest, measure
from askew.solvers.request import Kept, Request
from askew.solvers.start import feasible_start
from askew.solvers.status import judge
from askew.solvers.working_set.rows import add_rows
from askew.solvers.working_set.smo import solve_block

_WORKING_SET = 512  # variables of a round
_AIM = 0.9  # of tol, for a pass: the rest is for the rounding of its gradient
_INNER = 0.3  # of that, for a kept block: as tight as the last rounds are
_NOISE = 0.1  # of tol: what the rounding of the entries may make of a gradient, at random
_FEWER = 0.5  # a pass over float32 rows that leaves more than this of the violation was the last one
_NARROWER = 0.05  # of the violation: how far rounds go before those that may move are counted again
_PASSES = 6  # over kept blocks, at most: rows that are left out should be found in the first two
_FEWEST = 16.0  # variables of a group in a working set, either way

_compile = numba.njit(cache=True, nogil=True)


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


@_compile
def pick(g, beta, lower, upper, labels, group, sign, count, is_taken, values):  # type: ignore[no-untyped-def]
    """Mark the ``count`` variables of a group with the least sign·g among those that can move that way."""
    m = 0
    for i in range(g.shape[0]):
        if labels[i] == group and (beta[i] < upper[i] if sign > 0 else beta[i] > lower[i]):
            values[m] = sign * g[i]
            m += 1
    if m == 0:
        return
    count = min(count, m)
    limit = kth_smallest(values, m, count - 1)
    for k in range(m):  # ties at the limit must not take the places of those below it
        count -= values[k] < limit
    for i in range(g.shape[0]):
        value = sign * g[i]
        if value <= limit and labels[i] == group and (beta[i] < upper[i] if sign > 0 else beta[i] > lower[i]):
            if value < limit:
                is_taken[i] = True
            elif count > 0:
                is_taken[i] = True
                count -= 1


@_compile
def set_shares(g, beta, lower, upper, labels, lows, highs, size, shares):  # type: ignore[no-untyped-def]
    """How many of each group to pick either way, by the root of how many of it would move."""
    shares[:] = 0.0
    for i in range(g.shape[0]):
        j = labels[i]
        if (beta[i] < upper[i] and g[i] < highs[j]) or (beta[i] > lower[i] and g[i] > lows[j]):
            shares[j] += 1.0
    total = np.sqrt(shares).sum()
    for j in range(shares.shape[0]):
        shares[j] = max(_FEWEST, 0.5 * size * np.sqrt(shares[j]) / total) if total > 0 else _FEWEST


@_compile
def choose(g, beta, lower, upper, labels, groups, size, chosen, q, is_taken, values, starts, shares):  # type: ignore[no-untyped-def]
    """Put the next working set into ``chosen``, whose first q entries are the last one; returns its size."""
    n, room = g.shape[0], size
    is_taken[:] = False
    for j in range(groups):
        pick(g, beta, lower, upper, labels, j, 1.0, int(shares[j]), is_taken, values)
        pick(g, beta, lower, upper, labels, j, -1.0, int(shares[j]), is_taken, values)
    for i in range(n):
        room -= is_taken[i]
    for k in range(q):
        if room > 0 and not is_taken[chosen[k]]:
            is_taken[chosen[k]] = True
            room -= 1
    m = 0
    for j in range(groups):
        starts[j] = m
        for i in range(n):
            if is_taken[i] and labels[i] == j and m < size:
                chosen[m] = i
                m += 1
    starts[groups] = m
    return m


@_compile
def bend_block(block, indices, factor):  # type: ignore[no-untyped-def]
    """block[a, b] *= D_a D_b."""
    for a in range(indices.shape[0]):
        left, row = factor[indices[a]], block[a]
        for b in range(indices.shape[0]):
            row[b] *= left * factor[indices[b]]


@_compile
def move_gradient(g, K, factor, changed, delta):  # type: ignore[no-untyped-def]
    """g += K[:, changed] δ, or DKD[:, changed] δ where there is a factor."""
    n = g.shape[0]
    if factor.shape[0] == 0:
        add_rows(g, K, changed, delta, 0, n)
        return
    sums = np.zeros(n)
    add_rows(sums, K, changed, delta * factor[changed], 0, n)
    for i in range(n):
        g[i] += factor[i] * sums[i]


@_compile
def run_rounds(K, factor, diagonal, g, beta, lower, upper, labels, groups, goal, size, max_steps):  # type: ignore[no-untyped-def]
    """Rounds until the violation of g is at most ``goal``; ``factor`` is D, or empty; see the module."""
    n = g.shape[0]
    lows, highs, shares, starts = np.empty(groups), np.empty(groups), np.empty(groups), np.empty(groups + 1, np.int64)
    is_taken, values, chosen = np.empty(n, np.bool_), np.empty(n), np.empty(size, np.int64)
    flat, small, curved = np.empty(size * size, K.dtype), np.empty(size, K.dtype), np.empty(size, K.dtype)
    inside, low, high = np.empty(size), np.empty(size), np.empty(size)
    changed, delta = np.empty(size, np.int64), np.empty(size)
    q, steps, rounds, least_curvature = 0, 0, 0, np.inf
    while True:
        violation = measure(g, beta, lower, upper, labels, lows, highs)
        if violation <= goal or steps >= max_steps:
            break
        set_shares(g, beta, lower, upper, labels, lows, highs, size, shares)
        q = choose(g, beta, lower, upper, labels, groups, size, chosen, q, is_taken, values, starts, shares)
        block = flat[: q * q].reshape(q, q)  # a slice of a matrix would be strided, and its rows not vectorise
        gather_block(K, chosen[:q], block)
        if factor.shape[0]:
            bend_block(block, chosen[:q], factor)
        for a in range(q):
            i = chosen[a]
            centre = 0.5 * (lows[labels[i]] + highs[labels[i]])
            small[a] = (
                g[i] - centre if abs(centre) < np.inf else g[i]
            )  # only differences count; small numbers round less
            curved[a], inside[a], low[a], high[a] = diagonal[i], beta[i], lower[i], upper[i]
        done, _, curvature = solve_block(
            block, curved[:q], small[:q], inside[:q], low[:q], high[:q], starts,
            max(0.1 * violation, 0.3 * goal), min(20 * q, max_steps - steps),
        )  # fmt: skip
        steps, rounds, least_curvature = steps + done, rounds + 1, min(least_curvature, curvature)
        m = 0
        for a in range(q):
            if inside[a] != beta[chosen[a]]:
                changed[m], delta[m] = chosen[a], inside[a] - beta[chosen[a]]
                beta[chosen[a]] = inside[a]
                m += 1
        if m == 0:
            break
        move_gradient(g, K, factor, changed[:m], delta[:m])
    return steps, rounds, violation, least_curvature
