"""The exact rule: which order statistic of held-out negatives keeps the false positive rate under t.

Let T₍₁₎ ≤ … ≤ T₍ₙ₎ be the scores of n negatives that the score has never seen, drawn independently from the
population the promise is about, and let "positive" mean score > T₍ₖ₎. The false positive rate then exceeds t
with probability at most

    v(k) = P(Binomial(n, 1 − t) ≥ k) = P(Binomial(n, t) ≤ n − k),

with equality for continuous scores; ties only lower it, because the inequality score > T₍ₖ₎ is strict. The
rule takes the smallest k with v(k) ≤ δ = 1 − confidence. There is one iff (1 − t)ⁿ ≤ δ.

Reference: Tong, Feng and Li (2018), "Neyman–Pearson classification algorithms and NP receiver operating
characteristics", Proposition 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from askew.exceptions import InfeasibleError, see

__all__ = ["negatives_required", "rank", "ranks", "rate_bound", "smallest_tolerance", "violation"]


def violation(n: int, k: ArrayLike, tolerance: ArrayLike) -> NDArray[np.float64]:
    """Largest probability v(k) that "score > T₍ₖ₎" has a false positive rate above ``tolerance``.

    Examples
    --------
    >>> round(violation(59, 59, 0.05).item(), 4)
    0.0485
    """
    k = np.asarray(k, dtype=np.float64)
    return np.asarray(betainc(k, n - k + 1.0, 1.0 - np.asarray(tolerance, dtype=np.float64)))


def ranks(n: int, tolerance: ArrayLike, confidence: float) -> NDArray[np.int64]:
    """k* for each tolerance, ``n + 1`` where no rank will do. Bisection on v, which falls as k grows.

    Examples
    --------
    >>> ranks(100, [0.01, 0.05, 0.2], 0.95).tolist()
    [101, 99, 87]
    """
    t = np.atleast_1d(np.asarray(tolerance, dtype=np.float64))
    delta = 1.0 - confidence
    # Invariant: v(failing) > δ ≥ v(holding), with v(0) = 1 and v(n + 1) = 0.
    failing = np.zeros(t.shape, dtype=np.int64)
    holding = np.full(t.shape, n + 1, dtype=np.int64)
    while (holding - failing > 1).any():
        # Converged entries have middle = failing, which may be 0 where v is 1 by definition, not by betainc.
        middle = (failing + holding) // 2
        holds = (middle > 0) & (violation(n, np.maximum(middle, 1), t) <= delta)
        holding = np.where(holds, middle, holding)
        failing = np.where(holds, failing, middle)
    return holding


def rank(n: int, tolerance: float, confidence: float, *, remedy: str = "") -> int:
    """k* of the rule for n held-out negatives.

    Parameters
    ----------
    n : int
        Number of held-out negatives.
    tolerance, confidence : float in (0, 1)
        The false positive rate t to be kept, and the probability 1 − δ with which it is kept.
    remedy : str
        More to advise when n is too small, for a caller that knows where the negatives came from.

    Raises
    ------
    InfeasibleError
        When even the largest score is no safe threshold, with the number of negatives that would do.

    Examples
    --------
    >>> rank(1000, 0.05, 0.95)
    962
    """
    k = int(ranks(n, tolerance, confidence)[0])
    if k > n:
        raise InfeasibleError(
            f"tolerance={tolerance:g} at confidence={confidence:g} needs at least "
            f"{negatives_required(tolerance, confidence)} negatives for calibration; got {n}. "
            f"Raise `tolerance`, lower `confidence`, {remedy}or add negatives. {see('tolerance-negatives')}"
        )
    return k


def negatives_required(tolerance: float, confidence: float) -> int:
    """Smallest number of held-out negatives for which the rule exists.

    Parameters
    ----------
    tolerance, confidence : float in (0, 1)

    Returns
    -------
    int

    Examples
    --------
    >>> [negatives_required(t, 0.95) for t in (0.05, 0.01, 0.001)]
    [59, 299, 2995]
    """
    n = max(1, int(np.log1p(-confidence) / np.log1p(-tolerance)) - 1)
    while violation(n, n, tolerance) > 1.0 - confidence:
        n += 1
    return n


def smallest_tolerance(n: int, confidence: float) -> float:
    """Lowest false positive rate that n held-out negatives can promise: 1 − δ^(1/n).

    Examples
    --------
    >>> round(smallest_tolerance(299, 0.95), 5)
    0.00997
    """
    return float(-np.expm1(np.log1p(-confidence) / n))


def rate_bound(n: int, k: ArrayLike, confidence: float) -> NDArray[np.float64]:
    """Smallest rate that "score > T₍ₖ₎" keeps with this confidence: the t that solves v(k) = δ.

    It is the upper Clopper–Pearson limit for n − k false positives in n.

    Examples
    --------
    >>> round(rate_bound(1000, 962, 0.95).item(), 4)
    0.0495
    """
    k = np.asarray(k, dtype=np.float64)
    return np.asarray(betaincinv(n - k + 1.0, k, confidence))
