"""KernelScaledSVC along paths: one kernel for all folds, one plain fit for all strengths of the bend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.estimators.class_weight import weights_of_classes
from askew.estimators.scaled_machines import ScaledMachines
from askew.methods import kernel_scaling
from askew.methods.kernel_scaling import Fitted, Task
from askew.methods.kernel_scaling_fold import of_training_rows
from askew.methods.kernel_scaling_rules import Strengths, rule_of
from askew.methods.kernel_scaling_search import candidates_of
from askew.qp import Problem, Solution
from askew.summaries import row_identity
from askew.tuning import Candidate, Fold, PathPoint, Stage, start_from, widths

STIFFER = (1.0, 10.0)  # times the best C of the plain fit: a bent kernel is smaller, and the same C softer


@dataclass(frozen=True)
class _Plain:
    """The plain fit of a fold at one cost, and what does not change along the path."""

    fit: Fitted
    cost: NDArray[np.float64]
    identity: NDArray[np.int64]


class ScaledSearch(ScaledMachines):
    """What KernelScaledSVC offers to a search (``askew.tuning``)."""

    def _path_parameters(self) -> frozenset[str]:
        bend = {"scaling", "k", "k_majority", "k_minority", "max_scalings", "scoring", "tolerance", "n_folds"}
        return frozenset({"C", "class_weight", "multi_class", *bend})

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Any) -> PathPoint:
        self._check_strengths()
        self._check_diagonal(fold.matrix)
        known = None if last is None else last.memory
        by_class = weights_of_classes(self.class_weight, fold.classes, fold.codes, fold.weight)
        space = kernel_scaling.input_space(fold.X) if self._measures_input_space() else None
        task = Task(
            fold.matrix,
            fold.signs,
            self.C * by_class[fold.codes] * fold.weight,
            fold.weight,
            self._identity(fold) if known is None else known.identity,
            space,
        )
        plain = self._plain(task, known, solve)
        rule = of_training_rows(rule_of(self.scaling, self._strengths(task, fold)), fold.train)
        machines = kernel_scaling.scale(task, plain.fit, rule, self._from(solve), self.max_scalings, self.tol)
        are_settled = all(machine.solution.status.has_converged for machine in machines)
        return PathPoint(machines[-1].score, machines[-1].solution.beta, are_settled, plain)

    def _search_stages(self, gamma_unit: float, least_shares: NDArray[np.float64]) -> list[Stage]:
        """Cost and width of the plain machine, then the strength of the bend, with C as it is and stiffer."""
        nothing = self._named((0.0, 0.0))
        plain = [
            {"C": 10.0**power, **nothing, **width}
            for width in widths(self.kernel, gamma_unit)
            for power in range(-1, 4)
        ]
        strengths = candidates_of(self.scaling, (None, None))[1:]

        def bent(best: Any) -> list[Candidate]:
            every = [(stiffer, strength) for stiffer in STIFFER for strength in strengths]
            return [{**best, "C": stiffer * best["C"], **self._named(strength)} for stiffer, strength in every]

        return [lambda _: plain, bent]

    def _named(self, strengths: Strengths) -> Candidate:
        if self.scaling == "asymmetric":
            return {"k_majority": strengths[0], "k_minority": strengths[1]}
        return {"k": strengths[0]}

    def _strengths(self, task: Task, fold: Fold) -> Strengths:
        """As the user gave them, or as a fit on the training rows would choose them."""
        wanted = (self.k_majority, self.k_minority) if self.scaling == "asymmetric" else (self.k, self.k)
        if "auto" in wanted:
            return self._search(task.part(fold.train), wanted).chosen
        return float(wanted[0]), float(wanted[1])

    def _plain(self, task: Task, known: _Plain | None, solve: Any) -> _Plain:
        """The plain fit at these costs: that of the last point where they are the same, else started from it."""
        if known is not None and np.array_equal(known.cost, task.cost):
            return known
        near = None
        if known is not None:
            near = PathPoint(known.fit.score - known.fit.stage.expansion.intercept, known.fit.solution.beta, True)
        fit = kernel_scaling.first_fit(task, partial(self._from(solve), **start_from(near)))
        return _Plain(fit, task.cost, task.identity)

    def _from(self, solve: Any) -> Any:
        def run(problem: Problem, start: Any = None, **known: Any) -> Solution:
            found: Solution = solve(problem, start=start, **known, tol=self.tol, max_iter=self.max_iter)
            return found

        return run

    def _identity(self, fold: Fold) -> NDArray[np.int64]:
        """Of the training rows, as a fit sees them; the others have no part in a bend."""
        train, identity = fold.train, np.zeros(len(fold.codes), np.int64)
        mine = fold.X[np.ix_(train, train)] if self.kernel == "precomputed" else fold.X[train]
        identity[train] = row_identity(mine)
        return identity
