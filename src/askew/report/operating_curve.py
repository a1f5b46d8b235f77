"""What a score catches at each false alarm rate, in so few points that a page can carry them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["OperatingCurve", "OperatingPoint"]


@dataclass(frozen=True)
class OperatingPoint:
    """One threshold held against the held-out rows; alarm iff score > threshold.

    Parameters
    ----------
    tolerance : float
        False alarm rate the threshold was placed for.
    threshold : float
    false_alarms, n_negative : int
        Negatives above the threshold, of how many.
    caught, n_positive : int
        Positives above the threshold, of how many. ``n_positive`` may be 0.
    caught_low, caught_high : float
        Exact two-sided limits for the share of positives caught; 0 and 1 when there are none.
    """

    tolerance: float
    threshold: float
    false_alarms: int
    n_negative: int
    caught: int
    n_positive: int
    caught_low: float
    caught_high: float

    @property
    def false_alarm_rate(self) -> float:
        """Share of the held-out negatives that raise an alarm."""
        return self.false_alarms / self.n_negative

    @property
    def recall(self) -> float | None:
        """Share of the held-out positives that raise an alarm; None when there are none."""
        return self.caught / self.n_positive if self.n_positive else None

    def alert_share(self, base_rate: float) -> float:
        """Share of all rows that raise an alarm where ``base_rate`` of them are positive."""
        return base_rate * (self.recall or 0.0) + (1.0 - base_rate) * self.false_alarm_rate

    def precision(self, base_rate: float) -> float | None:
        """Share of the alarms that are real; None where nothing raises one or no positive was seen."""
        alerts = self.alert_share(base_rate)
        return None if alerts == 0.0 or self.recall is None else base_rate * self.recall / alerts


@dataclass(frozen=True, eq=False)
class OperatingCurve:
    """Operating points in the order of their tolerances, as columns.

    Parameters
    ----------
    tolerance : ndarray, shape (g,)
        Increasing. A reader who tolerates t works at the last point with tolerance ≤ t.
    threshold : ndarray, shape (g,)
    false_alarms, caught : ndarray of int, shape (g,)
    caught_low, caught_high : ndarray, shape (g,)
    n_negative, n_positive : int
    """

    tolerance: NDArray[np.float64]
    threshold: NDArray[np.float64]
    false_alarms: NDArray[np.int64]
    caught: NDArray[np.int64]
    caught_low: NDArray[np.float64]
    caught_high: NDArray[np.float64]
    n_negative: int
    n_positive: int

    def at(self, tolerance: float) -> OperatingPoint:
        """Point for a tolerance; the first one for a tolerance below all of them."""
        last = int(np.searchsorted(self.tolerance, tolerance * (1.0 + 1e-9), side="right")) - 1
        i = max(last, 0)
        return OperatingPoint(
            tolerance=tolerance,
            threshold=float(self.threshold[i]),
            false_alarms=int(self.false_alarms[i]),
            n_negative=self.n_negative,
            caught=int(self.caught[i]),
            n_positive=self.n_positive,
            caught_low=float(self.caught_low[i]),
            caught_high=float(self.caught_high[i]),
        )
