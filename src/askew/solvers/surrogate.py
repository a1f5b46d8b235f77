"""Covariance-guided programmes through a surrogate whose rows are cheap, where those of the matrix itself are dear.

Solves
    minimise ½ β'Pβ + p'β   subject to   lower ≤ β ≤ upper   and equality sums (``askew.qp``),   P = ηQ + (1−η)sΔ.
Given
    A ``Problem`` whose matrix offers ``GUIDED``, and a surrogate P̃ = aQ + rest ≈ P (``covariance_sketch``): rows of Q
    are cheap, and kept from round to round and from programme to programme, and the rest moves a gradient by itself.
    P̃ is solved first. Each round, with g = Pβ + p, solves
        minimise ½ d'P̃d + g'd,   lower ≤ β + d ≤ upper,   sums of d zero
    by the working-set solver, and moves to β + θd with the best step θ = min(1, −g'd / d'Pd): the objective falls in
    every round whatever P̃ is, and the next gradient is g + θPd. P̃ then learns from d and Pd.
    Products Pd are made in the precision of the surrogate until the end seems near; from there on g is computed anew in
    float64. When rounds stop helping, the rows of P itself finish the work.
    The trace of Δ, without which neither the scale s nor a tolerance in units of Q is known, takes a pass over all
    pairs of points. ``look_ahead`` has that pass do a product as well: it solves the surrogate first, with the trace
    that a few rows suggest, so that the exact P meets its first β with the gradient at hand.
Returns
    ``Solution``, judged on a float64 gradient of P alone. A surrogate decides how many rounds there are, never the
    answer.
Stops when
    the KKT violation is at most tol, or after max_iter inner steps.
Reference
    Lange (2016), MM Optimization Algorithms, chapter 4; Tseng and Yun (2009), Math. Programming 117:387, for inexact
    quadratic models on polyhedra.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from askew.qp import Ability, Constraint, GroupSums, Problem, Solution, Sum, certify
from askew.qp.problem import Vector
from askew.solvers.covariance_sketch import CovarianceSketch
from askew.solvers.request import Kept, Request
from askew.solvers.start import feasible_start
from askew.solvers.status import judge
from askew.solvers.working_set.loop import solve_by_rows
from askew.solvers.working_set.rows import RowCache
from askew.threads import workers

PATIENCE = 12  # rounds that may pass without halving the violation
INNER_ACCURACY = 0.005  # of the present violation
GUESSED, CORRECTED = 512, 256  # variables of a working set: of the first step, and of those that correct
HOPE = 5.0  # times tol: a violation foreseen that is worth a judgement, which costs two rounds
BEGINNING = 1e-4  # accuracy of the first round, in units of K times the sums


def solve_guided(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem`` to a KKT violation of ``request.tol``, with what earlier programmes on this Δ have left."""
    return _rounds_on(problem.matrix.covariance, request.memory, kept).solve(problem, request)  # type: ignore[attr-defined]


def look_ahead(covariance: Any, pose: Callable[[float], Problem], request: Request, kept: Kept) -> None:
    """Begin the programme that ``pose`` makes of a trace of Δ, on a rough trace, and learn the trace on the way."""
    _rounds_on(covariance, request.memory, kept).look_ahead(pose, request)


def _rounds_on(covariance: Any, memory: int, kept: Kept) -> GuidedRounds:
    if kept.surrogate is None or kept.surrogate.covariance is not covariance:
        if kept.surrogate is not None:
            kept.surrogate.close()
        kept.surrogate = GuidedRounds(covariance, CovarianceSketch(covariance), memory)
    return kept.surrogate


class Surrogate(Protocol):
    """P̃ = factor · matrix + rest, which can learn from a step.

    ``matrix`` has cheap rows; ``diagonal``, ``block`` and ``argument_bound`` are those of P̃ itself.
    """

    matrix: Any
    factor: float
    dtype: Any

    def rest(self, indices: Any, steps: Vector) -> Vector:
        """What the rest adds to P̃[:, indices] steps."""
        ...

    def even_gradient(self) -> Vector:
        """Roughly P̃ times a β without preferences: where to begin."""
        ...

    def product(self, move: Vector, believed: Vector) -> Vector:
        """Pd in the precision ``dtype``, given P̃d."""
        ...

    def refine(self, move: Vector, change: Vector, believed: Vector) -> Surrogate:
        """The surrogate with the curvature of P along ``move``, given Pd and P̃d."""
        ...


class GuidedRounds:
    """Rounds of steps on one Δ; rows of Q, and what products have shown, are kept between programmes.

    Parameters
    ----------
    covariance : KernelCovariance
        Δ, on Q.
    sketch : object with ``dtype`` and ``surrogate(guided)``
        Makes the first surrogate of every P.
    memory : int
        Bytes for rows of Q.
    """

    def __init__(self, covariance: Any, sketch: Any, memory: int) -> None:
        self.covariance, self.sketch, self.steps = covariance, sketch, 0
        self._rows = RowCache(covariance.matrix, sketch.dtype, memory)
        self._seen: list[tuple[Vector, Vector, Vector, bool]] = []  # β, Qβ, Δβ, and whether both are exact

    def close(self) -> None:
        """Hand the memory of the rows on."""
        self._rows.close()

    def look_ahead(self, pose: Callable[[float], Problem], request: Request) -> None:
        """See ``look_ahead`` of the module."""
        problem = pose(self.sketch.trace)
        surrogate = self.sketch.surrogate(problem.matrix)
        beta, believed = self._guess(problem, surrogate, request)
        plain = surrogate.plain(beta, believed)
        self._seen.append((beta, plain, self.covariance.survey(plain), False))

    def solve(self, problem: Problem, request: Request) -> Solution:
        """Solve one programme, from a point whose products are known where there is one."""
        matrix: Any = problem.matrix
        surrogate = self.sketch.surrogate(matrix)
        found = self._run(_State(problem, surrogate, request.tol, *self._begin(problem, surrogate, request)), request)
        if matrix.share:
            plain = matrix.plain(found.beta)
            spread = (found.gradient - problem.linear - matrix.eta * plain) / matrix.share
            self._seen.append((found.beta, plain, spread, True))
        return found

    def _begin(self, problem: Problem, surrogate: Any, request: Request) -> tuple[Vector, Vector, bool]:
        """β and its gradient: where the look ahead led, at a β seen before (Pβ is then known for any η), or anew."""
        matrix: Any = problem.matrix
        for beta, plain, spread, is_exact in self._seen:
            if request.start is None or np.array_equal(beta, request.start):
                return beta, problem.linear + matrix.eta * plain + matrix.share * spread, is_exact
        if request.start is None:
            beta, believed = self._guess(problem, surrogate, request)
            return beta, problem.linear + surrogate.product(beta, believed), False
        beta = feasible_start(problem, request.start)
        return beta, problem.linear + matrix.matvec_from(matrix.plain(beta), surrogate.dtype), False

    def _guess(self, problem: Problem, surrogate: Any, request: Request) -> tuple[Vector, Vector]:
        """Where the surrogate itself is solved, no better than it deserves: β and P̃β."""
        beta = feasible_start(problem, gradient=surrogate.even_gradient() + problem.linear)
        product, filled = surrogate.rest(slice(None), beta), np.flatnonzero(beta)
        with workers() as pool:
            for first in range(0, len(filled), 1024):
                part = filled[first : first + 1024]
                self._rows.add_product(product, part, surrogate.factor * beta[part], pool, keep=False)
        size = float(np.max(np.abs(surrogate.diagonal()))) * float(np.max(np.abs(problem.constraint.totals)))
        self.steps = 0
        accuracy = max(request.tol, BEGINNING * size)
        move, change = self._step(problem, surrogate, beta, product + problem.linear, accuracy, GUESSED, request)
        return _arrive(problem, beta, move), product + change

    def _run(self, state: _State, request: Request) -> Solution:
        """Rounds from β and its gradient, which is exact or as good as the surrogate's precision."""
        problem, tol = state.problem, request.tol
        while True:
            verdict = certify(problem, state.beta, state.gradient)
            is_good = verdict.violation <= (tol if state.is_exact else 0.9 * tol)
            if is_good or request.max_iter >= 0 >= self._left(request):
                if state.is_exact:
                    status = judge(
                        problem,
                        verdict,
                        tol,
                        has_run_out=True,
                        least_curvature=state.least_curvature,
                        precision=self.sketch.dtype,
                    )
                    found = Solution(state.beta, state.gradient, status, verdict, self.steps, state.rounds, {})
                    self.steps = 0
                    return found
                state.judge()
                continue
            if state.has_lost_patience(verdict.violation):
                return self._by_rows(state, request)
            state.learn()
            accuracy = max(INNER_ACCURACY * verdict.violation, 0.3 * tol)
            step = self._step(problem, state.surrogate, state.beta, state.gradient, accuracy, CORRECTED, request)
            state.take(*step)

    def _left(self, request: Request) -> int:
        """Steps that may still be taken; -1 for no limit."""
        return max(0, request.max_iter - self.steps) if request.max_iter >= 0 else -1

    def _step(
        self, problem: Problem, surrogate: Any, beta: Vector, gradient: Vector, tol: float, size: int, request: Request
    ) -> tuple[Vector, Vector]:
        """d and P̃d, with d the step from β that is best for the surrogate."""
        lower, upper = problem.lower - beta, problem.upper - beta
        matrix: Any = _OnKeptRows(surrogate, self._rows)
        posed = Problem(matrix, gradient, lower, upper, _zero_sums(problem.constraint))
        wishes = Request(tol=tol, max_iter=self._left(request))
        found = solve_by_rows(posed, wishes, Kept(), dtype=surrogate.dtype, working_set_size=size, is_judged=False)
        self.steps += found.n_iter
        return found.beta, found.gradient - gradient

    def _by_rows(self, state: _State, request: Request) -> Solution:
        """The end by rows of P itself."""
        kept = Kept()
        last = solve_by_rows(state.problem, replace(request, start=state.beta, max_iter=self._left(request)), kept)
        kept.forget()
        steps, self.steps = self.steps, 0
        return replace(last, n_iter=last.n_iter + steps, n_outer=last.n_outer + state.rounds)


@dataclass
class _State:
    """Where a programme stands."""

    problem: Problem
    surrogate: Any
    tol: float
    beta: Vector
    gradient: Vector
    is_exact: bool
    is_rough: bool = True
    """Whether products are made in the precision of the surrogate."""
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
            self.surrogate = self.surrogate.refine(*self.lesson)
            self.is_rough = self.is_rough and not self.is_exact

    def take(self, move: Vector, believed: Vector) -> None:
        """Go to β + d, or to the least objective on the way there."""
        moved = _arrive(self.problem, self.beta, move)
        move = moved - self.beta
        arrived = None if self.is_rough and not self._expects_to_arrive() else self.problem.gradient(moved)
        change = self.surrogate.product(move, believed) if arrived is None else arrived - self.gradient
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
    """A surrogate whose gradients are moved through kept rows of Q."""

    abilities = frozenset({Ability.UPDATES})

    def __init__(self, surrogate: Any, rows: RowCache) -> None:
        self.surrogate, self.rows = surrogate, rows
        self.n, self.is_psd = surrogate.n, surrogate.is_psd

    def argument_bound(self) -> float:
        return self.surrogate.argument_bound()

    def diagonal(self) -> Vector:
        return self.surrogate.diagonal()

    def matvec(self, v: Vector) -> Vector:
        return self.surrogate.matvec(v)

    def block(self, indices: Any, dtype: Any) -> Any:
        return self.surrogate.block(indices, dtype)

    def add_product_at(self, gradient: Vector, indices: Any, steps: Vector, dtype: Any) -> Vector:
        """g + P̃[:, indices] steps."""
        with workers() as pool:
            self.rows.add_product(gradient, indices, self.surrogate.factor * steps, pool)
        gradient += self.surrogate.rest(indices, steps)
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
