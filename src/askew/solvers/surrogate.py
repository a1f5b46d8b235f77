"""A solver for matrices whose rows are dear and whose products are not.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and equality sums (``askew.qp``).
Given
    A ``Problem``, and a stand-in K̃ = aQ + rest ≈ K: rows of Q are cheap, and kept from round to round, and the rest
    moves a gradient by itself. K̃ is solved first. Each round, with g = Kβ + p, solves
        minimise ½ d'K̃d + g'd,   lower ≤ β + d ≤ upper,   sums of d zero
    by the working-set solver, and moves to β + θd with the best step θ = min(1, −g'd / d'Kd): the objective falls in
    every round whatever K̃ is, and the next gradient is g + θKd. K̃ then learns from d and Kd.
    Products Kd are made in the precision of the stand-in until the end seems near; from there on g is computed anew in
    float64. When rounds stop helping, the rows of K itself finish the work.
Returns
    ``Solution``, judged on a float64 gradient of K alone. A stand-in decides how many rounds there are, never the
    answer.
Stops when
    the KKT violation is at most tol, or after max_iter inner steps.
Reference
    Lange (2016), MM Optimization Algorithms, chapter 4; Tseng and Yun (2009), Math. Programming 117:387, for inexact
    quadratic models on polyhedra.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.qp import Constraint, GroupSums, Problem, Solution, Status, Sum, certify
from askew.solvers.start import feasible_start
from askew.solvers.working_set import loop as working_set
from askew.solvers.working_set.rows import RowCache
from askew.threads import workers

Vector = NDArray[np.float64]

PATIENCE = 12  # rounds that may pass without halving the violation
INNER_ACCURACY = 0.005  # of the present violation
GUESSED, CORRECTED = 512, 256  # variables of a working set: of the first step, and of those that correct
HOPE = 5.0  # times tol: a violation foreseen that is worth a judgement, which costs two rounds
BEGINNING = 1e-4  # accuracy of the first round, in units of K times the sums


class StandIn(Protocol):
    """K̃ = factor · matrix + rest, which can learn from a step.

    ``matrix`` has cheap rows; ``diagonal``, ``block`` and ``argument_bound`` are those of K̃ itself.
    """

    matrix: Any
    factor: float
    dtype: Any

    def rest(self, indices: Any, steps: Vector) -> Vector:
        """What the rest adds to K̃[:, indices] steps."""
        ...

    def even_gradient(self) -> Vector:
        """Roughly K̃ times a β without preferences: where to begin."""
        ...

    def product(self, move: Vector, believed: Vector) -> Vector:
        """Kd in the precision ``dtype``, given K̃d."""
        ...

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
    with closing(Rounds(stand_in.matrix, stand_in.dtype, max_iter, cache_bytes)) as rounds:
        if start is not None:
            beta = feasible_start(problem, start)
            return rounds.solve(problem, stand_in, beta, problem.gradient(beta), tol, is_exact=True)
        beta, believed = rounds.guess(problem, stand_in, tol)
        return rounds.solve(problem, stand_in, beta, problem.linear + stand_in.product(beta, believed), tol)


class Rounds:
    """Rounds of steps on one Q, whose rows are kept between programmes.

    Parameters
    ----------
    matrix : SymmetricMatrix
        Q.
    dtype : float32 or float64
        Precision of its rows.
    max_iter : int
        Limit of inner steps of a programme; -1 for none.
    cache_bytes : int
    """

    def __init__(self, matrix: Any, dtype: Any, max_iter: int, cache_bytes: int) -> None:
        self.max_iter, self.cache_bytes, self.steps = max_iter, cache_bytes, 0
        self._rows = RowCache(matrix, dtype, cache_bytes)

    def close(self) -> None:
        """Hand the memory of the rows on."""
        self._rows.close()

    def guess(self, problem: Problem, stand_in: Any, tol: float) -> tuple[Vector, Vector]:
        """Where the stand-in itself is solved, no better than it deserves: β and K̃β."""
        beta = feasible_start(problem, gradient=stand_in.even_gradient() + problem.linear)
        product, filled = stand_in.rest(slice(None), beta), np.flatnonzero(beta)
        with workers() as pool:
            for first in range(0, len(filled), 1024):
                part = filled[first : first + 1024]
                self._rows.add_product(product, part, stand_in.factor * beta[part], pool, keep=False)
        size = float(np.max(np.abs(stand_in.diagonal()))) * float(np.max(np.abs(problem.constraint.totals)))
        self.steps = 0
        move, change = self._step(
            problem, stand_in, beta, product + problem.linear, max(tol, BEGINNING * size), GUESSED
        )
        return _arrive(problem, beta, move), product + change

    def solve(
        self, problem: Problem, stand_in: Any, beta: Vector, gradient: Vector, tol: float, *, is_exact: bool = False
    ) -> Solution:
        """Solve from β and its gradient, which is exact or as good as the stand-in's precision."""
        state = _State(problem, stand_in, tol, beta, gradient, is_exact)
        while True:
            verdict = certify(problem, state.beta, state.gradient)
            is_good = verdict.violation <= (tol if state.is_exact else 0.9 * tol)
            if is_good or self.max_iter >= 0 >= self._left:
                if state.is_exact:
                    status = _status(problem, is_good, state.least_curvature)
                    found = Solution(state.beta, state.gradient, status, verdict, self.steps, state.rounds, {})
                    self.steps = 0
                    return found
                state.judge()
                continue
            if state.has_lost_patience(verdict.violation):
                return self._by_rows(state)
            state.learn()
            accuracy = max(INNER_ACCURACY * verdict.violation, 0.3 * tol)
            state.take(*self._step(problem, state.stand_in, state.beta, state.gradient, accuracy, CORRECTED))

    @property
    def _left(self) -> int:
        """Steps that may still be taken; -1 for no limit."""
        return max(0, self.max_iter - self.steps) if self.max_iter >= 0 else -1

    def _step(
        self, problem: Problem, stand_in: Any, beta: Vector, gradient: Vector, tol: float, size: int | None = None
    ) -> tuple[Vector, Vector]:
        """d and K̃d, with d the step from β that is best for the stand-in."""
        lower, upper = problem.lower - beta, problem.upper - beta
        matrix: Any = _OnKeptRows(stand_in, self._rows)
        posed = Problem(matrix, gradient, lower, upper, _zero_sums(problem.constraint))
        found = working_set.solve(
            posed, tol=tol, max_iter=self._left, dtype=stand_in.dtype, working_set_size=size, is_judged=False
        )
        self.steps += found.n_iter
        return found.beta, found.gradient - gradient

    def _by_rows(self, state: _State) -> Solution:
        """The end by rows of K itself."""
        last = working_set.solve(
            state.problem, start=state.beta, tol=state.tol, max_iter=self._left, cache_bytes=self.cache_bytes
        )
        steps, self.steps = self.steps, 0
        return replace(last, n_iter=last.n_iter + steps, n_outer=last.n_outer + state.rounds)


@dataclass
class _State:
    """Where a programme stands."""

    problem: Problem
    stand_in: Any
    tol: float
    beta: Vector
    gradient: Vector
    is_exact: bool
    is_rough: bool = True
    """Whether products are made in the precision of the stand-in."""
    rounds: int = 0
    least_curvature: float = np.inf
    lesson: tuple[Vector, Vector, Vector] | None = None
    history: list[float] = field(default_factory=list)

    def judge(self) -> None:
        """The gradient anew, in float64."""
        self.gradient, self.is_exact = self.problem.gradient(self.beta), True

    def learn(self) -> None:
        """What the last step showed; and that rough products have not been enough, where they were judged."""
        if self.lesson is not None:
            self.stand_in = self.stand_in.refine(*self.lesson)
            self.is_rough = self.is_rough and not self.is_exact

    def take(self, move: Vector, believed: Vector) -> None:
        """Go to β + d, or to the least objective on the way there."""
        moved = _arrive(self.problem, self.beta, move)
        move = moved - self.beta
        arrived = None if self.is_rough and not self._expects_to_arrive() else self.problem.gradient(moved)
        change = self.stand_in.product(move, believed) if arrived is None else arrived - self.gradient
        self.lesson = move, change, believed
        self.rounds += 1
        slope, curvature = float(self.gradient @ move), float(move @ change)
        self.least_curvature = min(self.least_curvature, curvature / max(float(move @ move), 1e-300))
        if arrived is not None and slope + 0.5 * curvature < 0:
            self.beta, self.gradient, self.is_exact = moved, arrived, True
            return
        theta = 1.0 if curvature <= 0 or slope + curvature <= 0 else max(0.0, -slope / curvature)
        self.beta = moved if theta == 1.0 else self.beta + theta * move
        self.gradient = self.gradient + theta * change
        self.is_exact = self.is_exact and arrived is not None

    def _expects_to_arrive(self) -> bool:
        """Whether a step as good as the last would leave about tol: then it is judged at once."""
        return len(self.history) > 1 and self.history[-1] ** 2 <= HOPE * self.tol * self.history[-2]

    def has_lost_patience(self, violation: float) -> bool:
        """Whether the last rounds have not halved the violation."""
        self.history.append(violation)
        return len(self.history) > PATIENCE and min(self.history[-PATIENCE:]) > 0.5 * min(self.history[:-PATIENCE])


class _OnKeptRows:
    """A stand-in whose gradients are moved through kept rows of Q."""

    def __init__(self, stand_in: Any, rows: RowCache) -> None:
        self.stand_in, self.rows = stand_in, rows
        self.n, self.is_psd = stand_in.n, stand_in.is_psd

    def argument_bound(self) -> float:
        return self.stand_in.argument_bound()

    def diagonal(self) -> Vector:
        return self.stand_in.diagonal()

    def matvec(self, v: Vector) -> Vector:
        return self.stand_in.matvec(v)

    def block(self, indices: Any, dtype: Any) -> Any:
        return self.stand_in.block(indices, dtype)

    def add_product_at(self, gradient: Vector, indices: Any, steps: Vector, dtype: Any) -> Vector:
        """g + K̃[:, indices] steps."""
        with workers() as pool:
            self.rows.add_product(gradient, indices, self.stand_in.factor * steps, pool)
        gradient += self.stand_in.rest(indices, steps)
        return gradient


def _zero_sums(constraint: Constraint) -> Constraint:
    if isinstance(constraint, GroupSums):
        return GroupSums(constraint.group, tuple(0.0 for _ in constraint.totals))
    return Sum(0.0)


def _arrive(problem: Problem, beta: Vector, move: Vector) -> Vector:
    """β + d, exactly at the bounds where d reaches them."""
    moved = np.clip(beta + move, problem.lower, problem.upper)
    moved = np.where(move == problem.lower - beta, problem.lower, moved)
    return np.where(move == problem.upper - beta, problem.upper, moved)


def _status(problem: Problem, is_good: bool, least_curvature: float) -> Status:
    if not is_good:
        return Status.MAX_ITER
    known = problem.matrix.is_psd
    if known is None:
        known = least_curvature >= -1e-8 * float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
    return Status.OPTIMAL if known else Status.STATIONARY
