"""What is compared: how each method is searched, all on the same ten folds and kernel widths.

TH   SVC with costs 9:1 and a moved threshold; C and width on a grid
PT   SVC with a cost for each class; C⁻, C⁺ / C⁻ and width on a grid that contains TH's
ASVM the paper's search: μ and width at τ = 0, then a line over τ
ν    what that search had found before the line: the ν-SVC with ν = 2μ
ASVM 9:1   the same search with positives weighted nine times, as TH's are: what the paper did not try
balls      a one-class SVM for each class, their scores subtracted: the paper's "naive solution" (section 3.1)
Fisher     no parameters
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from askew import SVC, AsymmetricSVC, OneClassSVM
from askew.estimators.asymmetric_svc import MU_SHARES, TAU_SHARES
from askew.kernels import resolve_gamma
from askew.selection import ToleranceSearchCV
from studies.protocol.controls import FisherDirection

WIDTHS = tuple(4.0**k for k in range(-3, 4))  # of 1 / (d · var X); those of AsymmetricSVC's own search
COSTS = tuple(10.0**k for k in range(-2, 4))
RATIOS = (1 / 3, 1.0, 3.0, 9.0)
NU = 0.2
FOLDS = 10
POSITIVE_WEIGHT = 9.0
SEARCHED = {"mu": MU_SHARES, "tau": TAU_SHARES}  # by ASVM: of the largest feasible μ, and of what μ leaves


class TwoBalls(ClassifierMixin, BaseEstimator):
    """A one-class SVM on the positives and one on the negatives; the score is the difference of theirs."""

    def __init__(self, nu: float = 0.2, gamma: float = 1.0) -> None:
        self.nu = nu
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> TwoBalls:
        self.classes_ = np.unique(y)
        self.balls_ = [OneClassSVM(nu=self.nu, gamma=self.gamma).fit(X[y == label]) for label in self.classes_]
        return self

    def decision_function(self, X: Any) -> Any:
        low, high = (_per_norm(ball, X) for ball in self.balls_)
        return high - low

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) >= 0).astype(int)]


def _per_norm(ball: Any, X: Any) -> Any:
    """The score as a distance from its plane, so that balls of different sizes compare."""
    weights = ball.dual_coef_.ravel()
    norm = np.sqrt(weights @ (ball.decision_function(ball.support_vectors_) - ball.intercept_))
    return ball.decision_function(X) / max(float(norm), 1e-300)


def searched(method: str, X: Any, y: Any, t: float, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Models by name, fitted on all rows, and what the search saw."""
    return _SEARCHES[method](X, y, t, StratifiedKFold(FOLDS, shuffle=True, random_state=seed))


def thresholding(X: Any, y: Any, t: float, folds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    grid = {"C": COSTS, "gamma": _widths(X)}
    search = _search(SVC(class_weight={-1: 1.0, 1: POSITIVE_WEIGHT}), grid, t, folds).fit(X, y)
    return {"TH": search.best_estimator_}, seen(search)


def tuning(X: Any, y: Any, t: float, folds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    grid = {"C": COSTS, "gamma": _widths(X), "class_weight": [{-1: 1.0, 1: ratio} for ratio in RATIOS]}
    search = _search(SVC(), grid, t, folds).fit(X, y)
    return {"PT": search.best_estimator_}, seen(search)


def asymmetric(X: Any, y: Any, t: float, folds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    search = _search(AsymmetricSVC(), None, t, folds).fit(X, y)
    before = _best_without_core(search)
    models = {"ASVM": search.best_estimator_, "nu": AsymmetricSVC(**before).fit(X, y)}
    return models, seen(search)


def weighted_asymmetric(X: Any, y: Any, t: float, folds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    weight = np.where(y > 0, POSITIVE_WEIGHT, 1.0)
    search = _search(AsymmetricSVC(), None, t, folds).fit(X, y, sample_weight=weight)
    before = _best_without_core(search)
    models = {"ASVM 9:1": search.best_estimator_, "nu 9:1": AsymmetricSVC(**before).fit(X, y, sample_weight=weight)}
    return models, seen(search)


def two_balls(X: Any, y: Any, t: float, folds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    search = _search(TwoBalls(NU), {"gamma": _widths(X)}, t, folds).fit(X, y)
    return {"balls": search.best_estimator_}, seen(search)


def fisher(X: Any, y: Any, t: float, folds: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"Fisher": FisherDirection().fit(X, y)}, {}


_SEARCHES: dict[str, Callable[..., Any]] = {
    "TH": thresholding,
    "PT": tuning,
    "ASVM": asymmetric,
    "ASVM 9:1": weighted_asymmetric,
    "balls": two_balls,
    "Fisher": fisher,
}
METHODS = tuple(_SEARCHES)


def seen(search: ToleranceSearchCV) -> dict[str, Any]:
    """What was chosen, and how much of the grid the solver could not settle."""
    results = search.cv_results_
    best_mean = int(np.nanargmax(results["mean_test_score"]))
    return {
        "chosen": search.best_params_ if "class_weight" not in search.best_params_ else _flat(search.best_params_),
        "cv": search.best_score_,
        "candidates": len(results["params"]),
        "unresolved": int(np.count_nonzero(~results["is_resolved"])),
        "best_is_unresolved": bool(not results["is_resolved"][best_mean]),
    }


def _flat(chosen: dict[str, Any]) -> dict[str, Any]:
    return {"C": chosen["C"], "gamma": chosen["gamma"], "ratio": chosen["class_weight"][1]}


def _best_without_core(search: ToleranceSearchCV) -> dict[str, Any]:
    results = search.cv_results_
    plain = [i for i, setting in enumerate(results["params"]) if setting["tau"] == 0.0]
    return results["params"][min(plain, key=lambda i: results["rank_test_score"][i])]


def _search(estimator: Any, grid: Any, t: float, folds: Any) -> ToleranceSearchCV:
    return ToleranceSearchCV(estimator, grid, tolerance=t, normalize=True, cv=folds, n_jobs=1)


def _widths(X: Any) -> list[float]:
    unit = resolve_gamma("scale", X, np.ones(len(X)))
    return [width * unit for width in WIDTHS]
