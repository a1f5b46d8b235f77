"""A threshold that rejects a given fraction.

Solves
    The largest threshold θ with Σ{w_i : score_i < θ} ≤ fraction · Σw: as many points as are allowed fall below it.
Given
    Scores (higher is more normal), weights, a fraction in [0, 1).
Returns
    θ, a rounding error low, so that scoring a row in another order of summation does not cross it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.methods.boundary import ROUNDING

Vector = NDArray[np.float64]

ROOM = 1e-9  # fractions are compared with this much room for rounding


def rejection_threshold(scores: Vector, weight: Vector, fraction: float) -> float:
    """The largest threshold with at most ``fraction`` of the weight below it."""
    order = np.argsort(scores, kind="stable")
    below = np.cumsum(weight[order])
    allowed = fraction * below[-1] + ROOM * below[-1]
    place = min(int(np.searchsorted(below, allowed, side="right")), len(scores) - 1)
    return float(scores[order[place]]) - ROUNDING * float(np.max(np.abs(scores)))
