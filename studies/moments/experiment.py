"""The cells of this study: one method on one cut of one task. Tables 1–5 and the ROC figures of both papers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from askew import MomentSVC
from studies.moments.methods import (
    COSTS,
    FEW_RIDGES,
    KERNEL_COSTS,
    KERNEL_METHODS,
    KERNEL_RIDGES,
    KERNEL_WIDTHS,
    MOST_STEPS,
    MOST_SWEEPS,
    PUBLISHED_SWEEPS,
    RIDGES,
    SEED_OF_DRAW,
    SEED_OF_LIBLINEAR,
    SMALL_RIDGE,
    as_published,
    balanced,
    cost_sensitive,
    fisher_direction,
    kernel_machine,
    moments,
    published,
    ridges,
    undersampled,
    weights,
)
from studies.moments.sets import (
    DENSE,
    DENSE_RARE,
    N_FEATURES,
    RCV1,
    REUTERS,
    REUTERS_RARE,
    SEED,
    SHARES,
    TEXT,
    Cut,
    cut,
    describe,
)
from studies.protocol.cells import Cell

PEERS = ("cost-sensitive", "undersampling", "fisher")
RIDGES_SHOWN = (SMALL_RIDGE, RIDGES[5])
SETTINGS: dict[str, Any] = {
    "costs": COSTS.tolist(),
    "weights": ["1", "r/4", "r/2", "r", "2r"],
    "ridges": RIDGES,
    "ridges of factor models": FEW_RIDGES,
    "shares": SHARES,
    "features": N_FEATURES,
    "steps of SVC": MOST_STEPS,
    "sweeps of LIBLINEAR": {"text": MOST_SWEEPS, "as published": PUBLISHED_SWEEPS},
    "kernel": {"costs": KERNEL_COSTS, "ridges": KERNEL_RIDGES, "widths": KERNEL_WIDTHS},
    "seed": SEED,
}

SEEDS = {
    "cuts": f"default_rng([number of the cut, {SEED}])",
    "negatives drawn by undersampling": f"default_rng([number of the cut, {SEED_OF_DRAW}])",
    "LIBLINEAR": f"random_state={SEED_OF_LIBLINEAR}",
}


@dataclass(frozen=True)
class Size:
    """How much of the study to run: tasks, and cuts of each."""

    dense: tuple[str, ...] = DENSE
    rare: tuple[str, ...] = DENSE_RARE
    text: tuple[str, ...] = TEXT
    timed: tuple[str, ...] = (*DENSE, *RCV1, *REUTERS_RARE)
    worded: tuple[str, ...] = (*REUTERS, *REUTERS_RARE)
    dense_cuts: int = 20
    other_cuts: int = 10
    timed_cuts: int = 3


QUICK = Size(("mammography",), (), (RCV1[1], REUTERS_RARE[1]), (REUTERS_RARE[1],), (), 2, 2, 1)


def cells(quick: bool) -> list[Cell]:
    """All cells that judge quality."""
    size = QUICK if quick else Size()
    return [
        *count_cells((*size.dense, *size.text)),
        *text_cells(size.text, size.other_cuts),
        *dense_cells(size.dense, size.dense_cuts),
        *rare_cells(size.rare, size.other_cuts),
        *kernel_cells(size.dense, size.other_cuts),
        *word_cells(size.worded),
    ]


def timed_cells(quick: bool) -> list[Cell]:
    """A few cuts of some tasks, for Tables 3 and 5."""
    size = QUICK if quick else Size()
    return [{"set": s, "repeat": r, "method": "time"} for s in size.timed for r in range(size.timed_cuts)]


def sets_of(cell: Cell) -> tuple[str, ...]:
    """The data set that a task is taken from."""
    return (cell["set"].partition("@")[0].partition("/")[0],)


def dense_cells(sets: tuple[str, ...] = DENSE, repeats: int = 20) -> list[dict[str, Any]]:
    """Tables 1–3 of the papers."""
    methods = ("MIBC full", *PEERS, "liblinear")
    return [{"set": s, "repeat": r, "method": m} for s in sets for r in range(repeats) for m in methods]


def rare_cells(sets: tuple[str, ...] = DENSE_RARE, repeats: int = 10) -> list[dict[str, Any]]:
    """The same sets with positives left out of training: is MIBC better the rarer they are?"""
    methods = ("MIBC full", *PEERS)
    return [{"set": s, "repeat": r, "method": m} for s in sets for r in range(repeats) for m in methods]


def text_cells(sets: tuple[str, ...] = TEXT, repeats: int = 10) -> list[dict[str, Any]]:
    """Tables 4 and 5."""
    return [
        {"set": s, "repeat": r, "method": m}
        for s in sets
        for r in range(repeats)
        for m in ("MIBC diagonal", "MIBC factor", *PEERS)
    ]


def kernel_cells(sets: tuple[str, ...] = DENSE, repeats: int = 10) -> list[dict[str, Any]]:
    """Section 3.3 of paper 000."""
    return [{"set": s, "repeat": r, "method": m} for s in sets for r in range(repeats) for m in KERNEL_METHODS]


def word_cells(sets: tuple[str, ...] = (*REUTERS, *REUTERS_RARE), repeats: int = 3) -> list[dict[str, Any]]:
    """What the score of a topic rests on."""
    return [{"set": s, "repeat": r, "method": "words"} for s in sets for r in range(repeats)]


def count_cells(sets: tuple[str, ...]) -> list[dict[str, Any]]:
    """Table 1, kept so that pages can be made where the data are not."""
    return [{"set": s, "repeat": 0, "method": "count"} for s in sets if "@" not in s]


def work(cell: Cell) -> dict[str, Any]:
    """One cell."""
    if cell["method"] == "count":
        return describe(cell["set"])
    here, method, repeat = cut(cell["set"], cell["repeat"]), cell["method"], cell["repeat"]
    if method.startswith("MIBC"):
        return moments(here, method.split()[1])
    if method in KERNEL_METHODS:
        return kernel_machine(here, method)
    others: dict[str, Callable[[], dict[str, Any]]] = {
        "cost-sensitive": lambda: cost_sensitive(here),
        "undersampling": lambda: undersampled(here, repeat),
        "fisher": lambda: fisher_direction(here),
        "liblinear": lambda: as_published(here),
        "words": lambda: unseen_words(here),
        "time": lambda: times(here, repeat),
    }
    return others[method]()


def unseen_words(cut: Cut) -> dict[str, Any]:
    """Why a small ridge fails on rare topics: words that no training negative holds have no variance but the ridge.

    Share of a training positive's score that comes from such words, by ridge; share of test positives with any.
    """
    unseen = np.asarray((cut.train.negatives != 0).sum(axis=0)).ravel() == 0
    typical = np.asarray(cut.train.positives.mean(axis=0)).ravel()
    shares = []
    for ridge in RIDGES_SHOWN:
        model = MomentSVC(rho=ridge * cut.unit, covariance="diagonal").fit(cut.train.X, cut.train.y)
        parts = typical * model.coef_[0]
        shares.append(float(parts[unseen].sum() / parts.sum()))
    held = np.asarray((cut.test.positives[:, np.flatnonzero(unseen)] != 0).sum(axis=1)).ravel()
    return {"shares": shares, "tested": float(np.mean(held > 0))}


def times(here: Cut, repeat: int) -> dict[str, Any]:
    """Processor seconds per problem of every method on one cut, one thread, apart from the cells that judge quality.

    A problem is one fit at one cost. MIBC's path shares its pass over the negatives and its factorisation among the
    costs, as the papers say one would; ``alone`` is a single fit that shares nothing. ``ridge chosen`` is one problem
    of a search over costs and ridges, a path for each ridge: ``candidates`` problems, where the weighted SVM's search
    has fifty.
    """
    covariances = ("diagonal", "factor") if sparse.issparse(here.train.X) else ("full",)
    found = {name: _of_moments(here, name) for name in covariances}
    return {**found, **_of_machines(here, repeat)}


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
