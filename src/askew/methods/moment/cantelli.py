"""The one-sided Chebyshev (Cantelli) bound: what mean and covariance alone say about a false positive rate.

Solves          the largest P(w'x ≥ b) over every distribution of x with mean x̄ and covariance Σ
Given           κ = (b − x̄'w) / √(w'Σw) − r, the distance of the threshold from the mean in standard
                deviations, less the radius r within which the mean is uncertain
Returns         1 / (1 + κ²) if κ > 0, else 1; its inverse κ = √((1 − t) / t); and 1 − Φ(κ), the rate if w'x
                were normal (an estimate, not a bound)
Stops when      closed form: nothing iterates
Reference       Leclère, Grave, El Ghaoui, eq. 8, which prints the specificity κ²/(1 + κ²) in place of the
                error; Marshall and Olkin (1960) for the tightness of the bound
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

__all__ = ["bound", "gaussian_estimate", "kappa_for", "kappa_of", "threshold_for"]


def bound(kappa: ArrayLike) -> NDArray[np.float64]:
    """Largest false positive rate any distribution with these moments can have.

    Parameters
    ----------
    kappa : array-like
        Standard deviations between the mean of the negatives and the threshold. ``inf`` is allowed.

    Returns
    -------
    ndarray
        Same shape as ``kappa``; a scalar gives a 0-d array. 1 where ``kappa <= 0``.

    Examples
    --------
    >>> bound([-1.0, 0.0, 1.0, 3.0]).tolist()
    [1.0, 1.0, 0.5, 0.1]
    """
    positive = np.maximum(np.asarray(kappa, dtype=np.float64), 0.0)
    with np.errstate(over="ignore"):  # κ² = ∞ gives a bound of zero, as it should
        return np.asarray(1.0 / (1.0 + np.square(positive)))


def kappa_for(tolerance: ArrayLike) -> NDArray[np.float64]:
    """Standard deviations beyond the mean that certify a false positive rate of ``tolerance``.

    The inverse of `bound` on (0, 1]: ``bound(kappa_for(t)) == t`` up to rounding. The caller adds the
    radius r of an uncertain mean, and vouches for 0 < tolerance ≤ 1.

    Examples
    --------
    >>> kappa_for([1.0, 0.5, 0.1]).round(12).tolist()
    [0.0, 1.0, 3.0]
    """
    t = np.asarray(tolerance, dtype=np.float64)
    return np.asarray(np.sqrt((1.0 - t) / t))


def gaussian_estimate(kappa: ArrayLike) -> NDArray[np.float64]:
    """False positive rate 1 − Φ(κ) if the score of a negative were normal. An estimate, never a guarantee.

    Examples
    --------
    >>> gaussian_estimate(0.0).item()
    0.5
    """
    return np.asarray(ndtr(-np.asarray(kappa, dtype=np.float64)))


def kappa_of(
    threshold: ArrayLike, score_mean: float, score_deviation: float, mean_radius: float = 0.0
) -> NDArray[np.float64]:
    """κ of a threshold on the score w'x, from that score's mean x̄'w and standard deviation √(w'Σw).

    A score without spread is certain: κ is ``inf`` above the mean and ``-inf`` at or below it, because
    a constant score at the threshold is called positive.

    Examples
    --------
    >>> kappa_of([0.5, 4.0], score_mean=1.0, score_deviation=1.0).tolist()
    [-0.5, 3.0]
    """
    gap = np.asarray(threshold, dtype=np.float64) - score_mean
    if score_deviation == 0.0:
        return np.where(gap > 0.0, np.inf, -np.inf)
    return np.asarray(gap / score_deviation - mean_radius)


def threshold_for(
    tolerance: ArrayLike, score_mean: float, score_deviation: float, mean_radius: float = 0.0
) -> NDArray[np.float64]:
    """Smallest threshold on w'x that certifies ``tolerance``: x̄'w + (√((1 − t)/t) + r)·√(w'Σw).

    Examples
    --------
    >>> threshold_for(0.1, score_mean=1.0, score_deviation=2.0).item()
    7.0
    """
    return np.asarray(score_mean + (kappa_for(tolerance) + mean_radius) * score_deviation)
