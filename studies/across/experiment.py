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
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from askew import SVC
from askew.datasets import make_two_gaussians
from askew.selection import ToleranceSearchCV
from studies.across import sets
from studies.across.convergence import ending
from studies.across.methods import METHODS, Facts, Method
from studies.across.resampled import Resampled
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


def cells(*, quick: bool) -> list[Cell]:
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
