"""Detectors as classifiers: fitted on the rows of one class, scored towards the positives.

It is customary to describe the normal rows, here the negatives: there are many of them, and what does not look like
them is the alarm. Describing the few positives instead is how the one-class papers treat their target class. Both are
run for askew's own detectors; PyOD's, which are made for the first, describe the negatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone


class _OfOneClass(ClassifierMixin, BaseEstimator):
    """A detector fitted on the rows with y = ``described``; its score points to the class it was shown."""

    described: int

    def __init__(self, detector: Any) -> None:
        self.detector = detector

    def fit(self, X: Any, y: Any) -> Any:
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        self.detector_ = clone(self.detector).fit(X[y == self.described])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self.described * np.asarray(self.detector_.decision_function(X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        return np.where(np.asarray(self.detector_.predict(X)) > 0, self.described, -self.described)


class OnNegatives(_OfOneClass):
    """Shown the negatives; what is unlike them is positive."""

    described = -1


class OnPositives(_OfOneClass):
    """Shown the positives; what is like them is positive."""

    described = 1


class PyOD(BaseEstimator):
    """A PyOD detector in scikit-learn's sign convention: a score below 0 is an outlier.

    Parameters
    ----------
    name : {"ECOD", "IForest", "KNN", "LOF"}
    options : dict
        Its parameters.
    """

    def __init__(self, name: str, options: Any = None) -> None:
        self.name = name
        self.options = options

    def fit(self, X: Any, y: Any = None) -> PyOD:
        from importlib import import_module

        family = getattr(import_module(f"pyod.models.{self.name.lower()}"), self.name)
        self.model_ = family(**(self.options or {})).fit(X)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        scores = np.nan_to_num(self.model_.decision_function(X), posinf=np.finfo(np.float32).max)
        return self.model_.threshold_ - scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.where(self.decision_function(X) >= 0, 1, -1)
