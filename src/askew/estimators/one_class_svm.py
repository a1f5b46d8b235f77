"""The one-class support vector machine on askew's solver."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.fitting import (
    PARAMETERS,
    DataDescription,
    begin,
    commit,
    opened_rows,
    read_scoring,
    scored_anywhere,
    telling_callbacks,
)
from askew.methods import one_class
from askew.tuning import Fold, PathPoint, Stage, stretched_from, widths


class OneClassSVM(DataDescription):
    """One-class support vector machine: the region where most of the data lie.

    Use it when only normal rows exist. When their spread differs much between directions,
    :class:`askew.CovarianceOneClassSVM` follows it better; with labelled anomalies at hand, a classifier does better
    still.

    Parameters
    ----------
    nu : float, default=0.1
        Upper bound of the fraction of training rows outside, lower bound of the fraction of support vectors; in (0, 1].
        scikit-learn's default, 0.5, puts half of the rows outside, and ranks anomalies worse (``studies/across``).
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, default="rbf"
    degree : float, default=3
    gamma : {"scale", "auto", "support"} or float, default="scale"
        "support" is the narrowest rbf kernel that does not need more support vectors than wider ones.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Largest KKT violation, judged on a float64 gradient.
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
    support_ : array of shape (n_SV,)
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    dual_coef_ : array of shape (1, n_SV)
        In LIBSVM's units: between 0 and the sample weight, with sum nu · n_samples.
    intercept_ : array of shape (1,)
    offset_ : float
        ``decision_function = score_samples - offset_``.
    coef_ : array of shape (1, n_features)
        For the linear kernel. For other kernels with ``approximation``: ``landmark_coef_``.
    landmarks_, landmark_coef_ : arrays of shape (``n_landmarks_``, n_features) and (1, ``n_landmarks_``)
        With ``approximation``: the score is Σ_j landmark_coef_j k(landmark_j, x) plus the intercept. They stand in for
        the support vectors and their coefficients, which are not kept.
    n_landmarks_, rank_ : int
        Landmarks used, and the dimension of their span in feature space.
    dual_gap_, kkt_violation_ : float
    n_iter_ : int
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
    gamma_ : float
    gamma_path_ : dict of arrays
        "gamma" and "support_fraction", for ``gamma="support"``.

    Examples
    --------
    >>> import numpy as np
    >>> from askew import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> float(np.mean(model.predict(X) == -1).round(1))
    0.1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **DataDescription._parameter_constraints,
        **PARAMETERS,
    }

    def __init__(
        self,
        nu: float = 0.1,
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
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    @telling_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> OneClassSVM:
        """Fit to normal rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
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
        problem = one_class.formulate(matrix, self.nu, weight)
        solution = new._solve(problem)
        found = one_class.recover(problem, solution)
        new._keep_expansion(X, rows, matrix, found)
        new.offset_ = -found.intercept
        new._certify(solution)
        return commit(self, new)

    @scored_anywhere
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Σ β_i k(x_i, x): higher is more normal."""
        X = read_scoring(self, X)
        return self._sums(X)[:, 0]

    def _path_parameters(self) -> frozenset[str]:
        return frozenset({"nu"})

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Any) -> PathPoint:
        problem = one_class.formulate(fold.matrix, self.nu, fold.weight)
        solution = solve(problem, **stretched_from(last, problem), tol=self.tol, max_iter=self.max_iter)
        return PathPoint(solution.gradient, solution.beta, solution.status.has_converged)

    def _search_stages(self, gamma_unit: float, least_shares: NDArray[np.float64]) -> list[Stage]:
        settings = [
            {"nu": nu, **width} for width in widths(self.kernel, gamma_unit) for nu in (0.01, 0.03, 0.1, 0.2, 0.35, 0.5)
        ]
        return [lambda _: settings]
