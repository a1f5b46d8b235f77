"""Support vector classification on a kernel bent at the boundary."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import fetched
from askew.estimators.class_weight import weights_of_classes
from askew.estimators.elsewhere import Classifies
from askew.estimators.kernel_machine import KernelMachine
from askew.estimators.rows_at_fault import check_in_memory
from askew.estimators.scaled_search import ScaledSearch
from askew.estimators.sklearn_private import Interval, StrOptions, one_vs_rest_scores
from askew.exceptions import ParameterError
from askew.methods.kernel_scaling_magnification import log_volume
from askew.methods.kernel_scaling_rules import SCALINGS

_STRENGTH: list[Any] = [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")]


class KernelScaledSVC(Classifies, ScaledSearch):
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
        Signed multipliers times D of the last fit: the score is D(x) Σ_j dual_coef_j k(x_j, x) + intercept_.
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
    _scoring_methods = (*KernelMachine._scoring_methods, "plain_decision_function", "magnification")

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
        self._begin()
        check_in_memory(self, X, target, "fit askew.SVC(approximation='nystroem') or askew.MomentSVC from the source")
        self._check_strengths()
        X, classes, codes, weight, rows = self._read_classes(X, y, sample_weight)
        by_class = weights_of_classes(self.class_weight, classes, codes, weight)
        self._fit_machines(X, codes, self.C * by_class[codes] * weight, weight, rows)
        self.classes_, self.class_weight_ = classes, by_class
        return self

    @property
    def coef_(self) -> Any:
        """There is none: a bent kernel is not linear in the features, whatever kernel was bent."""
        raise AttributeError(
            "KernelScaledSVC has no coef_: its score D(x) Σ_j dual_coef_j k(x_j, x) is not linear in the features. "
            'Use SVC(kernel="linear") for weights of the features.'
        )

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: positive means ``classes_[1]`` for two classes.

        Returns
        -------
        array of shape (n_samples,) for two classes, else (n_samples, n_classes)
        """
        scores = self._machine_scores(self._read_scoring(X))
        if len(self.classes_) == 2:
            return scores[:, 0]
        if self.multi_class == "ovr":
            return scores
        return one_vs_rest_scores(scores < 0, -scores, len(self.classes_))

    def plain_decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of the first fit of each machine, before any bend: what is to be compared with.

        Returns
        -------
        array of shape (n_samples,) for one machine, else (n_samples, n_machines)
        """
        scores = self._machine_scores(self._read_scoring(X), [machine[:1] for machine in self.stages_])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the sign of the score, votes of the pairs, or the largest score of the classes."""
        scores = self._machine_scores(self._read_scoring(X))
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        if self.multi_class == "ovr":
            return self.classes_[np.argmax(scores, axis=1)]
        votes = np.zeros((len(scores), n_classes), dtype=np.int64)
        for column, (i, j) in zip(scores.T, combinations(range(n_classes), 2), strict=True):
            votes[:, i] += column > 0
            votes[:, j] += column <= 0
        return self.classes_[np.argmax(votes, axis=1)]

    def magnification(self, X: Any) -> NDArray[np.float64]:
        """Volume factor √g(x) of the metric that the bent rbf kernel makes of the input space.

        A constant (2γ)^{d/2} for the plain kernel; larger where resolution is gained.

        Returns
        -------
        array of shape (n_samples,) for one machine, else (n_samples, n_machines)
        """
        X = self._read_scoring(X)
        if self.kernel != "rbf":
            raise ParameterError(
                f'magnification is known for kernel="rbf" alone, whose metric does not change from point to point '
                f"before it is bent; got kernel={self.kernel!r}."
            )
        X, support = (each.toarray() if sparse.issparse(each) else fetched(each) for each in (X, self.support_vectors_))
        X, support = np.asarray(X, dtype=np.float64), np.asarray(support, dtype=np.float64)
        columns = [log_volume(stages, X, support, self.gamma_) for stages in self.stages_]
        volume = np.exp(np.stack(columns, axis=1))
        return volume[:, 0] if len(columns) == 1 else volume
