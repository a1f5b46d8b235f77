"""The one-class model that rejects few target rows and little room, by artificial outliers."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, check_array, get_tags

from askew.exceptions import DataError, ParameterError
from askew.fitting import begin
from askew.selection.one_class_search import OneClassSearch, as_rows
from askew.selection.one_class_uniform import uniform_outliers
from askew.sklearn_private import Interval


class ArtificialOutlierSearchCV(OneClassSearch):
    """Choose a one-class model's parameters without outliers, by making some.

    Points drawn evenly from an ellipsoid around the target rows stand for outliers that could be anywhere; the share of
    them that a model accepts is the volume of its description. The candidate with the least
    ``weight · rejected targets + (1 − weight) · accepted outliers`` is taken, targets counted on rows held out. Use it
    up to some ten features: in more, every description is a speck in the ellipsoid, and
    :class:`ConsistencySearchCV`, which needs no outliers at all, is the better choice.

    Parameters
    ----------
    estimator : one-class estimator
        With ``fit(X)`` and ``predict(X)`` of ±1.
    param_grid : dict or list of dict, default=None
        As for GridSearchCV. None takes gamma from 1/64 to 64 times 1 / (d · var X), for an rbf kernel.
    n_outliers : int, default=10000
        Artificial outliers, the same for every candidate and fold.
    weight : float, default=0.5
        Share of target rows in the error; in [0, 1].
    margin : float, default=1.1
        Size of the ellipsoid, in units of the least one that holds every row.
    cv : int, splitter or None, default=5
        Folds; an int gives shuffled ones.
    refit : bool, default=True
        Fit the chosen candidate on all rows.
    n_jobs : int or None, default=None
        Worker processes for the folds.
    random_state : int, RandomState instance or None, default=None
        Draws the outliers and shuffles the folds.

    Attributes
    ----------
    best_params_, best_index_
    best_score_ : float
        Minus the error of the chosen candidate.
    best_estimator_
        With ``refit=True``.
    cv_results_ : dict
        "params", "rejection" of held-out targets, "acceptance" of artificial outliers and "error".
    n_splits_ : int

    References
    ----------
    Tax and Duin (2001). Uniform object generation for optimizing one-class classifiers. JMLR 2:155.

    Examples
    --------
    >>> import numpy as np
    >>> from askew import OneClassSVM
    >>> from askew.selection.one_class_outliers import ArtificialOutlierSearchCV
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> search = ArtificialOutlierSearchCV(OneClassSVM(nu=0.1), n_outliers=1000, random_state=0).fit(X)
    >>> search.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneClassSearch._parameter_constraints,
        "param_grid": [dict, list, None],
        "n_outliers": [Interval(Integral, 1, None, closed="left")],
        "weight": [Interval(Real, 0, 1, closed="both")],
        "margin": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        n_outliers: int = 10000,
        weight: float = 0.5,
        margin: float = 1.1,
        cv: Any = 5,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.n_outliers = n_outliers
        self.weight = weight
        self.margin = margin
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ArtificialOutlierSearchCV:
        """Judge the candidates on target rows, and fit the best one on all of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target rows only, dense.
        y : ignored

        Returns
        -------
        self
        """
        new = begin(self)
        if get_tags(self.estimator).input_tags.pairwise:
            raise ParameterError(
                'Artificial outliers are points, which a model with kernel="precomputed" cannot score. '
                "Use ConsistencySearchCV, or another kernel."
            )
        if sparse.issparse(X):
            raise DataError(
                "Artificial outliers are drawn from the covariance of dense rows; got a sparse matrix. "
                "Use ConsistencySearchCV for data of many features."
            )
        X = as_rows(X)
        points = check_array(X, dtype=np.float64)
        grid = {"gamma": self._widths(points)} if self.param_grid is None else self.param_grid
        candidates = list(ParameterGrid(grid))
        others = uniform_outliers(points, self.n_outliers, margin=self.margin, random_state=self.random_state)
        folds = self._folds(X)
        judged = [self._held_out(candidate, X, folds, others) for candidate in candidates]
        rejection = np.array([rejected.mean() for rejected, _ in judged])
        acceptance = np.array([accepted for _, accepted in judged])
        error = self.weight * rejection + (1.0 - self.weight) * acceptance
        new.cv_results_ = {
            "params": candidates,
            "rejection": rejection,
            "acceptance": acceptance,
            "error": error,
        }
        best = int(np.argmin(error))
        new.best_score_ = -float(error[best])
        return self._finish(new, X, best, candidates)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
