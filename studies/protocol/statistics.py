"""Is a difference between two methods more than the luck of the splits?

Splits of one data set overlap, so their scores are not independent and the usual paired t-test finds too much. Nadeau
and Bengio (2003) replace the variance factor 1/J of J repeats by 1/J + n_test/n_train; verdicts rest on that. Across
data sets that share no rows, mean ranks are compared: Friedman's test and Nemenyi's critical difference (Demšar 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


@dataclass(frozen=True)
class PairedTest:
    """Mean difference of two methods over the same splits.

    Attributes
    ----------
    difference : float
        Mean of first minus second.
    p_naive : float
        Two-sided p of the ordinary paired t-test, as the papers use it.
    p_corrected : float
        Two-sided p with the variance of overlapping splits; never smaller than ``p_naive``.
    half_width : float
        Half of the corrected 95 % interval around ``difference``.
    """

    difference: float
    p_naive: float
    p_corrected: float
    half_width: float


def paired_test(first: ArrayLike, second: ArrayLike, *, test_share: float) -> PairedTest:
    """Compare two methods over the same repeated splits.

    Parameters
    ----------
    first, second : array of shape (J,)
        Scores on the same splits in the same order.
    test_share : float
        Test rows divided by training rows of one split, as the set was split and before either part is cut down.
    """
    d = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    J = len(d)
    if J < 2:
        raise ValueError(f"a paired test needs at least 2 splits; got {J}")
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    rounding = 1e-12 * float(max(np.max(np.abs(first)), np.max(np.abs(second))))
    if spread <= rounding:  # the same difference in every split: what spread there is comes from the last digits
        p = 1.0 if abs(mean) <= rounding else 0.0
        return PairedTest(mean, p, p, 0.0)
    naive, corrected = spread * np.sqrt(1 / J), spread * np.sqrt(1 / J + test_share)
    return PairedTest(
        mean,
        float(2 * stats.t.sf(abs(mean) / naive, J - 1)),
        float(2 * stats.t.sf(abs(mean) / corrected, J - 1)),
        float(stats.t.ppf(0.975, J - 1) * corrected),
    )


def interval(scores: ArrayLike, *, test_share: float = 0.0) -> tuple[float, float]:
    """Mean over splits and half of its 95 % interval, corrected for overlap unless ``test_share`` is 0."""
    s = np.asarray(scores, dtype=float)
    if len(s) < 2:
        return float(s.mean()), float("nan")
    return float(s.mean()), float(stats.t.ppf(0.975, len(s) - 1) * s.std(ddof=1) * np.sqrt(1 / len(s) + test_share))


@dataclass(frozen=True)
class Ranking:
    """Methods compared over data sets that share no rows.

    Attributes
    ----------
    mean_ranks : array of shape (k,)
        1 is best; ties share the mean of their ranks.
    p_friedman : float
        Of all methods being alike.
    critical_difference : float
        Two mean ranks nearer than this are not told apart at 5 % (Nemenyi).
    """

    mean_ranks: NDArray[np.float64]
    p_friedman: float
    critical_difference: float


def rank(scores: ArrayLike) -> Ranking:
    """Rank k methods by their scores on N data sets, an array of shape (N, k); more is better."""
    s = np.asarray(scores, dtype=float)
    N, k = s.shape
    if k < 3 or N < 2:
        raise ValueError(f"ranking needs at least 3 methods and 2 data sets; got {k} and {N}")
    if np.isnan(s).any():
        raise ValueError("every method needs a score on every data set; drop the sets where one is missing")
    ranks = stats.rankdata(-s, axis=1)
    difference = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * N))
    return Ranking(ranks.mean(axis=0), _friedman(ranks), float(difference))


def _friedman(ranks: NDArray[np.float64]) -> float:
    """Chi-squared form with the correction for ties."""
    N, k = ranks.shape
    between = N * np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2)
    within = np.sum((ranks - (k + 1) / 2) ** 2) / (N * (k - 1))
    return 1.0 if within == 0.0 else float(stats.chi2.sf(between / within, k - 1))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction of several p-values."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate(np.asarray(p)[order] * (len(p) - np.arange(len(p))))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.tolist()
