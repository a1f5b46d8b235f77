"""Does a core help the ranking, apart from whether a search finds the right τ?

For three values of μ, at the width 1 / (d · var X) or a multiple of it, τ grows from 0 to nearly all that μ leaves;
every fit is judged on rows it did not see. Nothing is selected, so nothing is lost to the noise of selection.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askew import AsymmetricSVC
from askew.estimators.asymmetric_svc import TAU_SHARES
from askew.kernels import resolve_gamma
from askew.metrics import tolerance_auc_score
from studies.asvm.sets import draw
from studies.protocol.cells import Cell

PARTS = (0.2, 0.5, 0.8)  # of the share of positives: μ
STEPS = (0.0, *TAU_SHARES[1::2])  # of what μ leaves of it: τ
TOLERANCES = (1.0, 0.1, 0.05, 0.01)


def core_path(cell: Cell) -> dict[str, Any]:
    """t-AUC / t for every μ, τ and t; on fresh rows where there are any."""
    split = draw(cell["set"], cell["repeat"])
    share = float(np.mean(split.y_train > 0))
    X, y = (split.X_test, split.y_test) if split.X_fresh is None else (split.X_fresh, split.y_fresh)
    gamma = cell.get("width", 1.0) * resolve_gamma("scale", split.X_train, np.ones(len(split.X_train)))
    found: dict[str, list[list[float]]] = {}
    for part in PARTS:
        taus = [step * (1.0 - part) * share for step in STEPS]
        models = [AsymmetricSVC(part * share, tau, gamma=gamma).fit(split.X_train, split.y_train) for tau in taus]
        scores = [model.decision_function(X) for model in models]
        found[f"{part:g}"] = [[tolerance_auc_score(y, s, t, normalize=True) for t in TOLERANCES] for s in scores]
    return found
