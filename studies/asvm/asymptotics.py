"""Figure 8 and Theorems 3.1 to 3.3: Pr(o⁺) − Pr(o⁻) lies between τ − Pr(s⁺) and τ + Pr(s⁻), and goes to τ with m.

As in the paper, nine rows in ten are positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from askew import AsymmetricSVC
from studies.protocol.cells import Cell

MU, GAMMA, TOL = 0.05, 0.5, 1e-6
TAUS = tuple(np.round(np.linspace(0.02, 0.8, 14), 2).tolist())


def asymptotics(cell: Cell) -> dict[str, Any]:
    """Outliers and support vectors inside the box, as shares of all rows, for every τ."""
    X, y = overlapping(cell["rows"], cell["seed"])
    return {f"{tau:g}": shares(AsymmetricSVC(MU, tau, gamma=GAMMA, tol=TOL).fit(X, y), len(y)) for tau in TAUS}


def overlapping(rows: int, seed: int) -> tuple[Any, Any]:
    """Two Gaussians in the plane, 90 positives to 10 negatives."""
    rng = np.random.default_rng(seed)
    n = rows // 10
    X = np.vstack([rng.normal([0.8, 0.0], 1.0, (rows - n, 2)), rng.normal([-1.2, 0.0], 1.0, (n, 2))])
    return X, np.r_[np.ones(rows - n), -np.ones(n)]


def shares(model: Any, m: int) -> dict[str, float]:
    """Pr(o±), Pr(s±), the margin, and how far the fit had converged."""
    a = model.dual_coef_[0] * m  # in [−1, 1]
    inside = np.abs(a) < 1.0 - 1e-9
    below, above = model.outlier_fractions_
    return {
        "o_plus": float(above),
        "o_minus": float(below),
        "s_plus": float(np.sum(inside & (a > 0))) / m,
        "s_minus": float(np.sum(inside & (a < 0))) / m,
        "class_margin": float(model.class_margin_),
        "core_margin": float(model.core_margin_),
        "relative_violation": float(model.relative_violation_[0]),
    }
