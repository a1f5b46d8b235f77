"""MIBC behind scikit-learn's face: positives as points, negatives as mean and covariance."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from askew.arrays import Home, host, is_elsewhere
from askew.estimators.moment_certificate import MomentCertificate
from askew.estimators.moment_fitted import Fitted
from askew.estimators.moment_machines import Setting, fit_machines
from askew.estimators.moment_path import MomentPath, fit_path
from askew.estimators.moment_rows import READ, pool_for, read_labelled
from askew.estimators.moment_scale import divide_evidence, divide_rows, give_back, spread_of_evidence, unit_scale
from askew.estimators.moment_scores import MomentScores
from askew.estimators.moment_search import MomentSearch
from askew.estimators.moment_sources import FitsSources
from askew.estimators.moment_stream import FitsStreams
from askew.estimators.rows_at_fault import check_sizes, naming_columns
from askew.estimators.sklearn_private import Interval, StrOptions, check_parameters, check_weights
from askew.exceptions import DataError, ParameterError
from askew.methods.moment import Formulation
from askew.methods.moment_evidence import Evidence, gather
from askew.moments import BaseMoments, CovarianceModel, DiagonalMoments
from askew.moments.choice import NAMES as COVARIANCES
from askew.sources import is_beyond_memory
from askew.tables import Targets, positive_class, read_classes, read_targets


class MomentSVC(
    MomentScores, FitsSources, FitsStreams, MomentSearch, MomentCertificate, ClassifierMixin, BaseEstimator
):
    """Support vector classifier that knows the negatives only by their mean and covariance.

    Use it when positives are few and negatives are millions, arrive as a stream, or stay on another machine: after one
    pass over the negatives the fit no longer depends on their number, and a linear fit comes with a certified bound on
    its false positive rate. When both classes are small, or the negatives are not one cloud, use :class:`askew.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a positive on the near side of the margin, for ``formulation="C"``.
    formulation : {"C", "nu", "two_slack", "hard"}, default="C"
        "C" and "nu" soften the margin for positives, "two_slack" also for the mean of the negatives, "hard" not at all
        (it raises :class:`askew.exceptions.InfeasibleError` when no hyperplane does that).
    nu : float, default=0.1
        For "nu": the C form with C = 1 / (2 nu n_positives).
    nu_positive, nu_negative : float, default=0.1, 0.5
        For "two_slack".
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        Kernels act on the whitened geometry, in which the negatives are round.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of the kernels there: "scale" is one over the mean squared whitened length of the positives, "auto" one
        over the number of features.
    degree : float, default=3
    coef0 : float, default=0.0
    covariance : {"full", "diagonal", "identity", "factor", "shrunk", "sparse_inverse"}, default="full"
        How the covariance is modelled. For thousands of features: "diagonal" or "factor", which keep sparse data sparse
        and never hold a d×d matrix.
    n_factors : int, default=10
        For "factor".
    shrinkage : {"oas", "ledoit_wolf"}, default="oas"
        For "shrunk".
    alpha : float, default=0.1
        Penalty of the graphical lasso on correlations, for "sparse_inverse".
    rho : float or "auto", default="auto"
        Ridge added to the covariance, in squared units of the data: how far, in spectral norm, it may be wrong. "auto"
        chooses it by cross-validation over the positives. 0 needs a positive definite covariance.
    scale : bool, default=False
        Whether to divide every feature by its standard deviation over all rows, as ``StandardScaler`` does; it comes
        from the same pass. ``rho``, the factor model and the kernels are then in those units; ``coef_`` is not.
    mean_radius : float, default=0.0
        How far the mean may be wrong, in standard deviations; it tightens the certificate and leaves the fit as it is.
    pos_label : label, default=None
        Of two classes, the one that is modelled by its points. By default the larger of {0, 1}, {-1, 1} and {False,
        True}, and of other labels the rarer class, said in a warning (ASK104); in ``partial_fit`` the rarer one of the
        first batch. Not used for more classes, each of which has its turn.
    max_positive : int, default=100_000
        Most rows of a class that are gathered from rows beyond memory; where there are more, a fair draw of that many
        stands for all, with a warning.
    max_categories : int, default=100
        Most different values of a column of text in rows beyond memory; more are an error.
    forgetting : float, default=1.0
        In ``partial_fit``, the factor on all earlier negatives when a batch arrives; below 1 for drifting streams.
    tol : float, default=1e-3
        Largest KKT violation, in units of the score.
    max_iter : int, default=-1
        Limit of solver steps, -1 for none (the work of 1000 full sweeps when positives are too many to store their
        matrix).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    pos_label_ : label
        Of two classes, the one that is modelled by its points.
    coef_ : array of shape (n_machines, n_features)
        In the original features, for the linear kernel. One machine for two classes, else one per class. Where text
        was learnt, its columns are those of ``encoded_names_``.
    intercept_ : array of shape (n_machines,)
    moments_ : Moments, or list of them for several machines
        Of the negatives.
    rho_ : float
        The ridge used.
    scale_ : array of shape (n_features,)
        What features were divided by, with ``scale=True``.
    categories_ : dict of str to list
        Of every column of text that was learnt, its values in order, None for a missing one; only where there are any.
    encoded_names_ : array of str
        Names of the columns of ``coef_`` then, such as "country=fr".
    support_ : array of shape (n_SV,)
        Rows (positives) that support a machine.
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    dual_coef_ : array of shape (n_machines, n_SV)
    false_positive_bound_ : float or array
        Certified false positive rate of ``predict``, for the linear kernel.
    dual_gap_ : array of shape (n_machines,)
    kkt_violation_ : array of shape (n_machines,)
    n_iter_ : array of shape (n_machines,)
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    askew.moments.Moments : the moments that ``fit_from_moments`` takes.
    askew.ToleranceClassifier : a guarantee from held-out negatives instead of moments.

    Notes
    -----
    With two classes ``decision_function`` is positive towards ``classes_[1]``, as everywhere in scikit-learn. If
    ``pos_label_`` is ``classes_[0]`` the score of the positive class, on which the certificate's thresholds stand, is
    its negative. The certificate of a structure that holds no full covariance ("diagonal", "identity", and "factor"
    on many features) measures the variance of the negatives' scores in a second pass; without rows to pass over, or
    with several machines, it assumes the worst correlation and is looser.

    References
    ----------
    V. Leclère, E. Grave, L. El Ghaoui, Probabilistic approach to one-class support vector machine (2016).
    E. Grave, L. El Ghaoui, Fast imbalanced binary classification: a moment-based approach (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from askew import MomentSVC
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(5000, 3)), rng.normal(size=(20, 3)) + 3])
    >>> y = np.repeat([0, 1], [5000, 20])
    >>> model = MomentSVC().fit(X, y)
    >>> bool(np.mean(model.predict(X[:5000])) <= model.false_positive_bound_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "formulation": [StrOptions({"C", "nu", "two_slack", "hard"})],
        "nu": [Interval(Real, 0, 1, closed="right")],
        "nu_positive": [Interval(Real, 0, 1, closed="right")],
        "nu_negative": [Interval(Real, 0, 1, closed="right")],
        "kernel": [StrOptions({"linear", "rbf", "poly", "polynomial", "sigmoid"})],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "covariance": [StrOptions(set(COVARIANCES))],
        "n_factors": [Interval(Integral, 0, None, closed="left")],
        "shrinkage": [StrOptions({"oas", "ledoit_wolf"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "rho": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "mean_radius": [Interval(Real, 0, None, closed="left")],
        "scale": ["boolean"],
        "max_positive": [Interval(Integral, 1, None, closed="left")],
        "max_categories": [Interval(Integral, 1, None, closed="left")],
        "forgetting": [Interval(Real, 0, 1, closed="right")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        formulation: str = "C",
        nu: float = 0.1,
        nu_positive: float = 0.1,
        nu_negative: float = 0.5,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        covariance: str = "full",
        n_factors: int = 10,
        shrinkage: str = "oas",
        alpha: float = 0.1,
        rho: float | str = "auto",
        scale: bool = False,
        mean_radius: float = 0.0,
        pos_label: Any = None,
        max_positive: int = 100_000,
        max_categories: int = 100,
        forgetting: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = -1,
    ) -> None:
        self.C = C
        self.formulation = formulation
        self.nu = nu
        self.nu_positive = nu_positive
        self.nu_negative = nu_negative
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.covariance = covariance
        self.n_factors = n_factors
        self.shrinkage = shrinkage
        self.alpha = alpha
        self.rho = rho
        self.scale = scale
        self.mean_radius = mean_radius
        self.pos_label = pos_label
        self.max_positive = max_positive
        self.max_categories = max_categories
        self.forgetting = forgetting
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> MomentSVC:
        """Fit from rows of all classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or rows beyond memory
            Beyond memory are a Dask array or dataframe, a Spark DataFrame, a path (file, folder, pattern), a pyarrow
            dataset and any :class:`askew.sources.Source`; they are read once, in float64, in blocks. So is a frame
            with a ``target``. There, a column of text becomes a 0/1 column for every value it has, a missing one
            included; a value first met in scoring is zero in all of them. Numbers must not be missing.
        y : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_labels)
            Two classes, several (one-vs-rest), or several labels at once; all from one pass over X. For Dask rows, a
            Dask array or series.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals the row given twice. The name of a column where ``target`` is one.
        target : str, optional
            The column of X that holds the labels; all others are features.

        Returns
        -------
        self
        """
        if target is not None or is_beyond_memory(X):
            return self._fit_source(X, y, target, sample_weight)
        original, targets, weight = self._read(X, y, sample_weight)
        with pool_for(original):
            with naming_columns(X):
                X, scale = self._scaled(original, weight)
                evidence = gather(X, targets.member, weight, self._model())
                check_sizes(evidence[0], original)
            if targets.is_single and evidence[0].moments.is_diagonal:
                rows = (X, np.where(targets.member[:, 0], 0.0, weight))
            else:
                rows = None
            self.__dict__.pop("_stream", None)
            return self._fit(evidence, targets, rows, None if is_elsewhere(X) else original, scale)

    def fit_from_moments(
        self, X_positive: Any, moments: Any, sample_weight: Any = None, classes: Any = (0, 1)
    ) -> MomentSVC:
        """Fit from rows of the positive class and the moments of the negatives.

        Parameters
        ----------
        X_positive : array-like or sparse matrix of shape (n_positives, n_features)
        moments : Moments, DiagonalMoments or LowRankMoments
            Gathered anywhere: another machine, a file, a stream.
        sample_weight : array-like of shape (n_positives,), optional
        classes : pair of labels, default=(0, 1)
            Labels to predict; ``pos_label`` goes to the positives, by default the larger of {0, 1}, {-1, 1} and
            {False, True}, and the second of other labels.

        Returns
        -------
        self
        """
        check_parameters(self)
        X = validate_data(self, X_positive, **READ)
        weight = check_weights(sample_weight, X)
        if not isinstance(moments, BaseMoments):
            raise DataError(
                f"moments must be Moments, DiagonalMoments or LowRankMoments of askew.moments; got "
                f"{type(moments).__name__}. Make them with Moments.of(X_negative)."
            )
        if moments.n_features != X.shape[1]:
            raise DataError(f"X_positive has {X.shape[1]} features and the moments have {moments.n_features}.")
        if not moments.n_samples > 0:
            raise DataError("The moments hold no negatives. Merge data into them first.")
        labels = list(classes)
        if len(labels) != 2:
            raise ParameterError(f"classes must be two labels; got {len(labels)}.")
        named = labels[positive_class(labels, (1.0, 0.0), self.pos_label, is_said=False)]
        targets = read_classes((), labels, named)
        rows = np.flatnonzero(weight > 0)
        with pool_for(X):
            structure = self._model().build(moments)
            self.__dict__.pop("_stream", None)
            return self._fit_evidence([Evidence(X[rows], weight[rows], rows, moments, structure)], targets)

    def path(self, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> MomentPath:
        """Linear models along a path of costs: one pass, one factorisation, warm starts.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        Cs : array-like of shape (n_Cs,)
            Costs > 0, in any order.

        Returns
        -------
        MomentPath
            ``Cs``, ``coefs`` of shape (n_Cs, n_machines, n_features), ``intercepts``, ``dual_gaps``, ``rho``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from askew import MomentSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> MomentSVC(covariance="shrunk").path(X, y, [0.01, 1.0, 100.0]).coefs.shape
        (3, 1, 30)
        """
        if self.kernel != "linear" or self.formulation != "C":
            raise ParameterError(
                "path follows kernel='linear' with formulation='C'; got "
                f"kernel={self.kernel!r}, formulation={self.formulation!r}."
            )
        Cs = np.asarray(Cs, dtype=np.float64).ravel()
        if not (len(Cs) and np.isfinite(Cs).all() and (Cs > 0).all()):
            raise ParameterError(f"Cs must be positive finite costs; got {Cs.tolist()}.")
        X, targets, weight = self._read(X, y, sample_weight)
        with pool_for(X):
            X, scale = self._scaled(X, weight)
            path = fit_path(gather(X, targets.member, weight, self._model()), self._setting(), Cs, targets.sign)
        return path if scale is None else replace(path, coefs=path.coefs / scale)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Targets, NDArray[np.float64]]:
        check_parameters(self)
        if y is None:
            raise DataError("MomentSVC requires y to be passed, but the target y is None. Pass one label per row.")
        with naming_columns(X):
            X, y, weight = read_labelled(self, X, y, sample_weight, reset=True, multi_output=True)
        if is_elsewhere(X) and self._model().comes_back(X.shape[1]):
            X = host(X)
        return X, read_targets(y, weight, self.pos_label), weight

    def _scaled(self, X: Any, weight: NDArray[np.float64]) -> tuple[Any, Any]:
        """Rows in units of their standard deviations, and those; or the rows themselves and None."""
        if not self.scale:
            return X, None
        scale = unit_scale(DiagonalMoments.of(X, weight))
        return (X / Home(X).put(scale, X.dtype) if is_elsewhere(X) else divide_rows(X, scale)), scale

    def _fit_evidence(self, evidence: list[Evidence], targets: Targets, scale: Any = None) -> MomentSVC:
        """Fit without rows; ``scale`` is that of all rows where the evidence does not hold them all."""
        if not self.scale:
            return self._fit(evidence, targets)
        scale = unit_scale(spread_of_evidence(evidence)) if scale is None else scale
        return self._fit(divide_evidence(evidence, self._model(), scale), targets, scale=scale)

    def _fit(
        self, evidence: list[Evidence], targets: Targets, rows: Any = None, X: Any = None, scale: Any = None
    ) -> MomentSVC:
        """Solve every machine, then set all attributes at once: a failed fit leaves the estimator as it was."""
        setting = self._setting()
        fitted = Fitted(*fit_machines(evidence, setting, rows), targets.sign, setting, X)
        shown = fitted.attributes(type(self).__name__)
        for name in ("scale_", "categories_", "encoded_names_", "_chose_by_name", "pos_label_"):
            self.__dict__.pop(name, None)
        if scale is not None:
            give_back(shown, scale, X is not None)
        for name, value in shown.items():
            setattr(self, name, value)
        self.classes_, self._sign = targets.classes, targets.sign
        if targets.is_single:
            self.pos_label_ = targets.pos_label
        self._is_single, self._is_multilabel = targets.is_single, targets.is_multilabel
        return self

    def _model(self) -> CovarianceModel:
        return CovarianceModel(self.covariance, self.n_factors, self.shrinkage, self.alpha)

    def _setting(self) -> Setting:
        return Setting(
            formulation=Formulation(self.formulation, self.C, self.nu, self.nu_positive, self.nu_negative),
            kernel=(self.kernel, self.gamma, self.degree, self.coef0),
            covariance=self.covariance,
            rho=self.rho,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_score_means")  # a stream that waits for its first positive is not fitted

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
