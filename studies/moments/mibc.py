"""MIBC as the papers use it: a path over C from one factorisation, the validation rows choose.

Three rules for the ridge, which the papers leave open ("a small regularisation term"):
    small      1e-4 of the mean variance: the papers' method
    auto       what ``MomentSVC(rho="auto")`` chooses from the training rows
    chosen     on the validation rows, together with C
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew import MomentSVC
from askew.exceptions import InfeasibleError
from studies.moments.certificate import certified
from studies.moments.grids import COSTS, FEW_RIDGES, RIDGES, SMALL_RIDGE
from studies.moments.judgement import areas, judge
from studies.moments.sets import Cut, Part

RULES = ("small", "auto", "chosen")


def measure(cut: Cut, covariance: str) -> dict[str, Any]:
    """Every rule's choice, refitted, judged, with its gap and its certificate."""
    unit = cut.unit
    paths = {ridge: _validated_path(cut, covariance, ridge * unit) for ridge in ridges(covariance)}
    found = {
        "small": _best([paths[SMALL_RIDGE]]),
        "auto": _best([_validated_path(cut, covariance, "auto")]),
        "chosen": _best(list(paths.values())),
    }
    result = {rule: _refitted(cut, covariance, C, rho, unit) for rule, (_, C, rho) in found.items()}
    return {**result, "hard": _hard(cut, covariance, SMALL_RIDGE * unit)}


def ridges(covariance: str) -> tuple[float, ...]:
    """Those to choose among, in mean variances; few for a factor model, whose paths take longer."""
    return FEW_RIDGES if covariance == "factor" else RIDGES


def _validated_path(cut: Cut, covariance: str, rho: float | str) -> tuple[NDArray[np.float64], float]:
    """Validation AUC of every cost, and the ridge."""
    path = MomentSVC(covariance=covariance, rho=rho).path(cut.train.X, cut.train.y, COSTS)
    return areas(cut.validation.y, np.asarray(cut.validation.X @ path.coefs[:, 0].T)), float(path.rho)


def _best(paths: list[tuple[NDArray[np.float64], float]]) -> tuple[float, float, float]:
    """Largest AUC with its cost and ridge; among equals the first, that is the smallest."""
    return max(
        ((float(area), float(C), rho) for each, rho in paths for area, C in zip(each, COSTS, strict=True)),
        key=lambda candidate: candidate[0],
    )


def _refitted(cut: Cut, covariance: str, C: float, rho: float, unit: float) -> dict[str, Any]:
    model = MomentSVC(C=C, rho=rho, covariance=covariance).fit(cut.train.X, cut.train.y)
    return {
        **judge(cut, model.decision_function(cut.validation.X), model.decision_function(cut.test.X)),
        "C": C,
        "ridge": rho / unit,
        "gap": relative_gap(model, cut.train),
        "certificate": certified(model, cut),
    }


def _hard(cut: Cut, covariance: str, rho: float) -> dict[str, Any] | None:
    """The hard margin of Remarks 1 and 2; None where no hyperplane has all positives beyond the mean."""
    try:
        model = MomentSVC(formulation="hard", rho=rho, covariance=covariance).fit(cut.train.X, cut.train.y)
    except InfeasibleError:
        return None
    return {"certificate": certified(model, cut)}


def relative_gap(model: MomentSVC, train: Part) -> float:
    """(P − D)/P from what the fitted model shows.

    With f the score and w'Σw = Σ α_i (f_i + 1): P = ½w'Σw + C Σ max(0, −f_i) over positives, D = Σα − ½w'Σw.
    """
    alpha = model.dual_coef_.ravel()
    square = float(alpha @ (model.decision_function(model.support_vectors_) + 1.0))
    slack = float(np.maximum(0.0, -model.decision_function(train.positives)).sum())
    primal = 0.5 * square + model.C * slack
    return float((primal - (alpha.sum() - 0.5 * square)) / max(primal, np.finfo(float).tiny))
