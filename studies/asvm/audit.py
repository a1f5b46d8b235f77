"""Where would the ranking be an artefact of the stopping rule?

On overlapping classes with few positives, ‖w‖ is near 0 over much of the (μ, width) grid: an absolute tolerance, as
LIBSVM's and so the paper's, then leaves noise. Every point of the search's grid is fitted at τ = 0 by AsymmetricSVC,
whose tolerance is relative to the spread of the scores, and by LIBSVM's ν-SVC, which it equals there; both also at a
hundredth of the tolerance. What moves is an artefact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import NuSVC

from askew import AsymmetricSVC
from askew.estimators.asymmetric_svc import MU_SHARES
from askew.kernels import resolve_gamma
from askew.metrics import tolerance_auc_score
from studies.asvm.methods import WIDTHS
from studies.asvm.sets import draw
from studies.protocol.cells import Cell

TOLERANCE, TOLS, MOST_STEPS = 0.1, (1e-3, 1e-5), 500_000


def audit(cell: Cell) -> dict[str, Any]:
    """0.1-AUC / 0.1 on the test rows of every grid point, at both tolerances, for us and for LIBSVM."""
    split = draw(cell["set"], cell["repeat"])
    share = float(np.mean(split.y_train > 0))
    unit = resolve_gamma("scale", split.X_train, np.ones(len(split.X_train)))
    found: dict[str, list[Any]] = {"ours": [], "libsvm": [], "norm": [], "violation": [], "spread": []}
    for width in WIDTHS:
        for part in MU_SHARES:
            mu, gamma = part * share, width * unit
            ours = [AsymmetricSVC(mu, 0.0, gamma=gamma, tol=tol).fit(split.X_train, split.y_train) for tol in TOLS]
            peers = [
                NuSVC(nu=2 * mu, gamma=gamma, tol=tol, max_iter=MOST_STEPS).fit(split.X_train, split.y_train)
                for tol in TOLS
            ]
            found["ours"].append([_area(model, split) for model in ours])
            found["libsvm"].append([_area(model, split) for model in peers])
            found["norm"].append(float(ours[1].norm_[0]) * len(split.y_train))
            found["violation"].append(float(ours[0].relative_violation_[0]))
            found["spread"].append(float(np.std(ours[1].decision_function(split.X_train))) * len(split.y_train))
    return found


def _area(model: Any, split: Any) -> float:
    return tolerance_auc_score(split.y_test, model.decision_function(split.X_test), TOLERANCE, normalize=True)
