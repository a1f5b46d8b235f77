"""C-support vector classification on askew's solver."""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError
from askew.fitting import (
    PARAMETERS,
    Classifies,
    KernelMachine,
    begin,
    commit,
    counts_by_class,
    keep_landmarks,
    opened_rows,
    pairs_of,
    read_classes,
    read_scoring,
    scored_anywhere,
    signs_of,
    telling_callbacks,
    unite_supports,
    votes_of_pairs,
    weights_of_classes,
)
from askew.methods import c_svc
from askew.methods.expansion import Expansion, positive_side
from askew.qp import Solution
from askew.sklearn_private import Interval, StrOptions, one_vs_rest_scores
from askew.tuning import Fold, PathPoint, Stage, start_from, widths


class SVC(Classifies, KernelMachine):
    """C-support vector classifier: scikit-learn's, several times faster on large data.

    Use it as the plain baseline, or with ``class_weight`` when mistakes on the rare class cost more. When false alarms
    must stay under a bound, wrap it in :class:`askew.ToleranceClassifier`; when negatives run into the millions and the
    boundary is close to linear, :class:`askew.MomentSVC` does not need them all in memory.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation, > 0.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
        Sigmoid is not positive semi-definite: the fit ends in a stationary point and ``status_`` says so.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of the rbf, polynomial and sigmoid kernels; "scale" is 1 / (n_features · X.var()), "auto" 1 / n_features.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Largest KKT violation, judged on a float64 gradient.
    cache_size : float, default=1024
        Megabytes for kernel rows, or for the features of an approximation. Memory beyond it grows with n·d, never
        with n².
    class_weight : dict or "balanced", default=None
        Factor of C by class; "balanced" makes classes of unequal size count alike.
    max_iter : int, default=-1
        Limit of solver steps, -1 for none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of the multi-class score; the fit is always one-vs-one.
    break_ties : bool, default=False
        Break ties between classes by the score instead of the order of the classes (multi-class, "ovr").
    approximation : {None, "nystroem"}, default=None
        "nystroem" fits on the span of ``n_landmarks`` rows instead of all of them: for hundreds of thousands of rows,
        or where a small, fast model is wanted. The programme is still solved to ``tol``, in that span.
    n_landmarks : int or "auto", default="auto"
        For ``approximation``; more come nearer to the exact fit. "auto" is √n_samples, at most 2000 and what
        ``cache_size`` holds the features of, but at least 500. Not more than there are distinct rows.
    landmarks : {"kmeans", "leverage", "uniform"}, default="kmeans"
        How landmarks are chosen, an equal share from each class.
    random_state : int, RandomState instance or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_weight_ : array of shape (n_classes,)
    support_ : array of shape (n_SV,)
        Rows that support the score, by class.
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    n_support_ : array of shape (n_classes,)
    dual_coef_ : array of shape (n_classes - 1, n_SV)
        Signed multipliers in scikit-learn's layout.
    intercept_ : array of shape (n_pairs,)
    coef_ : array of shape (n_pairs, n_features)
        For the linear kernel. For other kernels with ``approximation``: ``landmark_coef_``.
    landmarks_, landmark_coef_ : arrays of shape (``n_landmarks_``, n_features) and (n_pairs, ``n_landmarks_``)
        With ``approximation``: the score is Σ_j landmark_coef_j k(landmark_j, x) plus the intercept. They stand in for
        the support vectors and their coefficients, which are not kept.
    n_landmarks_, rank_ : int
        Landmarks used, and the dimension of their span in feature space.
    dual_gap_ : array of shape (n_pairs,)
        Duality gap: the objective is at most this far from its optimum.
    kkt_violation_ : array of shape (n_pairs,)
        What ``tol`` is judged on.
    n_iter_ : array of shape (n_pairs,)
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
        The worst ending over the pairs of classes.
    gamma_ : float

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from askew import SVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVC(C=1.0, class_weight="balanced").fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2)
    0.98
    >>> near = SVC(approximation="nystroem", n_landmarks=50, random_state=0).fit(scale(X), y)
    >>> near.landmarks_.shape, round(near.score(scale(X), y), 2)
    ((50, 30), 0.98)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **PARAMETERS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 1024,
        class_weight: Any = None,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        approximation: str | None = None,
        n_landmarks: int | str = "auto",
        landmarks: str = "kmeans",
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    @telling_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> SVC:
        """Fit one machine per pair of classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            With ``approximation``, also a path to files, a :class:`askew.sources.Source`, Dask or Spark data: they are
            read in blocks at every pass, and only labels and weights are held.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), or name of a column, optional
            Factor of C by row; a weight of 2 equals the row given twice.
        target : str, optional
            The column of a table that holds the labels, in place of y.

        Returns
        -------
        self
        """
        new = begin(self)
        X, y, sample_weight = opened_rows(new, X, y, sample_weight, target)
        X, classes, codes, weight, rows = read_classes(new, X, y, sample_weight)
        by_class = weights_of_classes(self.class_weight, classes, codes, weight)
        matrix = new._kernel_matrix(X, weight, codes)
        cost = self.C * by_class[codes] * weight
        fits = [new._fit_pair(matrix, codes, cost, pair) for pair in pairs_of(len(classes))]
        new.classes_, new.class_weight_ = classes, by_class
        new._store(X, rows, codes, matrix, [expansion for _, expansion in fits])
        new._certify([solution for solution, _ in fits])
        return commit(self, new)

    @scored_anywhere
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: ≥ 0 means ``classes_[1]`` for two classes.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes) for "ovr" or (n_samples, n_pairs)
        """
        scores = self._pair_scores(read_scoring(self, X))
        if len(self.classes_) == 2:
            return scores[:, 0]
        if self.decision_function_shape == "ovr":
            return one_vs_rest_scores(~positive_side(scores), -scores, len(self.classes_))
        return scores

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, by votes of the pairs."""
        X = read_scoring(self, X)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError('break_ties=True needs decision_function_shape="ovr"; got "ovo".')
        scores = self._pair_scores(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self.classes_[positive_side(scores[:, 0]).astype(np.intp)]
        if self.break_ties:
            return self.classes_[np.argmax(one_vs_rest_scores(~positive_side(scores), -scores, n_classes), axis=1)]
        return self.classes_[np.argmax(votes_of_pairs(scores, n_classes), axis=1)]

    def _fit_pair(
        self, matrix: Any, codes: NDArray[np.int64], cost: NDArray[np.float64], pair: tuple[int, int]
    ) -> tuple[Solution, Expansion]:
        positive, negative = pair
        mine = np.flatnonzero((codes == positive) | (codes == negative))
        signs = signs_of(codes[mine], positive)
        part = matrix if len(mine) == len(codes) else matrix.subset(mine)
        solution = self._solve(c_svc.formulate(part, signs, cost[mine]))
        found = c_svc.recover(solution)
        return solution, Expansion(mine[found.support], found.coefficients, found.intercept)

    def _store(self, X: Any, rows: Any, codes: Any, matrix: Any, expansions: list[Expansion]) -> None:
        """Lay the machines out as scikit-learn does: support vectors by class, one column each."""
        self.intercept_ = np.array([e.intercept for e in expansions])
        if self._is_approximated:
            keep_landmarks(self, matrix, expansions)
            return
        support, column = unite_supports(expansions, codes)
        n_classes = len(self.classes_)
        self.dual_coef_ = np.zeros((n_classes - 1, len(support)))
        for (i, j), e in zip(combinations(range(n_classes), 2), expansions, strict=True):
            row = np.where(codes[e.support] == i, j - 1, i)
            self.dual_coef_[row, column[e.support]] = e.coefficients
        self.n_support_ = counts_by_class(support, codes, n_classes)
        self._keep_support(X, rows, support)

    def _certify(self, solutions: list[Solution]) -> None:
        self.dual_gap_ = np.array([s.certificate.duality_gap for s in solutions])
        self.kkt_violation_ = np.array([s.certificate.violation for s in solutions])
        self.n_iter_ = np.array([s.n_iter for s in solutions])
        self._report_convergence(solutions)

    def _expansion_columns(self) -> NDArray[np.float64]:
        """Coefficients of every pair over all support vectors, shape (n_SV, n_pairs)."""
        code = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        columns = [
            np.where(code == i, self.dual_coef_[j - 1], np.where(code == j, self.dual_coef_[i], 0.0))
            for i, j in combinations(range(len(self.classes_)), 2)
        ]
        return np.stack(columns, axis=1)

    def _path_parameters(self) -> frozenset[str]:
        return frozenset({"C", "class_weight", "decision_function_shape", "break_ties"})

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Any) -> PathPoint:
        by_class = weights_of_classes(self.class_weight, fold.classes, fold.codes, fold.weight)
        problem = c_svc.formulate(fold.matrix, fold.signs, self.C * by_class[fold.codes] * fold.weight)
        solution = solve(problem, **start_from(last), tol=self.tol, max_iter=self.max_iter)
        return PathPoint(solution.gradient - problem.linear, solution.beta, solution.status.has_converged)

    def _search_stages(self, gamma_unit: float, least_shares: NDArray[np.float64]) -> list[Stage]:
        """Cost and width, with the classes balanced: a threshold on such a score is the common practice."""
        settings = [
            {"C": 10.0**power, "class_weight": "balanced", **width}
            for width in widths(self.kernel, gamma_unit)
            for power in range(-1, 4)
        ]
        return [lambda _: settings]

    def _pair_scores(self, X: Any) -> NDArray[np.float64]:
        return self._sums(X) + self.intercept_
