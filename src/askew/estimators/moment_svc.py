"""MIBC behind scikit-learn's face: positives as points, negatives as mean and covariance."""

from __future__ import annotations

import os
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from askew import solvers
from askew.arrays import Home, fetched, host, is_elsewhere
from askew.exceptions import DataError, ParameterError
from askew.findings import find, warn
from askew.fitting import (
    READ,
    ScoresAnywhere,
    as_fitted,
    begin,
    blank,
    check_sizes,
    commit,
    naming_columns,
    read_labelled,
    read_rows,
    scored_anywhere,
)
from askew.methods.expansion import positive_side
from askew.methods.moment import Formulation, Kernel, Machines, MomentPath, Setting, cantelli, fit_machines, fit_path
from askew.moments import BaseMoments, CovarianceModel, DiagonalMoments, divide_moments, divide_rows, unit_scale
from askew.moments.choice import NAMES as COVARIANCES
from askew.qp import Status
from askew.sklearn_private import Interval, StrOptions, check_parameters, check_weights
from askew.sources import is_beyond_memory
from askew.summaries import Evidence, Stream, gather, load_stream, open_labelled, save_stream, tally_classes
from askew.tables import Targets, encode, encoded_names, positive_class, read_classes, read_targets
from askew.threads import workers
from askew.tuning import Fold, MomentFold, PathPoint, Stage, mean_variance, rank_scores, search_stages

Vector = NDArray[np.float64]

NARROW = 512  # features up to which BLAS is held at one thread: a fit is then many short operations


class MomentSVC(ScoresAnywhere, ClassifierMixin, BaseEstimator):
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

    _scored_with = ("kernel",)
    _learnt_privately = frozenset(
        {"_stream", "_stream_classes", "_chose_by_name", "_machines", "_score_means", "_score_deviations"}
        | {"_sign", "_is_single", "_is_multilabel"}
    )

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
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
        new = begin(self)
        if target is not None or is_beyond_memory(X):
            new._fit_source(X, y, target, sample_weight)
        else:
            new._fit_rows(X, y, sample_weight)
        return commit(self, new)

    def fit_from_moments(self, X_positive: Any, moments: Any, sample_weight: Any = None, classes: Any = (0, 1)) -> Self:
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
        new = begin(self)
        X = validate_data(new, X_positive, **READ)
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
            evidence = Evidence(X[rows], weight[rows], rows, moments, self._model().build(moments))
            new._learn_evidence([evidence], targets)
        return commit(self, new)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take in a batch: its positives are kept, its negatives are added to the moments and let go.

        After any sequence of batches the model equals a ``fit`` on all of them (with ``forgetting=1``; "factor" on more
        than 1024 features keeps a sketch and is close to it). The first call starts a new stream, also after ``fit``,
        whose rows are gone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            All classes that will ever come; required at the first call, unless an earlier ``fit`` knew them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
            Ready to score once every class that is modelled by points has been seen.
        """
        check_parameters(self)
        new, stream = copy(self), getattr(self, "_stream", None)
        X, y, weight = read_labelled(new, X, y, sample_weight, reset=stream is None)
        if stream is None:
            known, named = classes, self.pos_label
            if classes is None:
                known = getattr(self, "classes_", None)
                named = getattr(self, "pos_label_", None) if named is None else named
            targets = read_classes(y, known, named)
            positive = targets.positive if targets.is_single else None
            stream = Stream.empty(self._model(), len(targets.classes), positive, self.forgetting)
        else:
            targets = read_classes(y, self._stream_classes, self._label_of(stream, self._stream_classes))
        with pool_for(X):
            return self._go_on(new, stream.plus(X, targets.codes, weight), targets)

    @property
    def n_samples_seen_(self) -> int:
        """Rows that ``partial_fit`` has taken in: where to go on after :meth:`load_stream`."""
        if not hasattr(self, "_stream"):
            raise AttributeError("n_samples_seen_ exists once partial_fit has been called.")
        return self._stream.n_seen

    def save_stream(self, path: str | os.PathLike[str]) -> None:
        """Write the state of the stream, whole or not at all: positives, moments, and how many rows it has seen.

        Parameters
        ----------
        path : str or path
            Usually ends in ``.npz``. A file that is there is replaced at the last moment.
        """
        if not hasattr(self, "_stream"):
            raise DataError("There is no stream to save: call partial_fit first.")
        save_stream(self._stream, self._stream_classes, getattr(self, "feature_names_in_", None), path)

    def load_stream(self, path: str | os.PathLike[str]) -> Self:
        """Take up a stream where ``save_stream`` put it down; ``n_samples_seen_`` says how far that was.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        self
            With the parameters it has now, fitted to all rows of the stream so far if there are enough of them.

        Examples
        --------
        >>> import tempfile, numpy as np
        >>> from askew import MomentSVC
        >>> rng = np.random.default_rng(0)
        >>> X, y = np.vstack([rng.normal(size=(90, 2)), rng.normal(size=(10, 2)) + 3]), np.repeat([0, 1], [90, 10])
        >>> path = tempfile.mkdtemp() + "/stream.npz"
        >>> MomentSVC().partial_fit(X, y, classes=[0, 1]).save_stream(path)
        >>> resumed = MomentSVC().load_stream(path)
        >>> resumed.n_samples_seen_
        100
        """
        check_parameters(self)
        stream, classes, names = load_stream(path, self._model(), self.forgetting)
        targets = read_classes((), classes, self._label_of(stream, classes))
        if stream.positive != (targets.positive if targets.is_single else None):
            raise ParameterError(f"The stream was begun with another pos_label than {self.pos_label!r}.")
        new = blank(self)
        new.n_features_in_ = next(moments for moments in stream.moments if moments is not None).n_features
        if names is not None:
            new.feature_names_in_ = names
        return self._go_on(new, stream, targets)

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
        check_parameters(self)
        Cs = self._check_costs(Cs)
        X, targets, weight = blank(self)._read(X, y, sample_weight)
        with pool_for(X):
            X, scale = self._scaled(X, weight)
            path = fit_path(gather(X, targets.member, weight, self._model()), self._setting(), Cs, targets.sign)
        return path if scale is None else replace(path, coefs=path.coefs / scale)

    @scored_anywhere
    def decision_function(self, X: Any) -> Vector:
        """Score of each row; with two classes ≥ 0 means ``classes_[1]``.

        Returns
        -------
        array of shape (n_samples,) for one machine, else (n_samples, n_machines)
        """
        check_is_fitted(self)
        if hasattr(self, "categories_"):
            return self._score(encode(X, self.feature_names_in_, self.categories_))
        if is_elsewhere(X) and as_fitted(self, "kernel") == "linear":
            home, X = Home(X), read_rows(self, X, reset=False)
            scores = host(home.put(X, np.float64) @ home.put(self.coef_.T)) + self.intercept_
            return scores[:, 0] if self._is_single else scores
        return self._score(validate_data(self, fetched(X), reset=False, **READ))

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, or its labels as an indicator matrix."""
        scores = self.decision_function(X)
        if self._is_multilabel:
            return positive_side(scores).astype(np.int64)
        if not self._is_single:
            return self.classes_[np.argmax(scores, axis=1)]
        return self.classes_[positive_side(scores).astype(np.intp)]

    def false_positive_bound(self, threshold: float = 0.0) -> Any:
        """Largest possible rate of negatives with a score ≥ ``threshold``.

        Holds for every distribution with the fitted mean (within ``mean_radius``) and covariance (within ``rho_``); on
        the rows the moments were taken from it is never exceeded.

        Parameters
        ----------
        threshold : float or array of shape (n_machines,)

        Returns
        -------
        float, or array of shape (n_machines,) for several classes
        """
        return self._per_machine(cantelli.bound(self._kappa(threshold)))

    def false_positive_estimate(self, threshold: float = 0.0) -> Any:
        """Rate of negatives with a score ≥ ``threshold`` if their scores were normal: an estimate, no guarantee.

        Parameters
        ----------
        threshold : float or array of shape (n_machines,)
        """
        return self._per_machine(cantelli.gaussian_estimate(self._kappa(threshold)))

    def threshold_for(self, tolerance: float) -> Any:
        """Smallest threshold on the score that certifies a false positive rate of ``tolerance``.

        Parameters
        ----------
        tolerance : float
            In (0, 1].
        """
        self._check_linear()
        if not 0.0 < tolerance <= 1.0:
            raise ParameterError(f"tolerance must be in (0, 1]; got {tolerance!r}.")
        thresholds = [
            float(cantelli.threshold_for(tolerance, mean, deviation, self.mean_radius))
            for mean, deviation in zip(self._score_means, self._score_deviations, strict=True)
        ]
        return self._per_machine(np.array(thresholds))

    @property
    def false_positive_bound_(self) -> Any:
        """``false_positive_bound()`` at the threshold of ``predict``."""
        return self.false_positive_bound(0.0)

    def _kappa(self, threshold: Any) -> NDArray[np.float64]:
        self._check_linear()
        thresholds = np.broadcast_to(np.asarray(threshold, dtype=np.float64), self._score_means.shape)
        return np.array(
            [
                float(cantelli.kappa_of(t, mean, deviation, self.mean_radius))
                for t, mean, deviation in zip(thresholds, self._score_means, self._score_deviations, strict=True)
            ]
        )

    def _check_linear(self) -> None:
        check_is_fitted(self)
        kernel = as_fitted(self, "kernel")
        if kernel != "linear":
            raise AttributeError(
                f"The moments of the negatives bound a linear score only; this one has kernel={kernel!r}. "
                "Use kernel='linear', or ToleranceClassifier with calibration rows."
            )

    def _per_machine(self, values: NDArray[np.float64]) -> Any:
        return float(values[0]) if len(values) == 1 else values

    def _score(self, X: Any) -> Vector:
        if as_fitted(self, "kernel") == "linear":
            scores = np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_
        else:
            X = divide_rows(X, self.scale_) if hasattr(self, "scale_") else X
            scores = np.column_stack([machine.scores(X) for machine in self._machines]) * self._sign
        return scores[:, 0] if self._is_single else scores

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn from rows in memory."""
        rows, targets, weight = self._read(X, y, sample_weight)
        with pool_for(rows):
            with naming_columns(X):
                divided, scale = self._scaled(rows, weight)
                evidence = gather(divided, targets.member, weight, self._model())
                check_sizes(evidence[0], rows)
            negatives = None
            if targets.is_single and evidence[0].moments.is_diagonal:
                negatives = divided, np.where(targets.member[:, 0], 0.0, weight)
            self._learn(evidence, targets, negatives, None if is_elsewhere(rows) else rows, scale)

    def _fit_source(self, X: Any, y: Any, target: str | None, sample_weight: Any) -> None:
        """Learn from rows beyond memory, in one pass."""
        source, layout = open_labelled(X, y, target, sample_weight)
        features, model = layout.features, self._model()
        tally = tally_classes(source, layout, model, self.pos_label, self.max_positive, self.max_categories)
        classes = np.array(tally.classes)
        check_classification_targets(classes)
        targets = read_classes((), classes, self.pos_label, tally.weights)
        for label, n in tally.drawn.items():
            warn(find("ASK105", n=n, label=label, most=self.max_positive))
        scale = unit_scale(tally.spread(features)) if self.scale else None
        tally = tally.expanded(features)
        evidence = tally.stream(model, targets.positive if targets.is_single else None, self.forgetting).evidence()
        with pool_for(evidence[0].X):
            self._learn_evidence(evidence, targets, scale)
        self._chose_by_name, self.n_features_in_ = bool(features), len(features) or evidence[0].X.shape[1]
        if features:
            self.feature_names_in_ = np.array(features, dtype=object)
        if tally.categories:
            self.categories_ = tally.categories
            self.encoded_names_ = encoded_names(features, self.categories_)

    def _label_of(self, stream: Stream, classes: Any) -> Any:
        """The positive class: of the parameter, or else of the stream."""
        is_known = self.pos_label is not None or stream.positive is None
        return self.pos_label if is_known else classes[stream.positive]

    def _go_on(self, new: Self, stream: Stream, targets: Targets) -> Self:
        """Take over a copy that has a longer stream, fitted where every machine has something to stand on."""
        if stream.is_ready:
            fitted = blank(new)
            for name in ("n_features_in_", "feature_names_in_"):
                if name in vars(new):
                    setattr(fitted, name, vars(new)[name])
            fitted._learn_evidence(stream.evidence(), targets)
            new = fitted
        new._stream, new._stream_classes = stream, targets.classes
        return commit(self, new)

    def _learn_evidence(self, evidence: list[Evidence], targets: Targets, scale: Any = None) -> None:
        """Learn without rows; ``scale`` is that of all rows where the evidence does not hold them all."""
        if self.scale:
            scale = unit_scale(evidence[0].spread) if scale is None else scale
            evidence = [each.divided(scale, self._model()) for each in evidence]
        self._learn(evidence, targets, scale=scale)

    def _learn(
        self, evidence: list[Evidence], targets: Targets, negatives: Any = None, X: Any = None, scale: Any = None
    ) -> None:
        """Solve every machine, and set what a fitted estimator shows.

        ``negatives`` are rows and weights to measure the variance of a score on, ``X`` all rows as they were given;
        the evidence is that of rows divided by ``scale``.
        """
        machines = fit_machines(evidence, self._setting(), negatives)
        self._warn_of(machines)
        shown = machines.attributes(targets.sign, X)
        if scale is not None:
            shown |= _given_back(shown, scale, X is not None) | {"scale_": scale}
        for name, value in shown.items():
            setattr(self, name, value)
        self.classes_, self._sign = targets.classes, targets.sign
        if targets.is_single:
            self.pos_label_ = targets.pos_label
        self._is_single, self._is_multilabel = targets.is_single, targets.is_multilabel

    def _warn_of(self, machines: Machines) -> None:
        """Say that a tolerance was not met."""
        worst = machines.worst
        if worst is None or worst.status.has_converged:
            return
        reason = "at its limit of steps" if worst.status is Status.MAX_ITER else "without progress in float64"
        finding = find(
            "ASK201",
            estimator=type(self).__name__,
            reason=reason,
            violation=worst.violation,
            tol=self.tol,
            remedy="Raise `max_iter` or `tol`, lower `C`, or raise `rho`",
        )
        warn(finding, ConvergenceWarning)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Targets, Vector]:
        if y is None:
            raise DataError("MomentSVC requires y to be passed, but the target y is None. Pass one label per row.")
        with naming_columns(X):
            X, y, weight = read_labelled(self, X, y, sample_weight, reset=True, multi_output=True)
        if is_elsewhere(X) and self._model().comes_back(X.shape[1]):
            X = host(X)
        return X, read_targets(y, weight, self.pos_label), weight

    def _check_costs(self, Cs: Any) -> Vector:
        """Costs of a path; the estimator must have one."""
        if self.kernel != "linear" or self.formulation != "C":
            raise ParameterError(
                "path follows kernel='linear' with formulation='C'; got "
                f"kernel={self.kernel!r}, formulation={self.formulation!r}."
            )
        Cs = np.asarray(Cs, dtype=np.float64).ravel()
        if not (len(Cs) and np.isfinite(Cs).all() and (Cs > 0).all()):
            raise ParameterError(f"Cs must be positive finite costs; got {Cs.tolist()}.")
        return Cs

    def _scaled(self, X: Any, weight: Any) -> tuple[Any, Any]:
        """Rows in units of their standard deviations, and those; or the rows themselves and None."""
        if not self.scale:
            return X, None
        scale = unit_scale(DiagonalMoments.of(X, weight))
        return divide_rows(X, scale), scale

    def _model(self) -> CovarianceModel:
        return CovarianceModel(self.covariance, self.n_factors, self.shrinkage, self.alpha)

    def _setting(self) -> Setting:
        return Setting(
            formulation=Formulation(self.formulation, self.C, self.nu, self.nu_positive, self.nu_negative),
            kernel=Kernel(self.kernel, self.gamma, self.degree, self.coef0),
            covariance=self.covariance,
            rho=self.rho,
            tol=self.tol,
            max_iter=self.max_iter,
            solvers=solvers,
        )

    def _path_parameters(self) -> frozenset[str]:
        programme = {"C", "formulation", "nu", "nu_positive", "nu_negative", "rho", "tol", "max_iter"}
        return frozenset({*programme, "kernel", "gamma", "degree", "coef0", "mean_radius", "forgetting"})

    def _path_matrix(self, X: Any, weight: Any) -> None:
        """None: the machine stands on the positives of a fold alone."""

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Any) -> PathPoint:
        """The fold's training rows are read once; its memory goes from one point to the next."""
        known = None if last is None else last.memory
        if known is None:
            train, weight = fold.train, fold.weight[fold.train]
            labels, weights = fold.classes[fold.codes], np.bincount(fold.codes, fold.weight, len(fold.classes))
            targets = read_classes(labels, fold.classes, self.pos_label, weights, is_said=False)
            divided, scale = self._scaled(fold.X[train], weight)
            X = fold.X if scale is None else divide_rows(fold.X, scale)
            known = MomentFold(gather(divided, targets.member[train], weight, self._model())[0]), X, targets.sign
        trial, X, sign = known
        geometry, found = trial.fit(self._setting())
        return PathPoint(sign * rank_scores(geometry, found, X), found.alpha, found.status.has_converged, known)

    def _search_unit(self, X: Any, weight: Any) -> float:
        return 1.0 if self.scale else mean_variance(X, weight)

    def _search_stages(self, unit: float, least_shares: Vector) -> list[Stage]:
        return search_stages(unit)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_score_means")  # a stream that waits for its first positive is not fitted

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def pool_for(X: Any) -> Any:
    """Our own threads, and BLAS held at one: sparse and narrow fits are many short operations, which its threads slow.

    On wide dense data the decompositions are the work, and BLAS keeps its threads.
    """
    return workers() if sparse.issparse(X) or X.shape[1] <= NARROW else nullcontext()


def _given_back(shown: dict[str, Any], scale: Vector, has_rows: bool) -> dict[str, Any]:
    """What a fit on divided rows shows, in the original features; with ``has_rows``, the rows are so already."""
    moments, original = shown["moments_"], 1.0 / scale
    is_list = isinstance(moments, list)
    back = {
        "moments_": [divide_moments(m, original) for m in moments] if is_list else divide_moments(moments, original)
    }
    if "coef_" in shown:
        back["coef_"] = shown["coef_"] / scale
    if not has_rows:
        back["support_vectors_"] = divide_rows(shown["support_vectors_"], original)
    return back
