"""Figure 5: how the decision moves when C⁺ of an SVC grows, and when τ of ASVM does.

The paper calls the first unpredictable, and says of the second that the margin keeps its place. Both are measured in
feature space: the angle between w and the first w, the class margin, and the shares of rows on the wrong side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askew import SVC, AsymmetricSVC
from studies.asvm.toy import side_by_side
from studies.protocol.cells import Cell

GAMMA, ROWS = 0.5, 400
TAUS = (0.0, 0.01, 0.05, 0.1, 0.15, 0.2)
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def planes(cell: Cell) -> dict[str, Any]:
    """Both paths on one draw of the first toy set; ``mu`` is that of ASVM."""
    X, y = side_by_side()(ROWS, cell["seed"])
    shifted = [AsymmetricSVC(cell["mu"], tau, gamma=GAMMA).fit(X, y) for tau in TAUS]
    tuned = [SVC(C=1.0, class_weight={-1: 1.0, 1: cost}, gamma=GAMMA).fit(X, y) for cost in COSTS]
    return {"ASVM": path(shifted, X, y), "PT": path(tuned, X, y)}


def path(models: list[Any], X: Any, y: Any) -> list[dict[str, float]]:
    """What changes from the first model on."""
    return [
        {
            "angle": angle(models[0], model),
            "class_margin": margin(model),
            "predicted_positive": float(np.mean(model.decision_function(X) >= 0)),
            "true_positive_rate": float(np.mean(model.decision_function(X[y > 0]) >= 0)),
            "false_positive_rate": float(np.mean(model.decision_function(X[y < 0]) >= 0)),
        }
        for model in models
    ]


def angle(first: Any, second: Any) -> float:
    """Degrees between the normals of two kernel machines."""
    cosine = inner(first, second) / np.sqrt(inner(first, first) * inner(second, second))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def inner(first: Any, second: Any) -> float:
    """⟨w₁, w₂⟩ = Σ_i a_i ⟨w₂, φ(x_i)⟩ over the support vectors of the first."""
    return float(first.dual_coef_[0] @ (second.decision_function(first.support_vectors_) - second.intercept_[0]))


def margin(model: Any) -> float:
    """Distance between the margins of the two classes in feature space."""
    return float(model.class_margin_) if hasattr(model, "class_margin_") else 2.0 / np.sqrt(inner(model, model))
