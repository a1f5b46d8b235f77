"""Tables 3 and 5: processor seconds per problem, one thread, apart from the cells that judge quality.

A problem is one fit at one cost. MIBC's path shares its pass over the negatives and its factorisation among the costs,
as the papers say one would; ``alone`` is a single fit that shares nothing. ``ridge chosen`` is one problem of a search
over costs and ridges, a path for each ridge: ``candidates`` problems, where the weighted SVM's search has fifty.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from askew import MomentSVC
from studies.moments.grids import COSTS, SEED_OF_DRAW, SMALL_RIDGE, weights
from studies.moments.machines import balanced, published
from studies.moments.mibc import ridges
from studies.moments.sets import Cut, cut
from studies.protocol.cells import Cell


def timing_cells(sets: tuple[str, ...], repeats: int = 3) -> list[dict[str, Any]]:
    """A few cuts of each task."""
    return [{"set": s, "repeat": r, "method": "time"} for s in sets for r in range(repeats)]


def work(cell: Cell) -> dict[str, Any]:
    """Seconds per problem of every method on one cut."""
    here = cut(cell["set"], cell["repeat"])
    covariances = ("diagonal", "factor") if sparse.issparse(here.train.X) else ("full",)
    found = {name: _of_moments(here, name) for name in covariances}
    return {**found, **_of_machines(here, cell["repeat"])}


def _of_moments(here: Cut, covariance: str) -> dict[str, float]:
    X, y, ridge = here.train.X, here.train.y, SMALL_RIDGE * here.unit
    tried = [each * here.unit for each in ridges(covariance)]
    candidates = len(tried) * len(COSTS)
    search = _least(lambda: [MomentSVC(covariance=covariance, rho=rho).path(X, y, COSTS) for rho in tried])
    return {
        "path": _least(lambda: MomentSVC(covariance=covariance, rho=ridge).path(X, y, COSTS)) / len(COSTS),
        "path, ridge auto": _least(lambda: MomentSVC(covariance=covariance).path(X, y, COSTS)) / len(COSTS),
        "path, ridge chosen": search / candidates,
        "candidates": candidates,
        "alone": _least(lambda: MomentSVC(covariance=covariance, rho=ridge).fit(X, y)),
    }


def _of_machines(here: Cut, repeat: int) -> dict[str, Any]:
    """LIBLINEAR over the grid, by cost, and the share of its fits that converged."""
    seconds, converged = np.zeros((len(weights(here.ratio)), len(COSTS))), []
    for i, weight in enumerate(weights(here.ratio)):
        for j, C in enumerate(COSTS):
            begin = time.process_time()
            _, has_converged = published(here.train, float(C), weight)
            seconds[i, j] = time.process_time() - begin
            converged.append(has_converged)
    few = balanced(here.train, np.random.default_rng([repeat, SEED_OF_DRAW]))
    sampled = _least(lambda: [published(few, float(C), 1.0) for C in COSTS]) / len(COSTS)
    return {
        "cost-sensitive": float(seconds.mean()),
        "converged only": float(seconds.ravel()[converged].mean()),
        "by cost": seconds.mean(axis=0).round(5).tolist(),
        "share converged": float(np.mean(converged)),
        "undersampling": sampled,
    }


def _least(call: Callable[[], Any], times: int = 3) -> float:
    """The least of a few, so that first calls, which compile, do not count."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        call()
        taken.append(time.process_time() - begin)
    return min(taken)
