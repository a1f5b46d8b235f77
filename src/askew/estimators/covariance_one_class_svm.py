"""The covariance-guided one-class support vector machine on askew's solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from numbers import Real
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from askew.arrays import row_precision
from askew.exceptions import ParameterError
from askew.fitting import (
    MEGABYTE,
    PARAMETERS,
    DataDescription,
    begin,
    commit,
    opened_rows,
    read_scoring,
    scored_anywhere,
    telling_callbacks,
    telling_of_memory,
)
from askew.kernels.covariance_guided import SCALES, CovarianceGuided, scale_of
from askew.kernels.kernel_covariance import KernelCovariance
from askew.kernels.low_rank_covariance import LowRankCovariance
from askew.methods.covariance_one_class import Stage, Walk, fit_at, walk
from askew.methods.one_class import formulate
from askew.qp import Problem, Solution
from askew.sklearn_private import Interval, StrOptions
from askew.solvers import prepare, solve
from askew.threads import workers

Init = TypeVar("Init", bound=Callable[..., None])


def _takes_score(init: Init) -> Init:
    """``__init__`` that lets ``score=`` be said for ``score_kernel=``.

    scikit-learn keeps a parameter under its own name on the estimator, where ``score`` has to be a method: its checks
    and searches call it. So the parameter is stored as ``score_kernel``, and both words reach it. ``score`` stays out
    of the signature, whose every name scikit-learn takes for a parameter to store.
    """

    @wraps(init)
    def init_with_score(self: Any, *args: Any, **options: Any) -> None:
        init(self, *args, **_stored_names(options))

    return cast(Init, init_with_score)


def _stored_names(options: dict[str, Any]) -> dict[str, Any]:
    if "score" not in options:
        return options
    if "score_kernel" in options:
        raise ParameterError("score and score_kernel are two names of one parameter; give one of them.")
    return {("score_kernel" if name == "score" else name): value for name, value in options.items()}


class CovarianceOneClassSVM(DataDescription):
    """One-class support vector machine that also makes the variance of its own score small.

    Use it when only normal rows exist and their spread differs between directions: outliers are often found along
    the directions of little variance, and those count more here than in :class:`askew.OneClassSVM`, which it is at
    ``eta=1``. The boundary moves outwards as ``eta`` falls. When the number of false alarms matters, wrap it in
    :class:`askew.ToleranceClassifier`; to hold it near ``nu`` on the training rows, set ``score_kernel="modified"``.

    Parameters
    ----------
    eta : float or "auto", default="auto"
        Share of the kernel against its covariance, in [0, 1]. "auto" lowers it from 1 until the fraction of training
        rows outside (by the plain score) is at most ``outlier_fraction``; where that never happens, the value with the
        least fraction is taken. See ``eta_path_``.
    nu : float, default=0.2
        Upper bound of the fraction of training rows outside; in (0, 1].
    covariance_scale : {"trace", "mean", "raw"}, default="trace"
        Unit of the kernel covariance Δ. "trace" gives it the trace of the kernel matrix, so that ``eta`` means the same
        on data of any size and scale; "mean" is Δ / n_samples; "raw" is Δ as in the paper, which grows with the data.
    outlier_fraction : float, default=0.1
        Where ``eta="auto"`` stops; in [0, 1].
    score_kernel : {"plain", "modified"}, default="plain"
        "plain" scores with the kernel itself. "modified" scores with the covariance-guided kernel: close to ``nu`` of
        the training rows are outside whatever ``eta`` is, and all training rows are kept for scoring. ``score`` is
        another name for it.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
    degree : float, default=3
    gamma : {"scale", "auto", "support"} or float, default="scale"
        "support" is the narrowest rbf kernel that does not need more support vectors than wider ones.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Largest KKT violation in units of the kernel, judged on a float64 gradient.
    cache_size : float, default=1024
        Megabytes for kernel rows, or for the features of an approximation.
    max_iter : int, default=-1
        Limit of solver steps, -1 for none.
    approximation : {None, "nystroem"}, default=None
        "nystroem" fits on the span of ``n_landmarks`` rows instead of all of them: for hundreds of thousands of rows,
        or where a small, fast model is wanted. The programme is still solved to ``tol``, in that span.
    n_landmarks : int or "auto", default="auto"
        For ``approximation``; more come nearer to the exact fit. "auto" is √n_samples, at most 2000 and what
        ``cache_size`` holds the features of, but at least 500. Not more than there are distinct rows.
    landmarks : {"kmeans", "leverage", "uniform"}, default="kmeans"
        How landmarks are chosen.
    random_state : int, RandomState instance or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    eta_ : float
        The share used, on the scale of ``covariance_scale``.
    eta_path_ : dict of arrays
        "eta", "outlier_fraction" (by the plain score and the multiplier) and "objective", from the largest eta down.
    eta_rule_ : {"given", "reached", "least"}
        How ``eta_`` came about.
    offset_ : float
        ``decision_function = score_samples - offset_``.
    offset_rule_ : {"multiplier", "quantile"}
        "quantile" where the multiplier of the plain score would have put more than ``nu`` of the training rows outside,
        and the offset is the ``nu``-quantile of their scores.
    covariance_scale_ : float
        The factor of Δ behind ``covariance_scale``.
    support_ : array of shape (n_SV,)
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    dual_coef_ : array of shape (1, n_SV)
        Weights of the score. Plain: in LIBSVM's units, between 0 and the sample weight, with sum nu · n_samples.
    intercept_ : array of shape (1,)
    coef_ : array of shape (1, n_features)
        For the linear kernel. For other kernels with ``approximation``: ``landmark_coef_``.
    landmarks_, landmark_coef_ : arrays of shape (``n_landmarks_``, n_features) and (1, ``n_landmarks_``)
        With ``approximation``: the score is Σ_j landmark_coef_j k(landmark_j, x) plus the intercept. They stand in for
        the support vectors and their coefficients, which are not kept.
    n_landmarks_, rank_ : int
        Landmarks used, and the dimension of their span in feature space.
    dual_gap_, kkt_violation_ : float
        Of the covariance-guided programme; ``tol`` is multiplied by the ratio of its trace to that of the kernel.
    n_iter_ : int
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
    gamma_ : float
    gamma_path_ : dict of arrays
        "gamma" and "support_fraction", for ``gamma="support"``.

    Notes
    -----
    The covariance matrix of n rows is formed (one n×n×n product) where that is cheaper than the products it saves: up
    to 512 rows, and for the sigmoid kernel if ``cache_size`` allows. Beyond, memory stays within ``cache_size`` and a
    fit takes a few products over all pairs of rows: less than three times a fit of :class:`askew.OneClassSVM`.
    With ``approximation`` the covariance is a matrix of ``rank_`` columns, and one product over the rows serves every
    ``eta``.

    References
    ----------
    Khan, Ksantini, Ahmad, Guan. Incorporating covariance information in one class support vector classification.

    Examples
    --------
    >>> import numpy as np
    >>> from askew import CovarianceOneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) * [3.0, 0.3]
    >>> model = CovarianceOneClassSVM().fit(X)
    >>> bool(np.mean(model.predict(X) == -1) <= 0.1)
    True
    >>> model.predict([[0.0, 0.0], [0.0, 3.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DataDescription._parameter_constraints,
        **PARAMETERS,
        "eta": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "covariance_scale": [StrOptions(set(SCALES))],
        "outlier_fraction": [Interval(Real, 0, 1, closed="both")],
        "score_kernel": [StrOptions({"plain", "modified"})],
    }

    @_takes_score
    def __init__(
        self,
        eta: float | str = "auto",
        nu: float = 0.2,
        *,
        covariance_scale: str = "trace",
        outlier_fraction: float = 0.1,
        score_kernel: str = "plain",
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
        super().__init__(
            nu=nu,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            cache_size=cache_size,
            max_iter=max_iter,
        )
        self.eta = eta
        self.covariance_scale = covariance_scale
        self.outlier_fraction = outlier_fraction
        self.score_kernel = score_kernel
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    def set_params(self, **params: Any) -> CovarianceOneClassSVM:
        """Set parameters; ``score`` reaches ``score_kernel``."""
        return super().set_params(**_stored_names(params))

    @telling_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> CovarianceOneClassSVM:
        """Fit to normal rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            With ``approximation``, also a path to files, a :class:`askew.sources.Source`, Dask or Spark data: they are
            read in blocks at every pass, and only weights are held.
        y : ignored
        sample_weight : array-like of shape (n_samples,), or name of a column, optional
            A weight of 2 equals the row given twice.
        target : str, optional
            A column of a table that is no feature, such as its labels.

        Returns
        -------
        self
        """
        new = begin(self)
        X, y, sample_weight = opened_rows(new, X, y, sample_weight, target, is_labelled=False)
        X, matrix, weight, rows = new._prepare(X, sample_weight)
        with workers(), telling_of_memory(self.cache_size):
            scale, found = (new._fit_features if new._is_approximated else new._fit_kernel)(matrix, weight)
        chosen = found.chosen
        expansion, offset_rule = chosen.read_plain(self.nu) if self.score_kernel == "plain" else chosen.read_modified()
        new.eta_, new.covariance_scale_, new.eta_rule_ = chosen.eta, scale, found.ending
        new.eta_path_ = _path_of(found.stages)
        new._keep_expansion(X, rows, matrix, expansion)
        new.offset_, new.offset_rule_ = -expansion.intercept, offset_rule
        new._certify(chosen.solution)
        return commit(self, new)

    @scored_anywhere
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Σ β_i k(x_i, x), or the same sum of the covariance-guided kernel: higher is more normal."""
        X = read_scoring(self, X)
        return self._sums(X)[:, 0]

    def _fit_kernel(self, matrix: Any, weight: NDArray[np.float64]) -> tuple[float, Walk]:
        """The factor of Δ and the machines, on the kernel itself."""
        covariance = KernelCovariance(matrix, weight, row_precision(matrix.n, self.tol, matrix.argument_bound()))

        def pose(trace: float) -> Problem:
            scale = scale_of(covariance, self.covariance_scale, trace)
            return formulate(CovarianceGuided(covariance, self.eta, scale), self.nu, weight)

        def solve_guided(problem: Problem, start: Any = None) -> Solution:
            guided: Any = problem.matrix
            return prepared.solve(problem, start=start, tol=self.tol * guided.size, max_iter=self.max_iter)

        with prepare(covariance, memory=int(self.cache_size * MEGABYTE)) as prepared:
            if self.eta not in ("auto", 1):
                prepared.look_ahead(pose, tol=self.tol, max_iter=self.max_iter)
            scale = scale_of(covariance, self.covariance_scale)
            return scale, self._choose(covariance, scale, solve_guided)

    def _fit_features(self, matrix: Any, weight: NDArray[np.float64]) -> tuple[float, Walk]:
        """The factor of Δ and the machines in the span of the landmarks, where Δ is a small matrix."""
        covariance = LowRankCovariance(matrix, weight)
        scale, memory = scale_of(covariance, self.covariance_scale), int(self.cache_size * MEGABYTE)

        def solve_features(problem: Problem, start: Any = None) -> Solution:
            guided: Any = problem.matrix
            posed = replace(problem, matrix=covariance.guided(guided.eta, guided.share))
            return solve(posed, start=start, tol=self.tol * guided.size, max_iter=self.max_iter, memory=memory)

        return scale, self._choose(covariance, scale, solve_features)

    def _choose(self, covariance: Any, scale: float, solve: Any) -> Walk:
        if self.eta == "auto":
            return walk(covariance, scale, self.nu, self.outlier_fraction, solve)
        stage = fit_at(covariance, float(self.eta), scale, self.nu, solve)
        return Walk((stage,), stage, "given")


def _path_of(stages: tuple[Stage, ...]) -> dict[str, NDArray[np.float64]]:
    return {
        "eta": np.array([stage.eta for stage in stages]),
        "outlier_fraction": np.array([stage.outlier_fraction for stage in stages]),
        "objective": np.array([stage.solution.objective for stage in stages]),
    }
