"""The asymmetric support vector machine."""

from __future__ import annotations

from itertools import product
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from askew.exceptions import InfeasibleError
from askew.findings import find, warn
from askew.fitting import (
    MEGABYTE,
    PARAMETERS,
    Classifies,
    KernelMachine,
    begin,
    check_approximation,
    classes_against_rest,
    commit,
    counts_by_class,
    keep_landmarks,
    opened_rows,
    read_classes,
    read_scoring,
    scored_anywhere,
    signs_of,
    telling_callbacks,
    telling_of_memory,
    unite_supports,
)
from askew.methods import asymmetric
from askew.methods.asymmetric import Asymmetric
from askew.methods.expansion import positive_side
from askew.qp import Problem, Solution, relative_violation
from askew.sklearn_private import Interval, StrOptions
from askew.solvers import solve
from askew.tuning import Candidate, Fold, PathPoint, Stage, stretched_from, widths

AUTO_MU, AUTO_TAU = 0.75, 0.25  # least mean regret in 0.1-AUC over a 5×5 grid on 16 sets at 1:9
# τ = 0 ranks small sets a little better (studies/across); among many overlapping rows it leaves w = 0 and no ranking
MU_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
TAU_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95)
SEARCH_PATIENCE, SEARCH_STEPS = 40, 50_000  # steps of a search: per point, and at least
SEARCH_LOOSER, SEARCH_SMALL = 10, 1000  # times tol on more rows than this: seen to change no choice, nor its t-AUC


class AsymmetricSVC(Classifies, KernelMachine):
    """Asymmetric support vector machine: it ranks a dense, pure core of the positives first.

    Two margins are maximised at once: the class margin between positives and negatives, as in any SVC, and the core
    margin of the positives from the origin, as in a one-class SVM. Use it when only a small false positive rate is
    tolerable, so that the top of the ranking is what counts; choose ``mu``, ``tau`` and ``gamma`` with
    :class:`askew.selection.ToleranceSearchCV`, and the threshold with :class:`askew.ToleranceClassifier`.
    Where both kinds of error count alike, :class:`askew.SVC` is the simpler choice.

    Parameters
    ----------
    mu : float or "auto", default="auto"
        Share of all rows that each class may have outside its margin; in [0, the smaller class's share]. Plays the part
        of ν/2 in a ν-SVC. "auto" is three quarters of the smaller class's share.
    tau : float or "auto", default="auto"
        How many more positives than negatives may lie outside, as a share of all rows; mu + tau must not exceed
        the share of positives. 0 gives the ν-SVC with ν = 2 mu; the larger, the smaller and denser the core.
        "auto" is a quarter of what ``mu`` leaves of the share of positives.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
    degree : float, default=3
    gamma : {"scale", "auto"} or float, default="scale"
        Width of the kernel.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Largest KKT violation, in units of the standard deviation of the training scores, so that the ranking
        does not depend on it.
    cache_size : float, default=1024
        Megabytes for kernel rows, or for the features of an approximation.
    max_iter : int, default=-1
        Limit of solver steps; -1 for 200 per row (at least 50,000).
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
        With two classes the second is the positive one. More classes are fitted one against the rest.
    mu_, tau_ : float, or array of shape (n_classes,) with more than two classes
    core_margin_, class_margin_ : float or array of shape (n_classes,)
        ρ/‖w‖ and γ/‖w‖, distances in feature space.
    outlier_fractions_ : array of shape (2,) or (n_classes, 2)
        Shares of all rows that are negatives, or positives, outside their margin (multiplier at its bound).
        With γ > 0 they are at most mu and mu + tau, and less by no more than the share of rows strictly between
        the bounds.
    support_ : array of shape (n_SV,)
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    n_support_ : array of shape (n_classes,)
    dual_coef_ : array of shape (1, n_SV) or (n_classes, n_SV)
        y α, with 0 ≤ α ≤ 1 / n_samples.
    intercept_ : array of shape (1,) or (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        For the linear kernel. For other kernels with ``approximation``: ``landmark_coef_``.
    landmarks_, landmark_coef_ : arrays of shape (``n_landmarks_``, n_features) and (n_machines, ``n_landmarks_``)
        With ``approximation``: the score is Σ_j landmark_coef_j k(landmark_j, x) plus the intercept. They stand in for
        the support vectors and their coefficients, which are not kept.
    n_landmarks_, rank_ : int
        Landmarks used, and the dimension of their span in feature space.
    norm_ : array of shape (1,) or (n_classes,)
        ‖w‖. Near 0 the hulls of the classes nearly touch, and the ranking says little.
    relative_violation_ : array of shape (1,) or (n_classes,)
        What ``tol`` is judged on.
    dual_gap_, kkt_violation_ : array of shape (1,) or (n_classes,)
        In units where 0 ≤ α ≤ 1.
    n_iter_ : array of shape (1,) or (n_classes,)
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
    gamma_ : float
        The kernel's width.

    Examples
    --------
    >>> from askew import AsymmetricSVC
    >>> from askew.datasets import make_two_gaussians
    >>> data = make_two_gaussians(500, rare=0.1, random_state=0)
    >>> model = AsymmetricSVC(mu=0.05, tau=0.02).fit(data.X, data.y)
    >>> bool(model.outlier_fractions_[1] <= 0.05 + 0.02)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **PARAMETERS,
        "mu": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "tau": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        mu: float | str = "auto",
        tau: float | str = "auto",
        *,
        kernel: str = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 1024,
        max_iter: int = -1,
        approximation: str | None = None,
        n_landmarks: int | str = "auto",
        landmarks: str = "kmeans",
        random_state: Any = None,
    ) -> None:
        self.mu = mu
        self.tau = tau
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    @telling_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> AsymmetricSVC:
        """Fit, one machine per class when there are more than two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            With ``approximation``, also a path to files, a :class:`askew.sources.Source`, Dask or Spark data: they are
            read in blocks at every pass, and only labels and weights are held.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), or name of a column, optional
            A weight of 2 equals the row given twice.
        target : str, optional
            The column of a table that holds the labels, in place of y.

        Returns
        -------
        self
        """
        new = begin(self)
        X, y, sample_weight = opened_rows(new, X, y, sample_weight, target)
        X, classes, codes, weight, rows = read_classes(new, X, y, sample_weight)
        tasks = new._one_vs_rest(classes, codes, weight)
        matrix = new._kernel_matrix(X, weight, codes)
        machines = [asymmetric.fit(matrix, signs, weight, mu, tau, new._solve) for signs, mu, tau in tasks]
        new.classes_ = classes
        new.mu_ = _one_or_all([mu for _, mu, _ in tasks])
        new.tau_ = _one_or_all([tau for _, _, tau in tasks])
        new._store(X, rows, codes, matrix, machines)
        new._certify(machines)
        return commit(self, new)

    def bi_train(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The smallest ``mu`` for which the classes keep their own sides (γ ≥ 0), at this estimator's ``tau``.

        From there on ``mu`` bounds the share of negatives outside their margin. Below it ``fit`` keeps γ = 0, and the
        answer is the same for every such ``mu``. One programme is solved; this estimator is not fitted by it.

        Returns
        -------
        float, or array of shape (n_classes,) with more than two classes
        """
        other = begin(self)
        check_approximation(other)
        X, classes, codes, weight, _ = read_classes(other, X, y, sample_weight)
        tasks = other._one_vs_rest(classes, codes, weight)
        matrix = other._kernel_matrix(X, weight, codes)
        return _one_or_all(
            [asymmetric.smallest_mu(matrix, signs, weight, tau, other._solve) for signs, _, tau in tasks]
        )

    @scored_anywhere
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: ≥ 0 means ``classes_[1]`` for two classes.

        Returns
        -------
        array of shape (n_samples,) for two classes, w'φ(x) − ρ + γ/2; with more, (n_samples, n_classes), each column
        divided by ‖w‖, since only distances from their planes compare machines of different classes
        """
        scores = self._sums(read_scoring(self, X)) + self.intercept_
        if len(self.classes_) == 2:
            return scores[:, 0]
        return scores / np.where(self.norm_ > 0, self.norm_, 1.0)

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[positive_side(scores).astype(np.intp)]
        return self.classes_[np.argmax(scores, axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "intercept_")

    def _one_vs_rest(
        self, classes: NDArray[Any], codes: NDArray[np.int64], weight: NDArray[np.float64]
    ) -> list[tuple[NDArray[np.float64], float, float]]:
        """Signs, mu and tau of every machine: one for two classes, else one per class."""
        tasks = []
        for code in classes_against_rest(len(classes)):
            signs = signs_of(codes, code)
            try:
                tasks.append((signs, *self._shares(signs, weight)))
            except InfeasibleError as error:
                if len(classes) == 2:
                    raise
                raise InfeasibleError(f"Class {classes.tolist()[code]!r} against the rest: {error}") from None
        return tasks

    def _shares(self, signs: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[float, float]:
        """mu and tau as numbers that these rows allow."""
        positives = float(weight[signs > 0].sum() / weight.sum())
        mu, tau = self.mu, self.tau
        if mu == "auto":
            room = positives if tau == "auto" else max(0.0, positives - tau)
            mu = AUTO_MU * min(room, 1.0 - positives)
        if tau == "auto":
            tau = AUTO_TAU * max(0.0, positives - mu)
        asymmetric.check_feasible(signs, weight, mu, tau)
        return float(mu), float(tau)

    def _solve(self, problem: Problem, start: Any = None) -> Solution:
        with telling_of_memory(self.cache_size):
            return solve(
                problem,
                start=start,
                tol=self.tol,
                tol_unit="spread",
                max_iter=self.max_iter,
                memory=int(self.cache_size * MEGABYTE),
            )

    def _path_parameters(self) -> frozenset[str]:
        return frozenset({"mu", "tau"})

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Any) -> PathPoint:
        tol = self.tol * (SEARCH_LOOSER if fold.matrix.n > SEARCH_SMALL else 1)

        def settle(problem: Problem, near: Any) -> Solution:
            # a search does not wait long for rankings that hardly exist: it leaves them out
            told = stretched_from(last, problem) if near is None else {"start": near}
            limit = max(SEARCH_PATIENCE * problem.n, SEARCH_STEPS) if self.max_iter < 0 else self.max_iter
            return solve(problem, **told, tol=tol, tol_unit="spread", max_iter=limit)

        signs = fold.signs
        mu, tau = self._shares(signs, fold.weight)
        _, solution = asymmetric.solve_both(fold.matrix, signs, fold.weight, mu, tau, settle)
        return PathPoint(solution.gradient, solution.beta, solution.status.has_converged)

    def _search_stages(self, gamma_unit: float, least_shares: NDArray[np.float64]) -> list[Stage]:
        """The paper's search: a grid over mu and the width at tau = 0, then a line over tau."""
        limit, positives = float(least_shares.min()), float(least_shares[1])

        def grid(_: Any) -> list[Candidate]:
            every = product(widths(self.kernel, gamma_unit), MU_SHARES)
            return [{"mu": share * limit, "tau": 0.0, **width} for width, share in every]

        def line(best: Any) -> list[Candidate]:
            return [{**best, "tau": share * (positives - best["mu"])} for share in TAU_SHARES]

        return [grid, line]

    def _store(self, X: Any, rows: Any, codes: NDArray[np.int64], matrix: Any, machines: list[Asymmetric]) -> None:
        self.intercept_ = np.array([m.expansion.intercept for m in machines])
        self.norm_ = np.array([m.norm for m in machines])
        self.core_margin_ = _one_or_all([m.core_margin for m in machines])
        self.class_margin_ = _one_or_all([m.class_margin for m in machines])
        self.outlier_fractions_ = _one_or_all([m.outlier_fractions for m in machines])
        if self._is_approximated:
            keep_landmarks(self, matrix, [m.expansion for m in machines])
            return
        support, column = unite_supports([m.expansion for m in machines], codes)
        self.dual_coef_ = np.zeros((len(machines), len(support)))
        for row, m in zip(self.dual_coef_, machines, strict=True):
            row[column[m.expansion.support]] = m.expansion.coefficients
        self.n_support_ = counts_by_class(support, codes, len(self.classes_))
        self._keep_support(X, rows, support)

    def _certify(self, machines: list[Asymmetric]) -> None:
        solutions = [m.solution for m in machines]
        self.dual_gap_ = np.array([s.certificate.duality_gap for s in solutions])
        self.kkt_violation_ = np.array([s.certificate.violation for s in solutions])
        self.relative_violation_ = np.array([relative_violation(m.problem, m.solution) for m in machines])
        self.n_iter_ = np.array([s.n_iter for s in solutions])
        self._note_convergence(solutions)
        if self.fit_status_:
            finding = find(
                "ASK202",
                violation=self.relative_violation_.max(),
                tol=self.tol,
                status=self.status_,
                max_iter=self.max_iter,
            )
            warn(finding, ConvergenceWarning)

    def _expansion_columns(self) -> NDArray[np.float64]:
        return self.dual_coef_.T


def _one_or_all(values: list[Any]) -> Any:
    """The value of the only machine, or an array over all of them."""
    return values[0] if len(values) == 1 else np.array(values)
