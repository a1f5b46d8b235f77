"""Figure 7: what a grid of g values per parameter costs PT (g³) and ASVM (g² + g), in fits and in CPU seconds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from askew import SVC, AsymmetricSVC
from askew.kernels import resolve_gamma
from askew.selection import ToleranceSearchCV
from studies.asvm.methods import FOLDS
from studies.asvm.sets import draw
from studies.protocol.cells import Cell

ROWS, TOLERANCE, SEED = 600, 0.05, 0
COSTS, RATIOS, WIDTHS = (-2.0, 3.0), (-0.5, 1.5), (-1.5, 1.5)  # ends of the grids, powers of ten
SHARES = (0.05, 0.95)  # ends of the grids of μ, of the largest that is feasible, and of τ, of what μ leaves


def effort(cell: Cell) -> dict[str, Any]:
    """Fits and CPU seconds of one method's search on Covertype."""
    split, g = draw("covtype", SEED), cell["granularity"]
    X, y = split.X_train[:ROWS], split.y_train[:ROWS]
    _grid(AsymmetricSVC(), {"mu": [0.05], "tau": [0.0]}, X, y)  # compiled code is loaded
    _grid(SVC(), {"C": [1.0]}, X, y)
    begin = time.process_time()
    n_candidates = (_tuned if cell["method"] == "PT" else _asymmetric)(X, y, g)
    return {"fits": n_candidates * FOLDS, "cpu_search": time.process_time() - begin}


def _tuned(X: Any, y: Any, g: int) -> int:
    grid = {
        "C": np.logspace(*COSTS, g).tolist(),
        "class_weight": [{-1: 1.0, 1: ratio} for ratio in np.logspace(*RATIOS, g)],
        "gamma": _widths(X, g),
    }
    return len(_grid(SVC(), grid, X, y).cv_results_["params"])


def _asymmetric(X: Any, y: Any, g: int) -> int:
    share = 0.98 * float(np.mean(y > 0))
    shares = np.linspace(*SHARES, g)
    plane = _grid(AsymmetricSVC(), {"mu": (share * shares).tolist(), "tau": [0.0], "gamma": _widths(X, g)}, X, y)
    best = plane.best_params_
    taus = ((share - best["mu"]) * shares).tolist()
    line = _grid(AsymmetricSVC(), {"mu": [best["mu"]], "tau": taus, "gamma": [best["gamma"]]}, X, y)
    return len(plane.cv_results_["params"]) + len(line.cv_results_["params"])


def _grid(estimator: Any, grid: dict[str, Any], X: Any, y: Any) -> ToleranceSearchCV:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return ToleranceSearchCV(estimator, grid, tolerance=TOLERANCE, cv=folds, n_jobs=1, refit=False).fit(X, y)


def _widths(X: Any, g: int) -> list[float]:
    return (np.logspace(*WIDTHS, g) * resolve_gamma("scale", X, np.ones(len(X)))).tolist()
