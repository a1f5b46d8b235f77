"""One cell of Tables 1 and 2: a method searched under a tolerance on one split, and judged on rows it did not see."""

from __future__ import annotations

from typing import Any

import numpy as np

from askew.metrics import RocCurve, hull_of_curves, tolerance_auc_score
from studies.asvm.methods import searched
from studies.asvm.sets import draw
from studies.protocol.cells import Cell

TOLERANCES = (1.0, 0.1, 0.05)
CURVE = 100  # steps of the curves of Figures 4 and 6, from 0 to the tolerance


def compare(cell: Cell) -> dict[str, Any]:
    """Search, fit, score; for every model of the method its areas, its hull and how far its fit had converged."""
    split = draw(cell["set"], cell["repeat"])
    models, search = searched(cell["method"], split.X_train, split.y_train, cell["t"], cell["repeat"])
    found: dict[str, Any] = {"search": search, "models": {}}
    for name, model in models.items():
        judged = {"fit": ending(model), "test": judge(model, split.X_test, split.y_test)}
        if split.X_fresh is not None:
            judged["fresh"] = judge(model, split.X_fresh, split.y_fresh)
        found["models"][name] = judged
    return found


def judge(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """t-AUC at every tolerance, the vertices of the hull as counts, and the curve where false positives are few."""
    scores = model.decision_function(X)
    curve = RocCurve.of(y, scores)
    hull = hull_of_curves({"": curve})
    n_negative, n_positive = int(np.sum(y < 0)), int(np.sum(y > 0))
    rates = np.linspace(0.0, 0.1, CURVE + 1)
    return {
        "areas": {f"{t:g}": tolerance_auc_score(y, scores, t) for t in TOLERANCES},
        "negatives": n_negative,
        "positives": n_positive,
        "hull": [[round(p.fpr * n_negative), round(p.tpr * n_positive)] for p in hull.points],
        "curve": np.round(curve.at(rates), 5),
    }


def ending(model: Any) -> dict[str, Any]:
    """How the fit ended. ASVM: violation in units of the scores' spread; SVC: duality gap in units of the objective."""
    if hasattr(model, "relative_violation_"):
        return {
            "status": model.status_,
            "relative_violation": float(model.relative_violation_[0]),
            "norm": float(model.norm_[0]),
            "class_margin": float(model.class_margin_),
            "support": len(model.support_),
        }
    if hasattr(model, "dual_gap_"):
        scores = model.decision_function(model.support_vectors_) - model.intercept_[0]
        size = abs(float(0.5 * model.dual_coef_[0] @ scores - np.abs(model.dual_coef_[0]).sum()))
        return {
            "status": model.status_,
            "relative_gap": float(model.dual_gap_[0]) / max(size, 1e-300),
            "violation": float(model.kkt_violation_[0]),
            "support": len(model.support_),
        }
    return {"status": "closed form" if hasattr(model, "coef_") else "two programmes"}
