"""What a report says, as plain data: figures reduced to what a page can carry, sentences ready to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from askew.exceptions import ParameterError
from askew.findings import Finding
from askew.report import sentences
from askew.report.guaranteed_band import GuaranteedBand
from askew.report.held_out_scores import HeldOutScores
from askew.report.operating_curve import OperatingCurve, OperatingPoint
from askew.report.plain_data import plain
from askew.report.promise import Promise
from askew.report.score_histogram import ScoreHistogram

__all__ = ["MethodResult", "Summary", "summarise"]

_EXAMPLE_VOLUME = 100_000.0
_TOLERANCES_SHOWN = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_CONFIDENCE = 0.95
_MOST_IMPORTANCES = 50


@dataclass(frozen=True)
class MethodResult:
    """One row of the comparison of methods. Rates are fractions; None is "not known".

    Parameters
    ----------
    name : str
    auc, tolerance_auc, tpr_at_tolerance, alerts_per_million, fit_seconds : float or None
    note : str
        Whatever the reader should know about this row.
    """

    name: str
    auc: float | None
    tolerance_auc: float | None
    tpr_at_tolerance: float | None
    alerts_per_million: float | None
    fit_seconds: float | None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Summary:
    """Everything a report shows; made by `summarise`, drawn by `render_html` and `render_text`.

    Parameters
    ----------
    title, event : str
    headline : tuple of str
        First sentence, in pieces that are plain and strong in turn.
    evidence : str
        What was counted at `point`.
    point : OperatingPoint
        Where the model works: at the promised threshold, or at the measured one for `tolerance`.
    tolerance : float
    tolerance_range : tuple of float
        Rates a reader may choose from.
    measured : OperatingCurve
        Best thresholds on the held-out rows themselves.
    guaranteed : OperatingCurve or None
        Thresholds that can be promised, held against the same rows.
    band : GuaranteedBand or None
    histogram : ScoreHistogram
    base_rate, volume_per_day : float
        Assumed for precision and alerts.
    is_base_rate_measured, is_volume_given : bool
        Whether `base_rate` is the share in the held-out rows, and `volume_per_day` was told by the user.
    promise : Promise or None
    certificate : str
        The promise in words; "" without one.
    not_promised : tuple of str
    is_broken : bool
        Whether new data contradict the promise.
    drift : dict or None
    drift_verdict : str
    methods : tuple of MethodResult
    importances : tuple of (str, float)
        Largest magnitude first, fifty at most.
    n_importances : int
        How many there were.
    importance_kind : str
    preparation : tuple of str
    settings : dict
    command : str
    notes : tuple of str
    findings : tuple of Finding
        What was noticed about data, fit and promise.
    """

    title: str
    event: str
    headline: tuple[str, ...]
    evidence: str
    point: OperatingPoint
    tolerance: float
    tolerance_range: tuple[float, float]
    measured: OperatingCurve
    guaranteed: OperatingCurve | None
    band: GuaranteedBand | None
    histogram: ScoreHistogram
    base_rate: float
    volume_per_day: float
    is_base_rate_measured: bool
    is_volume_given: bool
    promise: Promise | None
    certificate: str
    not_promised: tuple[str, ...]
    is_broken: bool
    drift: dict[str, Any] | None
    drift_verdict: str
    methods: tuple[MethodResult, ...] = ()
    importances: tuple[tuple[str, float], ...] = ()
    n_importances: int = 0
    importance_kind: str = ""
    preparation: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    command: str = ""
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists, numbers and words, ready for JSON."""
        return {**plain(self), "headline": "".join(self.headline)}


def summarise(
    *,
    title: str,
    event: str,
    positive_scores: ArrayLike,
    negative_scores: ArrayLike,
    tolerance: float,
    promise: Promise | None,
    threshold: float | None = None,
    methods: Sequence[MethodResult] = (),
    importances: Sequence[tuple[str, float]] = (),
    importance_kind: str = "",
    preparation: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    command: str = "",
    base_rate: float | None = None,
    volume_per_day: float | None = None,
    drift: Mapping[str, Any] | None = None,
    np_roc: Any = None,
    notes: Sequence[str] = (),
    findings: Sequence[Finding] = (),
) -> Summary:
    """Reduce held-out scores and what is known around them to a summary.

    Parameters
    ----------
    title : str
    event : str
        What the positives are, as in "catches 83 % of …".
    positive_scores, negative_scores : array-like of shape (n,)
        Scores of rows that trained nothing, higher for the event. Positives may be empty, negatives not.
    tolerance : float in (0, 1)
    promise : Promise or None
        None when nothing is guaranteed.
    threshold : float, default=None
        Where the alarms begin, in units of the scores: 0 where they are distances. That of the promise by default.
    methods : sequence of MethodResult
    importances : sequence of (name, value)
        Signed weights, or importances; kept in the order of their magnitude.
    importance_kind : str
        What the values are: "weight on scaled features", "permutation importance".
    preparation : sequence of str
        What was done to the table, one sentence each.
    settings : mapping
    command : str
        The command that makes this report again.
    base_rate : float in [0, 1), default=None
        Share of the event among the rows to be scored; that of the held-out rows by default.
    volume_per_day : float, default=None
        Rows to be scored a day.
    drift : mapping, default=None
        Outcome of a check on new negatives: ``n_new, n_alarms, p_value, level, drifted``; more is shown as it is.
    np_roc : NpRoc, or (tolerances, lower, upper), default=None
        Thresholds of an `NpRoc` must be in units of the held-out scores.
    notes : sequence of str
    findings : sequence of Finding

    Returns
    -------
    Summary

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> summary = summarise(title="Cards", event="fraud", positive_scores=rng.normal(4.0, size=100),
    ...                     negative_scores=rng.normal(size=10_000), tolerance=0.01, promise=None)
    >>> "".join(summary.headline).replace("\\u00a0", " ")
    'Caught 98 % of fraud at 1 false alarm in 100, measured on held-out data; nothing is promised.'
    """
    rate = _checked_share("tolerance", tolerance, zero_allowed=False)
    if promise is not None and not promise.is_given:
        promise = None
    held = HeldOutScores(
        negative_scores,
        positive_scores,
        confidence=_CONFIDENCE if promise is None or promise.certainty >= 1.0 else promise.certainty,
    )
    measured = held.measured(rate)
    point = measured.at(rate) if promise is None else _in_force(held, promise, threshold)
    is_broken = promise is not None and drift is not None and bool(drift.get("drifted", False))
    # Where new data contradict one promise, the page offers no other from the same calibration.
    band = None if np_roc is None or is_broken else GuaranteedBand.of(np_roc)
    lowest = 1.0 / len(held.negatives) if band is None else float(band.tolerance[0])
    seen_share = len(held.positives) / (len(held.positives) + len(held.negatives))
    return Summary(
        title=str(title),
        event=str(event),
        headline=sentences.headline(str(event), point, promise, drift if is_broken else None),
        evidence=sentences.evidence(str(event), point, is_constant=held.is_constant),
        point=point,
        tolerance=rate,
        tolerance_range=_range(measured, lowest, point.tolerance),
        measured=measured,
        guaranteed=None if band is None else _promisable(held, band),
        band=band,
        histogram=ScoreHistogram.of(held.negatives, held.positives, point.threshold),
        base_rate=seen_share if base_rate is None else _checked_share("base_rate", base_rate, zero_allowed=True),
        volume_per_day=_EXAMPLE_VOLUME if volume_per_day is None else _checked_volume(volume_per_day),
        is_base_rate_measured=base_rate is None,
        is_volume_given=volume_per_day is not None,
        promise=promise,
        certificate="" if promise is None else sentences.certificate(promise),
        not_promised=sentences.not_promised(str(event), point, promise),
        is_broken=is_broken,
        drift=None if drift is None else plain(drift),
        drift_verdict="" if drift is None else sentences.drift_verdict(drift, point.tolerance),
        methods=tuple(methods),
        importances=_largest(importances),
        n_importances=len(importances),
        importance_kind=importance_kind,
        preparation=tuple(map(str, preparation)),
        settings={} if settings is None else plain(settings),
        command=command,
        notes=tuple(map(str, notes)),
        findings=tuple(findings),
    )


def _in_force(held: HeldOutScores, promise: Promise, threshold: float | None) -> OperatingPoint:
    rate = _checked_share("promise.tolerance", promise.tolerance, zero_allowed=False)
    value = promise.threshold if threshold is None else threshold
    return held.at_thresholds(np.array([rate]), np.array([value])).at(rate)


def _promisable(held: HeldOutScores, band: GuaranteedBand) -> OperatingCurve | None:
    return None if band.threshold is None else held.at_thresholds(band.tolerance, band.threshold)


def _range(measured: OperatingCurve, lowest: float, tolerance: float) -> tuple[float, float]:
    """Rates to choose from: what the rows can tell, up to where nothing more is caught, around the tolerance."""
    all_caught = int(np.argmax(measured.caught >= measured.caught[-1]))
    wanted = max(10.0 * tolerance, 3.0 * measured.false_alarms[all_caught] / measured.n_negative)
    highest = max(next((rate for rate in _TOLERANCES_SHOWN if rate >= wanted), _TOLERANCES_SHOWN[-1]), tolerance)
    return min(lowest, tolerance, highest / 10.0), highest


def _largest(importances: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    pairs = [(str(name), float(value)) for name, value in importances]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair[1]))[:_MOST_IMPORTANCES])


def _checked_share(name: str, value: float, *, zero_allowed: bool) -> float:
    if not (0.0 < value < 1.0 or (zero_allowed and value == 0.0)):
        raise ParameterError(f"{name}={value!r} must lie in {'[' if zero_allowed else '('}0, 1). Give a fraction.")
    return float(value)


def _checked_volume(value: float) -> float:
    if not (value > 0.0 and np.isfinite(value)):
        raise ParameterError(f"volume_per_day={value!r} must be a positive number of rows a day.")
    return float(value)
