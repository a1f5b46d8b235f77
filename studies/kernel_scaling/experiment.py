"""The cells of the study and the work on one of them: five folds of one repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from askew import KernelScaledSVC
from studies.kernel_scaling.methods import HALF_DECADES, SEARCHED, controls, fitted
from studies.kernel_scaling.paper import K_MAJORITY, K_MINORITY, N_FOLDS, REMOVED, C
from studies.kernel_scaling.sets import DEALS, KERNELS, NAME, Fold, folds
from studies.protocol.cells import Cell
from studies.protocol.measures import relative_gap

Result = dict[str, Any]

REPEATS = {"paper": 8, "wide": 3, "narrow": 2, "raw": 2}
STRENGTHS = (0.0, 0.01, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6)
"""k of either side of a surface, in units of 1 / max f²."""
SURFACES = 5
"""Repeats of a surface, which is smooth; those of the comparison are more."""
SETTINGS = {
    "C": C,
    "folds": N_FOLDS,
    "minority rows taken out": REMOVED,
    "kernels": KERNELS,
    "strengths of the surfaces": STRENGTHS,
    "strengths searched by accuracy": HALF_DECADES,
    "strengths searched by askew": SEARCHED,
    "strengths of the paper": [K_MAJORITY, K_MINORITY],
    "controls of every cell": ["SVC, moved", "Fisher"],
    "seeds": {
        "rows taken out and outer folds": "the number of the repeat",
        "folds that move a threshold": 0,
        "folds of a search for strengths": "none: askew deals rows to folds without chance",
    },
}


def cells(quick: bool) -> list[Cell]:
    """All cells: the paper's reading with most repeats, other kernels with fewer."""
    removed = REMOVED[2:] if quick else REMOVED
    repeats = {"paper": 1} if quick else REPEATS
    compared = [
        _cell("compare", setting, n, deal, r)
        for setting in ("paper", "wide")
        for r in range(repeats.get(setting, 0))
        for deal in DEALS
        for n in removed
    ]
    surfaces = [
        _cell("surface", setting, n, deal, r)
        for setting, count in repeats.items()
        for r in range(min(count, SURFACES))
        for deal in (DEALS if setting == "paper" else DEALS[:1])
        for n in removed
    ]
    return sorted([*compared, *surfaces], key=lambda cell: cell["repeat"])


def _cell(kind: str, setting: str, removed: int, deal: str, repeat: int) -> Cell:
    return {"kind": kind, "setting": setting, "removed": removed, "folds": deal, "repeat": repeat}


def sets_of(cell: Cell) -> tuple[str, ...]:
    """Every cell reads Parkinsons."""
    return (NAME,)


def work(cell: Cell) -> Result:
    """Every fold of the cell, compared or measured over the grid."""
    gamma = KERNELS[cell["setting"]]["gamma"]
    each = compare if cell["kind"] == "compare" else surface
    parts = folds(cell["removed"], cell["folds"], cell["repeat"], cell["setting"])
    return {"parts": [each(fold, gamma) for fold in parts]}


def compare(fold: Fold, gamma: float | str) -> Result:
    """All contestants on one fold."""
    found = {name: _judge(model, fold) for name, model in fitted(fold, gamma).items()}
    found["always majority"] = measures(-np.ones(len(fold.truth)), np.zeros(len(fold.truth)), fold.truth)
    return found


def surface(fold: Fold, gamma: float | str) -> Result:
    """Accuracy and balanced accuracy over the grid, the latter None where the test part lacks a class; two controls."""
    is_right = (scores_on_grid(fold, gamma) > 0) == (fold.truth > 0)
    rates = [is_right[..., fold.truth == sign].mean(axis=-1) for sign in (-1, 1) if np.any(fold.truth == sign)]
    balanced = sum(rates) / 2 if len(rates) == 2 else None
    beside = {name: _judge(model.fit(fold.X, fold.y), fold) for name, model in controls(gamma).items()}
    return {
        "controls": {name: found["accuracy"] for name, found in beside.items()},
        "accuracy": np.round(is_right.mean(axis=-1), 6),
        "balanced_accuracy": None if balanced is None else np.round(balanced, 6),
    }


def scores_on_grid(fold: Fold, gamma: float | str) -> NDArray[np.float64]:
    """Score of AKS for every test row at every pair of strengths, of shape (majority, minority, test rows)."""
    return np.array([[_scores(fold, gamma, majority, minority) for minority in STRENGTHS] for majority in STRENGTHS])


def _scores(fold: Fold, gamma: float | str, majority: float, minority: float) -> NDArray[np.float64]:
    model = KernelScaledSVC(C=C, gamma=gamma, k_majority=majority, k_minority=minority)
    return model.fit(fold.X, fold.y).decision_function(fold.test)


def _judge(model: Any, fold: Fold) -> Result:
    found = measures(np.asarray(model.predict(fold.test)), model.decision_function(fold.test), fold.truth)
    gap = relative_gap(model, len(fold.X))
    found |= {} if gap is None else {"gap": gap}
    if getattr(model, "search_", None) and model.search_[0] is not None:
        found["k"] = list(model.search_[0].chosen)
    if hasattr(model, "plain_decision_function"):
        plain = model.plain_decision_function(fold.test)
        found["moved"] = int(np.sum((plain > 0) != (model.decision_function(fold.test) > 0)))
        found["change"] = float(np.max(np.abs(model.decision_function(fold.test) - plain)))
    return found


def measures(predicted: Any, scores: Any, truth: Any) -> Result:
    """Accuracy, and balanced accuracy and AUC where both classes are there."""
    is_right, is_rare = predicted == truth, truth > 0
    found: Result = {"accuracy": float(is_right.mean()), "balanced_accuracy": None, "auc": None}
    if is_rare.any() and not is_rare.all():
        found["balanced_accuracy"] = float(is_right[is_rare].mean() + is_right[~is_rare].mean()) / 2
        found["auc"] = float(roc_auc_score(is_rare, scores))
    return found
