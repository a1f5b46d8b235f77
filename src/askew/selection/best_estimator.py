"""The best estimator of a search, spoken to through the search itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from askew.metrics import tolerance_auc_score
from askew.selection.refits import scores_of


def _delegates(method: str) -> Any:
    """Offer a method when the estimator has it."""

    def has_it(search: Any) -> bool:
        inner = getattr(search, "best_estimator_", search.estimator)
        return hasattr(inner, method)

    return available_if(has_it)


class BestEstimator:
    """Methods that a fitted search hands on to its ``best_estimator_``."""

    @_delegates("predict")
    def predict(self, X: Any) -> NDArray[Any]:
        """What the best estimator predicts."""
        return self._fitted().predict(X)

    @_delegates("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The best estimator's score of each row."""
        return self._fitted().decision_function(X)

    @_delegates("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The best estimator's probabilities."""
        return self._fitted().predict_proba(X)

    @_delegates("score_samples")
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The best estimator's score of each row."""
        return self._fitted().score_samples(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """t-AUC of the best estimator on other rows, in the units of ``best_score_``."""
        scores = scores_of(self._fitted(), X)
        columns = [(scores, 1)] if scores.ndim == 1 else [(scores[:, code], code) for code in range(scores.shape[1])]
        sign = -1.0 if is_outlier_detector(self.estimator) else 1.0
        areas = [
            tolerance_auc_score(
                np.asarray(y) == self.classes_[code],
                sign * column,
                self.tolerance,
                normalize=self.normalize,
                sample_weight=sample_weight,
            )
            for column, code in columns
        ]
        return float(np.mean(areas))

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in ``fit``."""
        return self._fitted_attribute("n_features_in_")

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in ``fit``, where they have names."""
        return self._fitted_attribute("feature_names_in_")

    def _fitted_attribute(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{name} exists once the search has refitted its best estimator.")
        return getattr(self.best_estimator_, name)

    def _fitted(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "This search was made with refit=False, so there is no best_estimator_ to ask. Fit "
                "`estimator.set_params(**search.best_params_)`, or search with refit=True."
            )
        return self.best_estimator_
