"""What a summary says in words: its first sentence, its evidence, what it promises and what it does not.

A sentence with emphasis is a tuple of pieces, plain and strong in turn; joined they are the plain sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from askew.report.numerals import count, false_alarms_in, percent, plural, times

if TYPE_CHECKING:
    from askew.report.operating_curve import OperatingPoint
    from askew.report.promise import Promise

__all__ = ["certificate", "confidence_words", "drift_verdict", "evidence", "headline", "not_promised"]

Pieces = tuple[str, ...]


def headline(
    event: str, point: OperatingPoint, promise: Promise | None, drift: Mapping[str, Any] | None = None
) -> Pieces:
    """The sentence a page opens with.

    Parameters
    ----------
    event : str
    point : OperatingPoint
        Where the model works: the promised threshold, or the measured one at the tolerance.
    promise : Promise or None
    drift : mapping or None
        Outcome of the check on new data that contradicts the promise; None where nothing does.
    """
    rate = false_alarms_in(point.tolerance)
    if promise is not None and drift is not None:
        seen = times(drift["n_alarms"] / drift["n_new"] if drift.get("n_new") else point.false_alarm_rate)
        caught = () if point.recall is None else (". Catches ", f"{percent(point.recall)} of {event}")
        return ("New data contradict the promised limit of ", rate, ": here it is ", seen, *caught, ".")
    if promise is not None:
        close = (f"; that limit is promised {confidence_words(promise.certainty)}.",)
        if point.recall is None:
            return ("Raises ", f"at most {rate}", *close)
        return ("Catches ", f"{percent(point.recall)} of {event}", " at no more than ", rate, *close)
    close = (", measured on held-out data; nothing is promised.",)
    if point.recall is None:
        return ("Raised ", false_alarms_in(point.false_alarm_rate), *close)
    return ("Caught ", f"{percent(point.recall)} of {event}", " at ", rate, *close)


def confidence_words(confidence: float) -> str:
    """Confidence of a promise, for the middle of a sentence.

    Examples
    --------
    >>> confidence_words(1.0)
    'for any data with this mean and covariance'
    """
    if confidence >= 1.0:
        return "for any data with this mean and covariance"
    return f"with {percent(confidence)} confidence"


def evidence(event: str, point: OperatingPoint, *, is_constant: bool = False) -> str:
    """What was counted on held-out rows at the threshold of the headline.

    Parameters
    ----------
    event : str
    point : OperatingPoint
    is_constant : bool
        Whether every held-out row has the same score.
    """
    if is_constant and point.n_negative + point.n_positive > 1:
        rows = count(point.n_negative + point.n_positive)
        return f"All {rows} held-out rows have the same score: this model cannot tell {event} from normal rows."
    alarms = f"{count(point.false_alarms)} of {plural(point.n_negative, 'normal row')} raised an alarm"
    if point.false_alarms:
        alarms += f" ({times(point.false_alarm_rate)})"
    if point.recall is None:
        return f"Held-out rows: {alarms}. None of them is known to be {event}, so what it catches is not known."
    limits = f"likely between {percent(point.caught_low)} and {percent(point.caught_high)}"
    cases = f"{count(point.caught)} of {plural(point.n_positive, 'case')} of {event} caught ({limits})"
    return f"Held-out rows: {cases}; {alarms}."


def certificate(promise: Promise) -> str:
    """What is promised, for a reader without statistics."""
    rate = times(promise.tolerance)
    if promise.certainty >= 1.0:
        return (
            f"Of normal rows that share the mean and the covariance seen in training, at most {rate} raises a false "
            "alarm, whatever else their distribution is."
        )
    return (
        f"Of normal rows like those it was calibrated on, at most {rate} raises a false alarm. Were the calibration "
        f"rows drawn again and again, this would hold {percent(promise.certainty)} of the time."
    )


def not_promised(event: str, point: OperatingPoint, promise: Promise | None) -> tuple[str, ...]:
    """Limits of the promise, one sentence each."""
    if promise is None:
        first = "The false alarm rate of new rows: this report only counts what happened on held-out rows."
    else:
        first = (
            "The number of false alarms on a single day. The promise is about the rate over many rows; a day's "
            "count moves around it."
        )
    caught = f"What share of {event} will be caught. " + (
        f"{count(point.caught)} of {plural(point.n_positive, 'case')} is what was measured."
        if point.n_positive
        else f"No held-out row was known to be {event}."
    )
    sentences = [first, caught, "Anything about rows that come from somewhere else, or after the data have changed."]
    if promise is not None:
        sentences.append(
            "Another tolerance, picked because its figures in this report look good. Choose the tolerance, then fit."
        )
    return tuple(sentences)


def drift_verdict(drift: Mapping[str, Any], tolerance: float) -> str:
    """Whether new normal rows still obey the promise; "" when the counts are not told."""
    n, alarms = drift.get("n_new"), drift.get("n_alarms")
    if n is None or alarms is None or n == 0:
        return ""
    seen = f"{count(alarms)} of {plural(n, 'new normal row')} raised an alarm"
    if alarms:
        seen += f" ({times(alarms / n)})"
    p_value = drift.get("p_value")
    tested = "" if p_value is None else f" (p = {p_value:.2g})"
    drifted = drift.get("drifted")
    if drifted is None:
        return f"{seen}; promised: at most {times(tolerance)}{tested}."
    verdict = "this contradicts" if drifted else "this agrees with"
    remedy = " Calibrate again on recent rows before relying on the threshold." if drifted else ""
    return f"{seen}; {verdict} the promise of at most {times(tolerance)}{tested}.{remedy}"
