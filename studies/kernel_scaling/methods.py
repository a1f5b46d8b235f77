"""Who is compared: plain, weighted and moved SVC, Fisher's direction, and the five scalings."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from askew import SVC, KernelScaledSVC
from askew.methods.kernel_scaling_search import Search, candidates_of, search
from studies.kernel_scaling.paper import K_MAJORITY, K_MINORITY, N_FOLDS, C
from studies.kernel_scaling.sets import Fold
from studies.protocol.controls import FisherDirection, best_threshold

HALF_DECADES = (0.0, 0.1, 0.316, 1.0, 3.16)
SCALINGS = {
    "AKS": "asymmetric",
    "KS": "symmetric",
    "Amari-Wu": "support",
    "ACT": "adaptive",
    "KBA": "boundary",
}
SEARCHED = {name: candidates_of(scaling, (None, None)) for name, scaling in SCALINGS.items()}
"""Strengths that askew's own search tries."""


class AccuracySearched(KernelScaledSVC):
    """Kernel scaling whose strengths have the best cross-validated accuracy, as the paper chooses them.

    askew's own search asks for balanced accuracy, and for a gain of more than its standard error; of AKS it looks at
    strong bends of the majority's side. Here both sides have the same half decades, as in the paper's figure.
    """

    def _search(self, task: Any, wanted: Any) -> Search:
        both = list(product(HALF_DECADES, repeat=2))
        candidates = both if self.scaling == "asymmetric" else candidates_of(self.scaling, (None, None))
        return search(task, self.scaling, candidates, self._solve, accuracy_gain, n_folds=self.n_folds, tol=self.tol)


def accuracy_gain(scores: Any, y: Any, weight: Any, fold: Any) -> tuple[Any, Any]:
    """Gain of each score over the first in accuracy, and no standard error."""
    accuracy = ((scores > 0) == (y > 0)) @ weight / weight.sum()
    return accuracy - accuracy[0], np.zeros(len(scores))


class MovedSVC(SVC):
    """An SVC whose threshold has the best balanced accuracy on training rows that were held out in turn."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MovedSVC:
        super().fit(X, y, sample_weight)
        rarest = int(np.min(np.unique(y, return_counts=True)[1]))
        self.threshold_ = 0.0
        if rarest > 1:
            inner = StratifiedKFold(min(N_FOLDS, rarest), shuffle=True, random_state=0)
            plain = SVC(**self.get_params())
            held_out = cross_val_predict(plain, X, y, cv=inner, method="decision_function")
            self.threshold_ = best_threshold(y, held_out)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) >= self.threshold_).astype(int)]


def fitted(fold: Fold, gamma: float | str) -> dict[str, Any]:
    """All contestants, fitted on the training rows of a fold."""
    plain = SVC(C=C, gamma=gamma).fit(fold.X, fold.y)
    models: dict[str, Any] = {
        "SVC, weighted": SVC(C=C, gamma=gamma, class_weight="balanced"),
        **controls(gamma),
        "AKS, paper's k": as_in_the_paper(fold, plain),
        "AKS, by accuracy": AccuracySearched(C=C, gamma=gamma),
        "KS, by accuracy": AccuracySearched(C=C, gamma=gamma, scaling="symmetric"),
        **{name: KernelScaledSVC(C=C, gamma=gamma, scaling=scaling) for name, scaling in SCALINGS.items()},
    }
    return {"SVC": plain, **{name: model.fit(fold.X, fold.y) for name, model in models.items()}}


def controls(gamma: float | str) -> dict[str, Any]:
    """What stands beside every comparison: nothing is scaled here."""
    return {"SVC, moved": MovedSVC(C=C, gamma=gamma), "Fisher": FisherDirection()}


def as_in_the_paper(fold: Fold, plain: SVC) -> KernelScaledSVC:
    """AKS at the strengths the paper reports, which are in units of f²; askew's are in units of max f²."""
    unit = float(np.max(plain.decision_function(fold.X) ** 2))
    return KernelScaledSVC(C=plain.C, gamma=plain.gamma, k_majority=K_MAJORITY * unit, k_minority=K_MINORITY * unit)
