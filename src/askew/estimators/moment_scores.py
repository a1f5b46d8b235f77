"""Scores and classes of new rows, from all machines of a moment fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from askew.arrays import Home, host, is_elsewhere
from askew.estimators.elsewhere import read_rows
from askew.estimators.moment_rows import READ
from askew.estimators.moment_scale import divide_rows
from askew.sources import ScoresAnywhere
from askew.tables import encode


class MomentScores(ScoresAnywhere):
    """A mixin: ``decision_function`` and ``predict``."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row; with two classes positive means ``classes_[1]``.

        Returns
        -------
        array of shape (n_samples,) for one machine, else (n_samples, n_machines)
        """
        check_is_fitted(self)
        if hasattr(self, "categories_"):
            return self._score(encode(X, self.feature_names_in_, self.categories_))
        if is_elsewhere(X) and self.kernel == "linear":
            home, X = Home(X), read_rows(self, X, reset=False)
            scores = host(home.put(X, np.float64) @ home.put(self.coef_.T)) + self.intercept_
            return scores[:, 0] if self._is_single else scores
        return self._score(validate_data(self, host(X) if is_elsewhere(X) else X, reset=False, **READ))

    def _score(self, X: Any) -> NDArray[np.float64]:
        if self.kernel == "linear":
            scores = np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_
        else:
            X = divide_rows(X, self.scale_) if hasattr(self, "scale_") else X
            scores = np.column_stack([machine.scores(X) for machine in self._machines]) * self._sign
        return scores[:, 0] if self._is_single else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, or its labels as an indicator matrix."""
        scores = self.decision_function(X)
        if self._is_multilabel:
            return (scores > 0).astype(np.int64)
        if not self._is_single:
            return self.classes_[np.argmax(scores, axis=1)]
        return self.classes_[(scores > 0).astype(np.intp)]
