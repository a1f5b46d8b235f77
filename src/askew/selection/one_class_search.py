"""What searches without outliers share: folds of target rows, rejections of those held out, and a refit."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import Tags, check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from askew.exceptions import ParameterError
from askew.fitting import commit
from askew.kernels import resolve_gamma
from askew.tolerance.holdout import take_rows

WIDTHS = 2.0 ** np.arange(-6.0, 7.0)

Vector = NDArray[np.float64]


class OneClassSearch(OutlierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of ConsistencySearchCV and ArtificialOutlierSearchCV."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": ["cv_object"],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inliers and -1 for outliers, by the best estimator."""
        return self._best().predict(X)

    def decision_function(self, X: Any) -> Vector:
        """The best estimator's score of each row: ≥ 0 for inliers."""
        return self._best().decision_function(X)

    def score_samples(self, X: Any) -> Vector:
        """The best estimator's score of each row before its offset."""
        return self._best().score_samples(X)

    @property
    def offset_(self) -> float:
        """``decision_function = score_samples - offset_``."""
        return self._best().offset_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in ``fit``."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("n_features_in_ exists once the search has refitted its best estimator.")
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in ``fit``, where they have names."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("feature_names_in_ exists once the search has refitted its best estimator.")
        return self.best_estimator_.feature_names_in_

    def _folds(self, X: Any) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        cv = self.cv
        if cv is None or isinstance(cv, Integral):
            cv = KFold(5 if cv is None else int(cv), shuffle=True, random_state=self.random_state)
        return list(check_cv(cv).split(np.zeros((_count(X), 1))))

    def _held_out(self, candidate: dict[str, Any], X: Any, folds: Any, others: Any = None) -> tuple[Vector, float]:
        """Whether each target row is rejected by a model that has not seen it, and the share of others accepted."""
        runs = Parallel(n_jobs=self.n_jobs)(
            delayed(_run_fold)(clone(self.estimator).set_params(**candidate), X, train, test, others)
            for train, test in folds
        )
        rejected, accepted = zip(*runs, strict=True)
        return np.concatenate(rejected), float(np.mean(accepted))

    def _finish(self, new: Any, X: Any, best: int, candidates: list[dict[str, Any]]) -> Any:
        """Keep the choice in ``new``, fit it on all rows if asked, and take it all over."""
        new.best_index_, new.best_params_ = best, candidates[best]
        new.n_splits_ = len(self._folds(X))
        if self.refit:
            new.best_estimator_ = clone(self.estimator).set_params(**new.best_params_).fit(X)
        return commit(self, new)

    def _widths(self, X: Any) -> list[float]:
        """The default widths: gamma from 1/64 to 64 in units of 1 / (d · var X), from wide to narrow."""
        if self.estimator.get_params().get("kernel") != "rbf":
            raise ParameterError(
                f'The default search is over "gamma" of an rbf kernel, which {type(self.estimator).__name__} does not '
                "have here. Say which parameter to search."
            )
        points = check_array(X, accept_sparse="csr", dtype=np.float64)
        return [float(width) for width in WIDTHS * resolve_gamma("scale", points)]

    def _best(self) -> Any:
        check_is_fitted(self, "best_params_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "This search was made with refit=False, so there is no best_estimator_ to ask. Fit "
                "`estimator.set_params(**search.best_params_)`, or search with refit=True."
            )
        return self.best_estimator_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def as_rows(X: Any) -> Any:
    """X as something whose rows can be taken: sparse matrices by row; frames, lists and arrays as they are."""
    if sparse.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "shape") or hasattr(X, "__len__") else np.asarray(X)


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _run_fold(model: Any, X: Any, train: Any, test: Any, others: Any) -> tuple[Vector, float]:
    if get_tags(model).input_tags.pairwise:
        K = np.asarray(X)
        model.fit(K[np.ix_(train, train)])
        return np.asarray(model.predict(K[np.ix_(test, train)]) == -1, dtype=np.float64), np.nan
    model.fit(take_rows(X, train))
    rejected = np.asarray(model.predict(take_rows(X, test)) == -1, dtype=np.float64)
    return rejected, np.nan if others is None else float(np.mean(model.predict(others) == 1))
