"""Kernel scaling: fit, bend the kernel by what was learnt, fit again.

Solves
    1. A C-SVC with kernel k; its score is f₀.
    2. A bend B_t from f_{t−1} and its support vectors (``askew.kernels.bends``), then the C-SVC with the kernel
       D_t(x)k(x, x')D_t(x'), started from the solution before. Once is the papers' method: D_1 = B_1. Going on,
       D_t = (B_1 ⋯ B_t)^{1/t}: the last bend alone makes the scores jump to and fro between two states (seen on most
       data), the product makes every point vanish; their geometric mean comes to rest.
Given
    A ``Task`` (kernel matrix, labels, costs), a rule that makes a bend, and ``solve(problem, start) → Solution``.
Returns
    Stages: of each fit, an expansion with coefficients β_i D(x_i) and the bend it stands on. A new point is scored by
        f₀(x) = Σ β_i k(x_i, x) + b₀,    f_t(x) = D_t(x) Σ β_i D_t(x_i) k(x_i, x) + b_t,
    where all sums go over one union of support vectors and are taken in one pass.
Stops when
    the training scores move by at most ``tol`` of their largest, or after ``max_scalings`` bends.
Reference
    Maratea and Petrosino, section 3; Amari and Wu (1999); Williams et al. (2005); Wu and Chang (2003, 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import InfeasibleError
from askew.kernels import Gram
from askew.kernels.bends import Bend, Distances, NegativeDistance, Sight, on_rows
from askew.kernels.conformal import Conformal
from askew.methods import c_svc
from askew.methods.expansion import Expansion
from askew.qp import Problem, Solution

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


class Solve(Protocol):
    """A solver that can start from a given point."""

    def __call__(self, problem: Problem, start: Vector | None = None) -> Solution: ...


@dataclass(frozen=True)
class Task:
    """A two-class problem on the points of a kernel matrix.

    Attributes
    ----------
    matrix : SymmetricMatrix
        k on the training rows.
    y : array of ±1
    cost : array
        C times class weight times sample weight.
    weight : array
        Sample weights: what a row counts when classes are compared in size.
    identity : array of int
        Equal numbers for equal rows, so that a repeated row counts as one support vector.
    input_space : SymmetricMatrix or None
        −½‖x − x'‖² on the rows, for bends that measure distances there; None where only k is known.
    """

    matrix: Any
    y: Vector
    cost: Vector
    weight: Vector
    identity: Indices
    input_space: Any = None

    @property
    def majority_sign(self) -> float:
        """The label of the class with more weight; −1 when they weigh the same."""
        return 1.0 if self.weight[self.y > 0].sum() > self.weight[self.y < 0].sum() else -1.0

    @property
    def is_minority(self) -> NDArray[np.bool_]:
        return self.y != self.majority_sign

    def distances(self, space: str) -> Distances | None:
        """Distances between the rows, in feature or input space."""
        if space == "none":
            return None
        return Distances(self.input_space if space == "input" and self.input_space is not None else self.matrix)

    def anchors(self, beta: Vector) -> Indices:
        """Support vectors, without those that rounding alone made so, and every row once within its class."""
        support = np.flatnonzero(np.abs(beta) > 1e-10 * self.cost)
        pairs = np.stack([self.identity[support], self.y[support] > 0])
        _, first = np.unique(pairs, axis=1, return_index=True)
        return support[np.sort(first)]

    def part(self, rows: Indices) -> Task:
        """The same problem on some of the rows."""
        space = None if self.input_space is None else self.input_space.subset(rows)
        return Task(
            self.matrix.subset(rows), self.y[rows], self.cost[rows], self.weight[rows], self.identity[rows], space
        )


@dataclass(frozen=True)
class Fitted:
    """A solved machine on a task, as the next bend sees it.

    Attributes
    ----------
    solution : Solution
    score : array
        f on the training rows.
    log_factor : array
        log D there.
    stage : Stage
    """

    solution: Solution
    score: Vector
    log_factor: Vector
    stage: Stage


@dataclass(frozen=True)
class Stage:
    """f(x) = D(x) Σ coefficients k(x_i, x) + intercept, D the mean of this bend and those of the stages before."""

    expansion: Expansion
    bend: Bend | None

    def moved(self, position: Indices) -> Stage:
        """The same stage where row i stands at position[i]."""
        e = self.expansion
        expansion = Expansion(position[e.support], e.coefficients, e.intercept)
        return Stage(expansion, None if self.bend is None else self.bend.moved(position))


Rule = Callable[[Task, Fitted], Bend | None]


def input_space(X: Any) -> Any:
    """The matrix whose feature distances are the distances of the rows of X."""
    return Gram(NegativeDistance(), X)


def first_fit(task: Task, solve: Solve) -> Fitted:
    """The plain C-SVC."""
    solution = solve(c_svc.formulate(task.matrix, task.y, task.cost))
    return _read(task, solution, np.zeros(task.matrix.n), None)


def scaled_fit(task: Task, before: Fitted, bend: Bend, solve: Solve, number: int = 1) -> Fitted:
    """The C-SVC on the kernel bent by what the machine before has learnt: the ``number``-th bend."""
    bent = on_rows(bend, before.score, task.distances(bend.space))
    log_factor = before.log_factor + (bent - before.log_factor) / number
    _refuse_underflow(task, np.exp(log_factor))
    problem = c_svc.formulate(Conformal(task.matrix, np.exp(log_factor)), task.y, task.cost)
    return _read(task, solve(problem, before.solution.beta), log_factor, bend)


def fit(task: Task, rule: Rule, solve: Solve, max_scalings: int = 1, tol: float = 1e-3) -> list[Fitted]:
    """The plain machine, then one per bend; the last one is the answer."""
    return scale(task, first_fit(task, solve), rule, solve, max_scalings, tol)


def scale(
    task: Task, first: Fitted, rule: Rule, solve: Solve, max_scalings: int = 1, tol: float = 1e-3
) -> list[Fitted]:
    """Bend and fit again, from a machine already at hand."""
    machines = [first]
    for number in range(1, max_scalings + 1):
        before = machines[-1]
        bend = rule(task, before)
        if bend is None:
            break
        machines.append(scaled_fit(task, before, bend, solve, number))
        score = machines[-1].score
        if np.max(np.abs(score - before.score)) <= tol * max(1.0, float(np.max(np.abs(score)))):
            break
    return machines


def score(stages: Sequence[Stage], sums: NDArray[Any], distances: Callable[[Bend], NDArray[Any]]) -> Vector:
    """f of the last stage at some points.

    Parameters
    ----------
    stages : sequence of Stage
    sums : array of shape (n_points, n_stages)
        Σ_i coefficients_i k(x_i, x) of every stage.
    distances : callable
        Squared distances of the points to a bend's anchors.
    """
    values: Vector = sums[:, 0] + stages[0].expansion.intercept
    log_factor = np.zeros(len(sums))
    for number, (column, stage) in enumerate(zip(sums.T[1:], stages[1:], strict=True), start=1):
        if stage.bend is not None:
            log_factor += (stage.bend.log_factor(Sight(values, distances(stage.bend))) - log_factor) / number
            values = np.exp(log_factor) * column + stage.expansion.intercept
    return values


def _read(task: Task, solution: Solution, log_factor: Vector, bend: Bend | None) -> Fitted:
    intercept = c_svc.recover(solution).intercept
    values = solution.gradient + task.y + intercept
    expansion = Expansion.of(solution.beta * np.exp(log_factor), intercept)
    return Fitted(solution, values, log_factor, Stage(expansion, bend))


def _refuse_underflow(task: Task, factor: Vector) -> None:
    """A class whose rows all vanish from the bent kernel leaves nothing to learn."""
    tiny = np.sqrt(np.finfo(np.float64).tiny)  # below it D² K D² is no normal number any more
    for name, mine in (("minority", task.is_minority), ("majority", ~task.is_minority)):
        if np.all(factor[mine] < tiny):
            raise InfeasibleError(
                f"The bend takes all {int(mine.sum())} rows of the {name} class out of the kernel: D is at most "
                f"{float(factor[mine].max()):.3g} there, below {tiny:.3g}. Choose a smaller k, such as 1, "
                'or k="auto".'
            )
