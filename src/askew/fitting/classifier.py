"""scikit-learn's classifier with rows and labels that live on a device."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from askew.arrays import fetched


class Classifies(ClassifierMixin):
    """scikit-learn's classifier, whose accuracy also takes rows, labels and weights that live on a device."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose class is predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        predicted = fetched(self.predict(X))  # type: ignore[attr-defined]
        return float(accuracy_score(fetched(y), predicted, sample_weight=fetched(sample_weight)))
