"""Support vector classification on a kernel bent at the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import fetched, host, is_elsewhere
from askew.exceptions import DataError, ParameterError
from askew.fitting import (
    Classifies,
    KernelMachine,
    as_fitted,
    begin,
    check_in_memory,
    classes_against_rest,
    commit,
    pairs_of,
    read_classes,
    read_scoring,
    scored_anywhere,
    signs_of,
    telling_callbacks,
    votes_of_pairs,
    weights_of_classes,
)
from askew.kernels import Gram
from askew.kernels.points import squared_norms
from askew.methods import kernel_scaling, kernel_scaling_measures
from askew.methods.expansion import positive_side
from askew.methods.kernel_scaling import Fitted, Task
from askew.methods.kernel_scaling_fold import of_training_rows
from askew.methods.kernel_scaling_magnification import log_volume
from askew.methods.kernel_scaling_rules import ANCHORED, SCALINGS, Strengths, rule_of
from askew.methods.kernel_scaling_score import (
    Surroundings,
    columns_of,
    last_columns,
    needs_distances,
    scores_from_sums,
    unite,
)
from askew.methods.kernel_scaling_search import Search, candidates_of, search
from askew.qp import Problem, Solution
from askew.sklearn_private import Interval, StrOptions, one_vs_rest_scores
from askew.summaries import row_identity
from askew.threads import workers
from askew.tuning import Candidate, Fold, PathPoint, Stage, start_from, widths

Indices = NDArray[np.int64]
Vector = NDArray[np.float64]

STIFFER = (1.0, 10.0)  # times the best C of the plain fit: a bent kernel is smaller, and the same C softer
_STRENGTH: list[Any] = [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")]


class KernelScaledSVC(Classifies, KernelMachine):
    """C-support vector classifier on a kernel bent at the boundary of a first fit.

    Fits an SVC, takes from it a factor D(x) that is largest near the boundary, and fits again with the kernel
    D(x)k(x, x')D(x'): resolution is gained where the classes meet. On skewed data the plain boundary stands too near
    the rare class; the asymmetric scaling, which bends the two sides differently, moves it back without touching
    costs. Use it when both classes are known, the boundary is not linear, and balanced accuracy counts. When only the
    threshold is wrong, moving it (:class:`askew.ToleranceClassifier`) is cheaper; ``class_weight`` helps too, alone
    or with the scaling.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation in both fits, > 0. A bent kernel is smaller than the plain one, which makes the
        second fit softer: values from 10 upwards leave the bend more room than 1.
    scaling : {"asymmetric", "symmetric", "support", "adaptive", "boundary"}, default="asymmetric"
        Where D decays: with the score of the first fit, at its own rate on either side (AKS), or alike (KS); with the
        distance from the support vectors, in input space (Amari and Wu) or in feature space with a width for each
        (ACT); with the feature distance from points interpolated on a boundary moved towards the majority (KBA).
    k : "auto" or float ≥ 0, default="auto"
        Strength of the scalings with one. In units where it means the same for all data: of 1 / max f² for "symmetric",
        of 1 / mean squared distance between support vectors for "support", of the papers' own widths for "adaptive"
        and "boundary". 0 is the plain SVC.
    k_majority, k_minority : "auto" or float ≥ 0, default="auto"
        Strengths of "asymmetric" where the first fit says majority and minority, in units of 1 / max f²: D falls to
        exp(-k) at the training row farthest from the boundary.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
        With "precomputed", the scalings that measure distances need a constant diagonal, and "support" measures in
        feature space.
    degree : float, default=3
    gamma : {"scale", "auto"} or float, default="scale"
    coef0 : float, default=0.0
    max_scalings : int, default=1
        How often to bend and fit again; each bend is made from the fit before and laid on the plain kernel.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    class_weight : dict or "balanced", default=None
        Factor of C by class, in both fits.
    scoring : {"balanced_accuracy", "tolerance_auc"}, default="balanced_accuracy"
        What "auto" looks at. Balanced accuracy is what a plain SVC loses on skewed data, and every rare row has a say
        in it; t-AUC rests on few rows, and choosing by it raised neither it nor anything else reliably on unseen data.
    tolerance : float, default=0.1
        Largest false positive rate that counts in "tolerance_auc", where the minority is the positive class.
    n_folds : int, default=5
        Folds of the search. Fewer where a class has fewer different rows; with less than two, k = 0.
    tol : float, default=1e-3
        Largest KKT violation of each fit, and largest relative change of the scores at which scaling stops.
    cache_size : float, default=1024
        Megabytes for kernel rows.
    max_iter : int, default=-1
        Limit of solver steps of each fit, -1 for none.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_weight_ : array of shape (n_classes,)
    k_ : array of shape (n_machines,)
        Strength used, for scalings with one.
    k_majority_, k_minority_ : arrays of shape (n_machines,)
        Strengths used, for "asymmetric".
    search_ : list of Search or None, one per machine
        Candidates, gains over the plain SVC and their standard errors.
    support_ : array of shape (n_SV,)
        Rows that any of the fits stands on.
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    dual_coef_ : array of shape (n_machines, n_SV)
        Signed multipliers times D of the last fit: the score is D(x) Σ_j dual_coef_j k(x_j, x) plus the intercept.
    intercept_ : array of shape (n_machines,)
    stages_ : list of lists of Stage, one per machine
        The plain fit and every scaled one: expansion over ``support_`` and bend.
    n_scalings_ : array of shape (n_machines,)
        Bends made; 0 for k = 0.
    dual_gap_, kkt_violation_ : arrays of shape (n_machines,)
        Of the last fit.
    n_iter_ : array of shape (n_machines,)
        Solver steps of all fits of a machine, the search not counted.
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
    gamma_ : float

    Examples
    --------
    >>> from askew import KernelScaledSVC
    >>> from askew.datasets import make_ring
    >>> data = make_ring(600, rare=0.05, random_state=0)
    >>> model = KernelScaledSVC(C=10.0).fit(data.X, data.y)
    >>> model.decision_function(data.X).shape
    (600,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "scaling": [StrOptions(set(SCALINGS))],
        "k": _STRENGTH,
        "k_majority": _STRENGTH,
        "k_minority": _STRENGTH,
        "max_scalings": [Interval(Integral, 1, None, closed="left")],
        "multi_class": [StrOptions({"ovo", "ovr"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "scoring": [StrOptions({"balanced_accuracy", "tolerance_auc"})],
        "tolerance": [Interval(Real, 0, 1, closed="right")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
    }
    _learnt_privately = KernelMachine._learnt_privately | {"_own"}
    _scored_with = (*KernelMachine._scored_with, "scaling", "multi_class")

    def __init__(
        self,
        C: float = 1.0,
        *,
        scaling: str = "asymmetric",
        k: float | str = "auto",
        k_majority: float | str = "auto",
        k_minority: float | str = "auto",
        kernel: str = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        max_scalings: int = 1,
        multi_class: str = "ovo",
        class_weight: Any = None,
        scoring: str = "balanced_accuracy",
        tolerance: float = 0.1,
        n_folds: int = 5,
        tol: float = 1e-3,
        cache_size: float = 1024,
        max_iter: int = -1,
    ) -> None:
        self.C = C
        self.scaling = scaling
        self.k = k
        self.k_majority = k_majority
        self.k_minority = k_minority
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.max_scalings = max_scalings
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.scoring = scoring
        self.tolerance = tolerance
        self.n_folds = n_folds
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter

    @telling_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> KernelScaledSVC:
        """Fit, bend, fit again: one machine for two classes, else one per pair or per class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C by row; a weight of 2 equals the row given twice, in the search too.
        target : None
            Refused, as are rows beyond memory: a bent kernel is fitted on rows in memory.

        Returns
        -------
        self
        """
        new = begin(self)
        check_in_memory(self, X, target, "fit askew.SVC(approximation='nystroem') or askew.MomentSVC from the source")
        new._check_strengths()
        X, classes, codes, weight, rows = read_classes(new, X, y, sample_weight)
        by_class = weights_of_classes(self.class_weight, classes, codes, weight)
        new._fit_machines(X, codes, self.C * by_class[codes] * weight, weight, rows)
        new.classes_, new.class_weight_ = classes, by_class
        return commit(self, new)

    @property
    def coef_(self) -> Any:
        """There is none: a bent kernel is not linear in the features, whatever kernel was bent."""
        raise AttributeError(
            "KernelScaledSVC has no coef_: its score D(x) Σ_j dual_coef_j k(x_j, x) is not linear in the features. "
            'Use SVC(kernel="linear") for weights of the features.'
        )

    @scored_anywhere
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: ≥ 0 means ``classes_[1]`` for two classes.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        scores = self._machine_scores(read_scoring(self, X))
        if len(self.classes_) == 2:
            return scores[:, 0]
        if as_fitted(self, "multi_class") == "ovr":
            return scores
        return one_vs_rest_scores(~positive_side(scores), -scores, len(self.classes_))

    @scored_anywhere
    def plain_decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of the first fit of each machine, before any bend: what is to be compared with.

        Returns
        -------
        array of shape (n_samples,) for one machine, else (n_samples, n_machines)
        """
        scores = self._machine_scores(read_scoring(self, X), [machine[:1] for machine in self.stages_])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the sign of the score, votes of the pairs, or the largest score of the classes."""
        scores = self._machine_scores(read_scoring(self, X))
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self.classes_[positive_side(scores[:, 0]).astype(np.intp)]
        if as_fitted(self, "multi_class") == "ovr":
            return self.classes_[np.argmax(scores, axis=1)]
        return self.classes_[np.argmax(votes_of_pairs(scores, n_classes), axis=1)]

    @scored_anywhere
    def magnification(self, X: Any) -> NDArray[np.float64]:
        """Volume factor √g(x) of the metric that the bent rbf kernel makes of the input space.

        A constant (2γ)^{d/2} for the plain kernel; larger where resolution is gained.

        Returns
        -------
        array of shape (n_samples,) for one machine, else (n_samples, n_machines)
        """
        X = read_scoring(self, X)
        if as_fitted(self, "kernel") != "rbf":
            raise ParameterError(
                f'magnification is known for kernel="rbf" alone, whose metric does not change from point to point '
                f"before it is bent; got kernel={as_fitted(self, 'kernel')!r}."
            )
        X, support = (each.toarray() if sparse.issparse(each) else fetched(each) for each in (X, self.support_vectors_))
        X, support = np.asarray(X, dtype=np.float64), np.asarray(support, dtype=np.float64)
        columns = [log_volume(stages, X, support, self.gamma_) for stages in self.stages_]
        volume = np.exp(np.stack(columns, axis=1))
        return volume[:, 0] if len(columns) == 1 else volume

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
        if n_classes == 2 or self.multi_class == "ovr":
            everything = np.arange(len(codes))
            return [(everything, signs_of(codes, c)) for c in classes_against_rest(n_classes)]
        return [(np.flatnonzero((codes == i) | (codes == j)), signs_of(codes, i)) for i, j in pairs_of(n_classes)]

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
        return as_fitted(self, "scaling") == "support" and as_fitted(self, "kernel") != "precomputed"

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
        if as_fitted(self, "kernel") == "precomputed":
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


@dataclass(frozen=True)
class _Plain:
    """The plain fit of a fold at one cost, and what does not change along the path."""

    fit: Fitted
    cost: NDArray[np.float64]
    identity: NDArray[np.int64]


class _Columns:
    """The columns of a precomputed cross kernel that belong to support vectors."""

    def __init__(self, support: Indices) -> None:
        self.support = support

    def cross(self, Z: Any) -> NDArray[np.float64]:
        return np.asarray(Z[:, self.support], dtype=np.float64)
