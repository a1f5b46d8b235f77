"""One cell: choose a method's parameters on a training part, fit, move the threshold, judge on the test part.

Every method gets the same folds of the training part. Parameters: the best mean 0.1-AUC over the folds. Threshold: the
one with the best balanced accuracy on the held-out scores of the chosen candidate, pooled over the folds in standard
units of each model; so no row judges a model that has seen it. Scaling is part of the model, learnt inside each fold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from askew import SVC, SVDD, AsymmetricSVC, CovarianceOneClassSVM, OneClassSVM
from askew.datasets import make_two_gaussians
from askew.selection import ToleranceSearchCV
from studies.across import sets
from studies.across.methods import METHODS, Facts, Method, Resampled
from studies.protocol.cells import Cell
from studies.protocol.controls import best_threshold
from studies.protocol.measures import decision, ranking

REPEATS, FOLDS, TOLERANCE = 5, 3, 0.1
MOVED_REPEATS = 2  # a moved threshold takes three more fits, which the first repeats pay for
QUICK_SETS, QUICK_REPEATS = ("keel/glass6", "haberman", "keel/new-thyroid1", "ionosphere"), 1
SETTINGS = {
    "repeats": "70/30, stratified, seeded by their number",
    "folds": FOLDS,
    "search": f"mean t-AUC({TOLERANCE}) over the folds",
    "threshold": "best balanced accuracy on pooled held-out scores of the folds, each in standard units of its model",
    "moved_repeats": MOVED_REPEATS,
    "most_training_rows": sets.MOST_TRAINING,
    "most_test_rows": sets.MOST_TEST,
    "pool": sets.POOL,
    "fewest_positives": sets.FEWEST_POSITIVES,
    "mildest": sets.MILDEST,
    "thinned_to": sets.THINNED,
}
SEEDS = {
    "draw of a large set": "numpy default_rng(0)",
    "thinning of positives and cutting of parts": "numpy default_rng([repeat, 2026])",
    "split into training and test part": "random_state = repeat, counted from 0",
    "folds of the search and of the threshold": "random_state 0",
    "gradient boosting, resamplers, PyOD IForest": "random_state 0 in every fit",
    "all other methods, and KernelScaledSVC's own folds": "nothing is drawn",
}

_WRAPPED = ("detector_", "machine_")
_TINY = 1e-300


def cells(quick: bool) -> list[Cell]:
    """The first set of every family before the others, and repeat by repeat: a run cut short has whole repeats."""
    if quick:
        return _cells(QUICK_SETS, QUICK_REPEATS)
    return _cells(sets.FIRST, REPEATS) + _cells(sets.ALL[len(sets.FIRST) :], REPEATS)


def _cells(names: tuple[str, ...], repeats: int) -> list[Cell]:
    return [
        {"set": name, "repeat": repeat, "method": method, "recipe": METHODS[method].recipe}
        for repeat in range(repeats)
        for name in names
        for method in METHODS
    ]


def sets_of(cell: Cell) -> tuple[str, ...]:
    """The data set of a cell."""
    return (cell["set"],)


def work(cell: Cell) -> dict[str, Any]:
    """Result of one method on one split."""
    warm_up()
    sets.pool(cell["set"])
    parts, method = sets.split(cell["set"], cell["repeat"]), METHODS[cell["method"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judge(method, parts, moved=cell["repeat"] < MOVED_REPEATS)


def judge(method: Method, parts: sets.Parts, *, moved: bool = True) -> dict[str, Any]:
    """Search, fit, test; with a moved threshold or without."""
    facts = Facts(int(np.sum(np.ptp(parts.X, axis=0) > 0)), float(np.mean(parts.y > 0)))
    folds = inner_folds(parts)
    best, search_cpu = timed(lambda: search(method, parts, folds, facts))
    model, fit_cpu = timed(lambda: method.pipeline().set_params(**best).fit(parts.X, parts.y))
    scores, score_cpu = timed(lambda: model.decision_function(parts.X_test))
    own = decision(parts.y_test, model.predict(parts.X_test))
    return rounded(
        {
            **ranking(parts.y_test, scores),
            **(decided(method, best, model, parts, folds) if moved else {}),
            "own_balanced_accuracy": own["balanced_accuracy"],
            "own_false_positive_rate": own["false_positive_rate"],
            "fit_cpu": fit_cpu,
            "search_cpu": search_cpu,
            "score_cpu": score_cpu,
            "params": {name.removeprefix("machine__"): value for name, value in best.items()},
            **ending(model[-1]),
            **refusals(model, parts, folds),
            "rows": [len(parts.y), int(np.sum(parts.y > 0)), len(parts.y_test), int(np.sum(parts.y_test > 0))],
        }
    )


def inner_folds(parts: sets.Parts) -> list[tuple[Any, Any]]:
    """The same for every method; groups kept whole."""
    way = StratifiedKFold if parts.groups is None else StratifiedGroupKFold
    return list(way(FOLDS, shuffle=True, random_state=0).split(parts.X, parts.y, parts.groups))


def search(method: Method, parts: sets.Parts, folds: list[Any], facts: Facts) -> dict[str, Any]:
    """The best candidate of the grid; nothing where there is none."""
    grid = method.candidates(facts)
    if grid is None:
        return {}
    trial = method.pipeline(**method.fixed)
    found = ToleranceSearchCV(trial, grid, tolerance=TOLERANCE, cv=folds, refit=False, n_jobs=1)
    return found.fit(parts.X, parts.y).best_params_


def decided(method: Method, best: dict[str, Any], model: Any, parts: sets.Parts, folds: list[Any]) -> dict[str, float]:
    """The model's decisions at a threshold moved on held-out rows of the training part."""
    held_out = np.empty(len(parts.y))
    for train, test in folds:
        other = method.pipeline().set_params(**best).fit(parts.X[train], parts.y[train])
        held_out[test] = standard_scores(other, parts.X[train], parts.X[test])
    alarms = standard_scores(model, parts.X, parts.X_test) >= best_threshold(parts.y, held_out)
    return decision(parts.y_test, np.where(alarms, 1, -1))


def standard_scores(model: Any, X: Any, rows: Any) -> Any:
    """Scores less their mean over the training rows X, in units of their spread there.

    Some scores have no unit of their own: those of AsymmetricSVC, of a MomentSVC of small C and of one-class machines
    in LIBSVM's scale change with the number of rows, so that a threshold from folds would mislead the final model.
    """
    own = model.decision_function(X)
    return (model.decision_function(rows) - own.mean()) / max(float(own.std()), np.finfo(float).tiny)


def ending(model: Any) -> dict[str, Any]:
    """How a fit ended: ``status``, and ``relative_gap`` where there is one, of a machine alone or in a wrapper.

    Logistic regression says only whether it stopped before its limit of iterations; trees and detectors have no
    optimum, and nothing is said of them.
    """
    for inner in _WRAPPED:
        model = getattr(model, inner, model)
    if isinstance(model, LogisticRegression):
        return {"status": "converged" if np.max(model.n_iter_) < model.max_iter else "max_iter"}
    if not hasattr(model, "dual_gap_"):
        return {}
    return {"status": str(model.status_), "relative_gap": float(relative_gap(model))}


def relative_gap(model: Any) -> float:
    """Upper bound of the gap in units of the objective.

    C-SVC, bent or not, and MomentSVC: at the optimum Σα − ½‖w‖² ≥ ½Σα, so the relative gap is at most 2 gap / Σα.
    One-class SVM: the objective is ½ β'Kβ = ½ Σ β_i s(x_i) with s the score without offset. Covariance-guided: it is
    kept along the path of η. SVDD: the objective is at least ½ (νN)² R². AsymmetricSVC is judged by its relative
    violation instead.
    """
    gap = float(np.max(model.dual_gap_))
    if isinstance(model, AsymmetricSVC):
        return float(np.max(model.relative_violation_))
    if isinstance(model, CovarianceOneClassSVM):
        place = int(np.argmin(np.abs(model.eta_path_["eta"] - model.eta_)))
        return gap / max(abs(float(model.eta_path_["objective"][place])), _TINY)
    if isinstance(model, OneClassSVM):
        return gap / max(0.5 * float(model.dual_coef_.ravel() @ model.score_samples(model.support_vectors_)), _TINY)
    if isinstance(model, SVDD):
        largest = float(np.max(model.dual_coef_))  # 1/(νN) where a multiplier is at its bound, never more
        return gap / max(0.5 * model.squared_radius_ / largest**2, _TINY)
    return 2 * gap / max(float(np.abs(model.dual_coef_).sum()), _TINY)


def refusals(model: Any, parts: sets.Parts, folds: list[Any]) -> dict[str, Any]:
    """Whether a resampler took the training part, and how many of the folds; nothing for a method without one."""
    scaler, machine = model
    if not isinstance(machine, Resampled):
        return {}
    of_folds = [machine.resample(clone(scaler).fit_transform(parts.X[train]), parts.y[train])[-1] for train, _ in folds]
    return {"resampled": machine.is_resampled_, "resampled_folds": sum(of_folds)}


def timed(job: Callable[[], Any]) -> tuple[Any, float]:
    """Result and processor seconds."""
    begin = time.process_time()
    result = job()
    return result, time.process_time() - begin


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Load compiled code once per process, so that no fit is charged for it."""
    data = make_two_gaussians(60, rare=0.3, random_state=0)
    for name in ("SVC", "AsymmetricSVC", "KernelScaledSVC", "MomentSVC", "MomentSVC rbf", "CovarianceOneClassSVM"):
        METHODS[name].pipeline().fit(data.X, data.y)
    for other in ("SVDD", "gradient boosting", "PyOD KNN", "PyOD ECOD", "PyOD IForest", "PyOD LOF", "SMOTE + SVC"):
        METHODS[other].pipeline().fit(data.X, data.y)
    ToleranceSearchCV(SVC(), {"C": [1.0]}, cv=2, n_jobs=1).fit(data.X, data.y)


def rounded(result: dict[str, Any]) -> dict[str, Any]:
    """Five digits are more than any of it is worth."""
    return {key: float(f"{value:.5g}") if isinstance(value, float) else value for key, value in result.items()}
