"""imbalanced-learn's resamplers in front of a classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone


class Resampled(ClassifierMixin, BaseEstimator):
    """A classifier fitted on resampled rows.

    Parameters
    ----------
    sampler : imbalanced-learn sampler
    machine : classifier

    Attributes
    ----------
    is_resampled_ : bool
        False where the sampler refused the rows (ADASYN and Borderline-SMOTE do when no positive lies among
        negatives) and the classifier was fitted on the rows as they were.
    """

    def __init__(self, sampler: Any, machine: Any) -> None:
        self.sampler = sampler
        self.machine = machine

    def resample(self, X: Any, y: Any) -> tuple[Any, Any, bool]:
        """Resampled rows; the rows as they are, and False, where the sampler refuses them."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return *clone(self.sampler).fit_resample(X, y), True
        except (ValueError, RuntimeError):
            return X, y, False

    def fit(self, X: Any, y: Any) -> Resampled:
        self.classes_ = np.unique(y)
        X, y, self.is_resampled_ = self.resample(X, y)
        self.machine_ = clone(self.machine).fit(X, y)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self.machine_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        return self.machine_.predict(X)
