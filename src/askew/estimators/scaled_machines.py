"""The machines inside a kernel-scaled classifier: whom they separate, how they are fitted, stored and scored."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import host, is_elsewhere
from askew.estimators.kernel_machine import KernelMachine
from askew.exceptions import DataError, ParameterError
from askew.kernels import Gram
from askew.kernels.points import squared_norms
from askew.methods import kernel_scaling, kernel_scaling_measures
from askew.methods.kernel_scaling import Fitted, Task
from askew.methods.kernel_scaling_rules import ANCHORED, Strengths, rule_of
from askew.methods.kernel_scaling_score import (
    Surroundings,
    columns_of,
    last_columns,
    needs_distances,
    scores_from_sums,
    unite,
)
from askew.methods.kernel_scaling_search import Search, candidates_of, search
from askew.summaries import row_identity
from askew.threads import workers

Indices = NDArray[np.int64]
Vector = NDArray[np.float64]


class ScaledMachines(KernelMachine):
    """Base of KernelScaledSVC: two-class machines by pair or by class, each bent on its own."""

    def _check_strengths(self) -> None:
        """Refuse a strength that this scaling does not use, rather than ignore it."""
        unused = ("k",) if self.scaling == "asymmetric" else ("k_majority", "k_minority")
        used = "k_majority and k_minority" if self.scaling == "asymmetric" else "k"
        for name in unused:
            if getattr(self, name) != "auto":
                raise ParameterError(
                    f"{name}={getattr(self, name)!r} has no meaning for scaling={self.scaling!r}, which is set by "
                    f'{used}. Leave {name}="auto".'
                )

    def _fit_machines(self, X: Any, codes: Indices, cost: Vector, weight: Vector, rows: Indices) -> None:
        """Fit every machine and set all that is known of them."""
        matrix = self._kernel_matrix(X, weight)
        self._check_diagonal(matrix)
        space = kernel_scaling.input_space(X) if self._measures_input_space() else None
        identity = row_identity(host(X) if is_elsewhere(X) else X)
        fits, searches = [], []
        with workers():  # one pool for all the small programmes of a search
            for mine, y in self._splits(codes):
                task = Task(matrix, y, cost, weight, identity, space)
                task = task if len(mine) == len(codes) else task.part(mine)
                machines, found = self._fit_machine(task)
                fits.append((machines, mine))
                searches.append(found)
        self.search_ = searches
        self._store(X, rows, codes, fits)
        self._certify([machines for machines, _ in fits])

    def _splits(self, codes: Indices) -> list[tuple[Indices, Vector]]:
        """(rows, ±1 of all rows) of each machine: scikit-learn's order, where two classes score for the second."""
        n_classes = int(codes.max()) + 1
        everything = np.arange(len(codes))
        if n_classes == 2:
            return [(everything, np.where(codes == 1, 1.0, -1.0))]
        if self.multi_class == "ovr":
            return [(everything, np.where(codes == c, 1.0, -1.0)) for c in range(n_classes)]
        return [
            (np.flatnonzero((codes == i) | (codes == j)), np.where(codes == i, 1.0, -1.0))
            for i, j in combinations(range(n_classes), 2)
        ]

    def _fit_machine(self, task: Task) -> tuple[list[Fitted], Search | None]:
        wanted = (self.k_majority, self.k_minority) if self.scaling == "asymmetric" else (self.k, self.k)
        found, strengths = None, wanted
        if "auto" in wanted:
            found = self._search(task, wanted)
            strengths = found.chosen
        rule = rule_of(self.scaling, (float(strengths[0]), float(strengths[1])))
        machines = kernel_scaling.fit(task, rule, self._solve, self.max_scalings, self.tol)
        self._note_strengths(strengths)
        return machines, found

    def _search(self, task: Task, wanted: tuple[Any, Any]) -> Search:
        fixed = tuple(None if k == "auto" else float(k) for k in wanted)
        measures = {
            "balanced_accuracy": kernel_scaling_measures.balanced_accuracy_gain,
            "tolerance_auc": kernel_scaling_measures.tolerance_auc_gain(self.tolerance, -task.majority_sign),
        }
        return search(
            task,
            self.scaling,
            candidates_of(self.scaling, fixed),
            self._solve,
            measures[self.scoring],
            n_folds=self.n_folds,
            max_scalings=self.max_scalings,
            tol=self.tol,
        )

    def _note_strengths(self, strengths: Strengths) -> None:
        names = ("k_majority_", "k_minority_") if self.scaling == "asymmetric" else ("k_",)
        for name, value in zip(names, strengths, strict=False):
            setattr(self, name, np.append(getattr(self, name, np.empty(0)), float(value)))

    def _measures_input_space(self) -> bool:
        return self.scaling == "support" and self.kernel != "precomputed"

    def _check_diagonal(self, matrix: Any) -> None:
        """A distance in feature space needs k(x, x) of new rows, which a precomputed cross kernel does not hold."""
        if self.kernel != "precomputed" or self.scaling not in ANCHORED:
            return
        own = matrix.diagonal()
        if np.ptp(own) > 1e-6 * np.abs(own).max():
            raise DataError(
                f"scaling={self.scaling!r} measures distances, which need k(x, x) of every row; with "
                f'kernel="precomputed" it must be the same for all, and here it goes from {own.min():.4g} to '
                f"{own.max():.4g}. Divide k(x, x') by √(k(x, x)k(x', x')), or use scaling=\"asymmetric\"."
            )

    def _store(self, X: Any, rows: Indices, codes: Indices, fits: list[tuple[list[Fitted], Indices]]) -> None:
        stages = [[fitted.stage.moved(mine) for fitted in machines] for machines, mine in fits]
        union, self.stages_ = unite(stages, codes)
        self._keep_support(X, rows, union)
        self.dual_coef_ = last_columns(self.stages_, len(union))
        self.intercept_ = np.array([machine[-1].expansion.intercept for machine in self.stages_])
        self.n_scalings_ = np.array([len(machine) - 1 for machine in self.stages_])
        if self.kernel == "precomputed":
            self._own = np.full(len(union), float(X[0, 0]))

    def _certify(self, fits: list[list[Fitted]]) -> None:
        last = [machines[-1].solution for machines in fits]
        self.dual_gap_ = np.array([s.certificate.duality_gap for s in last])
        self.kkt_violation_ = np.array([s.certificate.violation for s in last])
        self.n_iter_ = np.array([sum(m.solution.n_iter for m in machines) for machines in fits])
        self._report_convergence([m.solution for machines in fits for m in machines])

    def _machine_scores(self, X: Any, machines: Any = None) -> NDArray[np.float64]:
        """Score of every machine at every row: one pass over the support vectors."""
        machines = self.stages_ if machines is None else machines
        if not needs_distances(machines):
            return scores_from_sums(machines, self._expand(X, columns_of(machines, len(self.support_))))
        if self.kernel == "precomputed":
            around = Surroundings(_Columns(self.support_), self._own, lambda Z: np.full(len(Z), self._own[0]))
            return around.scores(machines, X)
        support = self.support_vectors_
        X, support = self._together(X, support)
        kernel = Gram(self._kernel_function(), support)
        space = kernel_scaling.input_space(support) if self._measures_input_space() else None
        return Surroundings(kernel, kernel.diagonal(), self._self_kernel, space).scores(machines, X)

    def _self_kernel(self, X: Any) -> Vector:
        """k(x, x) of each row."""
        return self._kernel_function().diagonal(squared_norms(X))


class _Columns:
    """The columns of a precomputed cross kernel that belong to support vectors."""

    def __init__(self, support: Indices) -> None:
        self.support = support

    def cross(self, Z: Any) -> NDArray[np.float64]:
        return np.asarray(Z[:, self.support], dtype=np.float64)
