"""Why a small ridge fails on rare topics: words that no training negative holds have no variance but the ridge."""

from __future__ import annotations

from typing import Any

import numpy as np

from askew import MomentSVC
from studies.moments.grids import RIDGES, SMALL_RIDGE
from studies.moments.sets import Cut

RIDGES_SHOWN = (SMALL_RIDGE, RIDGES[5])


def measure(cut: Cut) -> dict[str, Any]:
    """Share of a training positive's score that comes from such words, by ridge; share of test positives with any."""
    unseen = np.asarray((cut.train.negatives != 0).sum(axis=0)).ravel() == 0
    typical = np.asarray(cut.train.positives.mean(axis=0)).ravel()
    shares = []
    for ridge in RIDGES_SHOWN:
        model = MomentSVC(rho=ridge * cut.unit, covariance="diagonal").fit(cut.train.X, cut.train.y)
        parts = typical * model.coef_[0]
        shares.append(float(parts[unseen].sum() / parts.sum()))
    held = np.asarray((cut.test.positives[:, np.flatnonzero(unseen)] != 0).sum(axis=1)).ravel()
    return {"shares": shares, "tested": float(np.mean(held > 0))}
