"""Where the line is drawn, by which road, and what is promised there."""

from __future__ import annotations

from dataclasses import dataclass

from askew.tolerance import order_statistic
from askew.tolerance.calibration import Calibration

__all__ = ["Threshold", "empirical", "exact"]


@dataclass(frozen=True)
class Threshold:
    """A threshold on the alarm score; a row is an alarm iff its score is strictly above it.

    Parameters
    ----------
    value : float
        In units of the alarm score.
    expected_rate : float or None
        False positive rate to be expected on new rows, as far as it can be said.
    guaranteed_rate : float or None
        Rate that will not be exceeded; never above the tolerance asked for. None: nothing is promised.
    confidence : float or None
        Probability, over the draw of the calibration rows, with which the promise holds. None where the
        promise does not rest on a sample, or where there is none.
    rank : int or None
        Which order statistic of the calibration negatives it is.
    """

    value: float
    expected_rate: float | None = None
    guaranteed_rate: float | None = None
    confidence: float | None = None
    rank: int | None = None


def exact(calibration: Calibration, tolerance: float, confidence: float, remedy: str = "") -> Threshold:
    """Order-statistic rule: P(false positive rate > tolerance) ≤ 1 − confidence.

    Examples
    --------
    >>> exact(Calibration.of(range(1, 101)), tolerance=0.05, confidence=0.95).rank
    99
    """
    n = calibration.n
    k = order_statistic.rank(n, tolerance, confidence, remedy=remedy)
    return Threshold(
        value=calibration.threshold(k),
        expected_rate=(n - k + 1) / (n + 1),
        guaranteed_rate=min(tolerance, float(order_statistic.rate_bound(n, k, confidence))),
        confidence=confidence,
        rank=k,
    )


def empirical(calibration: Calibration, tolerance: float) -> Threshold:
    """Lowest threshold with a share ≤ tolerance of the calibration negatives above it. No promise.

    Examples
    --------
    >>> threshold = empirical(Calibration.of(range(1, 101)), tolerance=0.05)
    >>> threshold.rank, threshold.guaranteed_rate
    (95, None)
    """
    n = calibration.n
    k = max(1, n - int(tolerance * n + 1e-9))
    return Threshold(value=calibration.threshold(k), expected_rate=(n - k + 1) / (n + 1), rank=k)
