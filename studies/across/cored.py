"""The asymmetric margin with a core, by the rule that was the estimator's default before τ = 0 was."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from askew import AsymmetricSVC


class QuarterCore(ClassifierMixin, BaseEstimator):
    """An AsymmetricSVC whose core is a quarter of the positives that μ leaves.

    With p the share of positives: μ = 0.75 min(p, 1 − p), as the estimator has it, and τ = 0.25 (p − μ).
    """

    def fit(self, X: Any, y: Any) -> QuarterCore:
        self.classes_ = np.unique(y)
        p = float(np.mean(np.asarray(y) == self.classes_[1]))
        mu = 0.75 * min(p, 1 - p)
        self.machine_ = AsymmetricSVC(mu=mu, tau=0.25 * (p - mu)).fit(X, y)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self.machine_.decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        return self.machine_.predict(X)
