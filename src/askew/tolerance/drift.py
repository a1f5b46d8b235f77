"""Do new negatives still obey the promise? An exact binomial test that may be asked again and again.

While the promise holds, each new negative raises an alarm with probability at most t, whatever came
before. So the number of alarms among m of them is at most Binomial(m, t) in distribution, and

    p = P(Binomial(m, t) ≥ alarms seen)

is an exact p-value. Update j asks twice, of the new batch (a sudden change) and of everything since the
last calibration (a slow one), and spends level / (j (j + 1)) on both together; over any number of updates
the chance of a false drift alarm stays below level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy.special import betainc

__all__ = ["DriftMonitor", "DriftTest", "DriftWarning", "excess_p_value"]


class DriftWarning(UserWarning):
    """New negatives contradict the promised false positive rate."""


@dataclass(frozen=True)
class DriftTest:
    """Outcome of one update.

    Parameters
    ----------
    n_new, n_alarms : int
        Negatives in this batch, and how many of them raised an alarm at the threshold in force.
    p_value : float
        Of the hypothesis that the false positive rate is still within the tolerance.
    level : float
        What p_value was compared with; it shrinks from update to update.
    """

    n_new: int
    n_alarms: int
    p_value: float
    level: float

    @property
    def drifted(self) -> bool:
        """Whether the promise is contradicted."""
        return self.p_value <= self.level


@dataclass(frozen=True)
class DriftMonitor:
    """Counts since the last calibration.

    Examples
    --------
    >>> monitor, test = DriftMonitor(tolerance=0.01, level=0.01).observe(n_new=1000, n_alarms=12)
    >>> test.drifted
    False
    >>> monitor, test = monitor.observe(n_new=1000, n_alarms=40)
    >>> test.drifted
    True
    """

    tolerance: float
    level: float
    n_updates: int = 0
    n_seen: int = 0
    n_alarms: int = 0

    def observe(self, *, n_new: int, n_alarms: int) -> tuple[DriftMonitor, DriftTest]:
        """Count a batch in, and test."""
        after = replace(
            self,
            n_updates=self.n_updates + 1,
            n_seen=self.n_seen + n_new,
            n_alarms=self.n_alarms + n_alarms,
        )
        batch = excess_p_value(n_alarms, n_new, self.tolerance)
        total = excess_p_value(after.n_alarms, after.n_seen, self.tolerance)
        level = self.level / (after.n_updates * (after.n_updates + 1))
        return after, DriftTest(n_new, n_alarms, min(1.0, 2.0 * min(batch, total)), level)


def excess_p_value(alarms: int, n: int, tolerance: float) -> float:
    """P(Binomial(n, tolerance) ≥ alarms).

    Examples
    --------
    >>> round(excess_p_value(3, 10, 0.1), 4)
    0.0702
    """
    return 1.0 if alarms == 0 else float(betainc(alarms, n - alarms + 1.0, tolerance))
