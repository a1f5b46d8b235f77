"""What a threshold promises and what it has been seen to do, as plain data that prints as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from askew.metrics import clopper_pearson

__all__ = ["Promise"]


@dataclass(frozen=True)
class Promise:
    """What a threshold promises, and what it did on the rows that placed it. Rates are fractions; None is "not known".

    Parameters
    ----------
    method : str
        The road to the threshold.
    tolerance, confidence : float
        What was asked for.
    threshold : float
        In units of the wrapped estimator's score.
    alarm_side : {"above", "below"}
        On which side of the threshold the alarms are; the threshold itself is quiet.
    unit : {"row", "group"}
        What the rates count. A group raises a false alarm when any of its negative rows does.
    n_calibration : int
        Held-out negatives behind the threshold (rows, or groups); with weights, those that thinning has kept.
    guaranteed_rate : float or None
        False positive rate that is not exceeded. None: nothing is promised; `caveat` says why.
    guarantee_confidence : float or None
        With which probability the promise holds. None where it holds for certain, given the moments.
    empirical_rate : float or None
        False positive rate on the calibration negatives themselves.
    expected_rate : float or None
        False positive rate to expect on new negatives.
    n_positives : int
        Held-out positives (rows, or groups).
    tpr : float or None
        Share of them caught, the expected true positive rate.
    tpr_interval : tuple of float
        Exact two-sided interval for it at ``confidence``.
    prevalence : float
        Share of positives assumed for the alerts.
    alerts_per_million : float or None
        Alerts, true and false, to expect in a million rows (or groups).
    most_alerts_per_million : float or None
        The same with the guaranteed rate and the upper end of ``tpr_interval``.
    caveat : str
        Why nothing is promised, or "".
    weight_bound : float or None
        Largest weight that a negative counts with in the promise and in the rates; None without weights.
    n_above_weight_bound : int
        Held-out negatives (rows, or groups) that were heavier, and count as that.
    """

    method: str
    tolerance: float
    confidence: float
    threshold: float
    alarm_side: str
    unit: str
    n_calibration: int
    guaranteed_rate: float | None
    guarantee_confidence: float | None
    empirical_rate: float | None
    expected_rate: float | None
    n_positives: int
    tpr: float | None
    tpr_interval: tuple[float, float]
    prevalence: float
    alerts_per_million: float | None
    most_alerts_per_million: float | None
    caveat: str = ""
    weight_bound: float | None = None
    n_above_weight_bound: int = 0

    @classmethod
    def of(
        cls,
        *,
        n_calibration: int,
        n_alarms: int,
        n_positives: int,
        n_caught: int,
        guaranteed_rate: float | None,
        guarantee_confidence: float | None,
        expected_rate: float | None,
        confidence: float,
        prevalence: float,
        caveat: str = "",
        **told: Any,
    ) -> Promise:
        """Every rate, derived from counts of held-out rows and from what the threshold guarantees.

        Parameters
        ----------
        n_alarms, n_caught : int
            Held-out negatives and positives beyond the threshold.
        caveat : str
            Why nothing is promised in spite of ``guaranteed_rate``, or "".
        """
        tpr = n_caught / n_positives if n_positives else None
        tpr_interval = clopper_pearson.interval(n_caught, n_positives, confidence)
        guaranteed = None if caveat else guaranteed_rate
        return cls(
            confidence=confidence,
            n_calibration=n_calibration,
            guaranteed_rate=guaranteed,
            guarantee_confidence=None if caveat else guarantee_confidence,
            empirical_rate=n_alarms / n_calibration if n_calibration else None,
            expected_rate=expected_rate,
            n_positives=n_positives,
            tpr=tpr,
            tpr_interval=tpr_interval,
            prevalence=prevalence,
            alerts_per_million=_alerts(expected_rate, tpr, prevalence),
            most_alerts_per_million=_alerts(guaranteed, tpr_interval[1], prevalence),
            caveat=caveat,
            **told,
        )

    @property
    def is_given(self) -> bool:
        """Whether anything is promised."""
        return self.guaranteed_rate is not None

    @property
    def certainty(self) -> float:
        """Probability that the promise is kept; 1 where it holds for certain, given the moments."""
        return 1.0 if self.guarantee_confidence is None else self.guarantee_confidence

    @property
    def text(self) -> str:
        """The promise as its method states it."""
        if self.guaranteed_rate is None:
            return f"nothing: {self.caveat}"
        if self.guarantee_confidence is None:
            return f"FPR <= {self.guaranteed_rate:.4g} for every distribution with the given moments"
        return f"FPR <= {self.guaranteed_rate:.4g} with confidence {self.guarantee_confidence:g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        low, high = self.tpr_interval
        side = ">" if self.alarm_side == "above" else "<"
        lines = {
            "alarm when": f"score {side} {self.threshold:.6g}   ({self.method})",
            "asked for": f"FPR <= {self.tolerance:g} with confidence {self.confidence:g}",
            "promised": self.text,
            "held out": f"{self.n_calibration} negatives, {self.n_positives} positives ({self.unit}s)",
            "FPR there": _shown(self.empirical_rate),
            "FPR expected": _shown(self.expected_rate),
            "TPR expected": f"{_shown(self.tpr)}   [{low:.4g}, {high:.4g}]",
            "alerts per million": (
                f"{_shown(self.alerts_per_million, '.0f')}, at most "
                f"{_shown(self.most_alerts_per_million, '.0f')}   (prevalence {self.prevalence:.4g})"
            ),
        }
        if self.weight_bound is not None:
            lines["weights"] = f"count up to {self.weight_bound:.6g}; {self._heavier()}"
        return "\n".join(f"{name:<20}{value}" for name, value in lines.items())

    def _heavier(self) -> str:
        n = self.n_above_weight_bound
        return f"{n:,} held-out negative {self.unit}{' was' if n == 1 else 's were'} heavier and counted as that"


def _alerts(fpr: float | None, tpr: float | None, prevalence: float) -> float | None:
    if fpr is None or (tpr is None and prevalence > 0.0):
        return None
    return 1e6 * ((1.0 - prevalence) * fpr + prevalence * (tpr or 0.0))


def _shown(value: float | None, form: str = ".4g") -> str:
    return "unknown" if value is None else format(value, form)
