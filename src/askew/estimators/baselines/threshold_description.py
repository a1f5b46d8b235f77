"""What the companions of the one-class machines share: a score, and a threshold that rejects a fraction."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from askew.fitting import ScoresAnywhere, begin, commit, scored_anywhere
from askew.methods.expansion import positive_side
from askew.methods.rejection import rejection_threshold
from askew.sklearn_private import Interval, check_weights


class ThresholdDescription(ScoresAnywhere, OutlierMixin, BaseEstimator):
    """Base of KNNDescription, ParzenDescription and GaussianDescription.

    A subclass fits itself in ``_describe``, which returns the scores of the training rows that the threshold is read
    from, and scores validated rows in ``_score``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fraction_rejected": [Interval(Real, 0, 1, closed="left")],
    }
    _takes_sparse: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ThresholdDescription:
        """Fit to normal rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals the row given twice.

        Returns
        -------
        self
        """
        new = begin(self)
        X = validate_data(new, X, dtype=np.float64, accept_sparse="csr" if self._takes_sparse else False)
        weight = check_weights(sample_weight, X)
        rows = np.flatnonzero(weight > 0)
        if len(rows) < X.shape[0]:
            X, weight = X[rows], weight[rows]
        scores = new._describe(X, weight)
        new.offset_ = rejection_threshold(scores, weight, self.fraction_rejected)
        return commit(self, new)

    @scored_anywhere
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: higher is more normal."""
        check_is_fitted(self)
        accept_sparse = "csr" if self._takes_sparse else False
        return self._score(validate_data(self, X, dtype=np.float64, accept_sparse=accept_sparse, reset=False))

    @scored_anywhere
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """``score_samples(X) - offset_``: ≥ 0 for inliers."""
        return self.score_samples(X) - self.offset_

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inliers (score ≥ 0), -1 for outliers."""
        return np.where(positive_side(self.decision_function(X)), 1, -1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "offset_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags
