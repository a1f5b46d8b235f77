"""How a fit ended: its status, and for askew's machines a bound of the relative duality gap.

C-SVC, bent or not, and MomentSVC: at the optimum Σα − ½‖w‖² ≥ ½Σα, so the relative gap is at most 2 gap / Σα. One-class
SVM: the objective is ½ β'Kβ = ½ Σ β_i s(x_i) with s the score without offset. Covariance-guided: it is kept along the
path of η. SVDD: the objective is at least ½ (νN)² R². AsymmetricSVC is judged by its relative violation instead.
Logistic regression says only whether it stopped before its limit of iterations; trees and detectors have no optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from askew import SVDD, AsymmetricSVC, CovarianceOneClassSVM, OneClassSVM

_WRAPPED = ("detector_", "machine_")
_TINY = 1e-300


def ending(model: Any) -> dict[str, Any]:
    """``status``, and ``relative_gap`` where there is one, of a machine alone or in a wrapper; else nothing."""
    for inner in _WRAPPED:
        model = getattr(model, inner, model)
    if isinstance(model, LogisticRegression):
        return {"status": "converged" if np.max(model.n_iter_) < model.max_iter else "max_iter"}
    if not hasattr(model, "dual_gap_"):
        return {}
    return {"status": str(model.status_), "relative_gap": float(relative_gap(model))}


def relative_gap(model: Any) -> float:
    """Upper bound of the gap in units of the objective."""
    gap = float(np.max(model.dual_gap_))
    if isinstance(model, AsymmetricSVC):
        return float(np.max(model.relative_violation_))
    if isinstance(model, CovarianceOneClassSVM):
        place = int(np.argmin(np.abs(model.eta_path_["eta"] - model.eta_)))
        return gap / max(abs(float(model.eta_path_["objective"][place])), _TINY)
    if isinstance(model, OneClassSVM):
        return gap / max(0.5 * float(model.dual_coef_.ravel() @ model.score_samples(model.support_vectors_)), _TINY)
    if isinstance(model, SVDD):
        largest = float(np.max(model.dual_coef_))  # 1/(νN) where a multiplier is at its bound, never more
        return gap / max(0.5 * model.squared_radius_ / largest**2, _TINY)
    return 2 * gap / max(float(np.abs(model.dual_coef_).sum()), _TINY)
