"""Exact limits for a rate, from how often it was seen: Clopper and Pearson (1934)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

__all__ = ["interval", "lower_limit", "upper_limit"]


def lower_limit(hits: ArrayLike, n: int, confidence: float) -> NDArray[np.float64]:
    """One-sided limit that a rate with ``hits`` in ``n`` lies above, with this confidence.

    Examples
    --------
    >>> round(lower_limit(18, 20, 0.95).item(), 4)
    0.7174
    """
    hits = np.asarray(hits, dtype=np.float64)
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1.0), n - hits + 1.0, 1.0 - confidence), 0.0)


def upper_limit(hits: ArrayLike, n: int, confidence: float) -> NDArray[np.float64]:
    """One-sided limit that a rate with ``hits`` in ``n`` lies below, with this confidence.

    Examples
    --------
    >>> round(upper_limit(0, 100, 0.95).item(), 4)
    0.0295
    """
    hits = np.asarray(hits, dtype=np.float64)
    return np.where(hits < n, betaincinv(hits + 1.0, np.maximum(n - hits, 1.0), confidence), 1.0)


def interval(hits: int, n: int, confidence: float) -> tuple[float, float]:
    """Two-sided interval; (0, 1) when nothing was seen.

    Examples
    --------
    >>> tuple(round(limit, 4) for limit in interval(5, 10, 0.95))
    (0.1871, 0.8129)
    """
    if n == 0:
        return 0.0, 1.0
    each_side = (1.0 + confidence) / 2.0
    return float(lower_limit(hits, n, each_side)), float(upper_limit(hits, n, each_side))
