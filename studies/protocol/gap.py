"""Did the fit converge? The duality gap of a kernel machine, in units of its own objective."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from askew import SVDD


def relative_gap(model: Any, n_rows: int) -> float | None:
    """Largest duality gap over half of the squared norm of the weights; None for a model without a programme.

    The objective of a C-SVC is at least that half, and the objective of a one-class SVM is that half, so this is not
    less than the usual relative gap. For rbf kernels; the covariance-guided machine reports its objective itself.
    """
    if not hasattr(model, "dual_gap_"):
        return None
    if hasattr(model, "eta_path_"):
        size = float(model.eta_path_["objective"][np.argmin(np.abs(model.eta_path_["eta"] - model.eta_))])
    else:
        weights = np.ravel(model.dual_coef_)
        size = float(weights @ rbf_kernel(model.support_vectors_, gamma=model.gamma_) @ weights) / 2
    if isinstance(model, SVDD):  # its coefficients sum to 1, those of its programme to ν times the number of rows
        size *= (model.nu * n_rows) ** 2
    return float(np.max(model.dual_gap_)) / max(abs(size), np.finfo(float).tiny)
