"""The controls that stand in every table: Fisher's direction, and an SVC whose threshold was moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.covariance import ledoit_wolf
from sklearn.metrics import roc_curve


class FisherDirection(ClassifierMixin, BaseEstimator):
    """w = (Σ⁻ + ridge)⁻¹(mean⁺ − mean⁻), Σ⁻ the covariance of the negatives: MomentSVC as C → 0.

    Dense rows: Σ⁻ shrunk by Ledoit and Wolf's rule. Sparse rows: its diagonal plus its mean, never densified.
    The threshold lies half-way between the projected means.
    """

    def fit(self, X: Any, y: Any) -> FisherDirection:
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        positive, negative = X[y == self.classes_[1]], X[y == self.classes_[0]]
        high, low = (np.asarray(part.mean(axis=0)).ravel() for part in (positive, negative))
        if sparse.issparse(X):
            variance = np.asarray(negative.multiply(negative).mean(axis=0)).ravel() - low**2
            self.coef_ = (high - low) / (variance + variance.mean())
        else:
            shrunk, _ = ledoit_wolf(negative)
            tiny = 1e-10 * max(np.trace(shrunk) / len(shrunk), np.finfo(float).tiny)
            self.coef_ = linalg.solve(shrunk + tiny * np.eye(len(shrunk)), high - low, assume_a="pos")
        self.intercept_ = -self.coef_ @ (high + low) / 2
        return self

    def decision_function(self, X: Any) -> Any:
        return np.asarray(X @ self.coef_).ravel() + self.intercept_

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) >= 0).astype(int)]


def best_threshold(y: Any, scores: Any) -> float:
    """The threshold with the best balanced accuracy on these rows, midway between neighbouring scores.

    Moved on training or validation rows, never on test rows. Scores at or above it count as positive.
    """
    false_rate, true_rate, thresholds = roc_curve(np.asarray(y) > 0, scores, drop_intermediate=False)
    best = int(np.argmax(true_rate - false_rate))
    if not np.isfinite(thresholds[best]):
        return float(np.max(scores)) + 1.0
    below = np.asarray(scores)[np.asarray(scores) < thresholds[best]]
    return float(thresholds[best]) if below.size == 0 else float((thresholds[best] + below.max()) / 2)
