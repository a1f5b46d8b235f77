"""Numbers as people say them: 83 %, 1 in 1,000, 2.4 million, 1 min 20 s.

The script of the page says the same numbers again when the reader moves the slider, so both round half up
in the same arithmetic; a test in a browser holds them together.
"""

from __future__ import annotations

from math import floor, isfinite, log10

__all__ = ["count", "false_alarms_in", "odds", "percent", "plural", "seconds", "significant", "times"]

_NBSP = "\u00a0"
_ABSENT = "–"


def percent(share: float | None) -> str:
    """Share as a percentage; never rounded to 0 or 100 unless it is exactly that.

    Examples
    --------
    >>> [percent(x).replace("\\u00a0", " ") for x in (0.8333, 0.001, 0.9996, 1.0)]
    ['83 %', '0.1 %', 'over 99.9 %', '100 %']
    """
    if share is None or not isfinite(share):
        return _ABSENT
    value = 100.0 * share
    if value < 0.01:
        text = _trimmed(_rounded_to(value, 1), 12)
    elif value > 99.95 and value < 100.0:
        text = "over 99.9"
    else:
        text = _trimmed(value, 2 if value < 1.0 else 0 if 10.0 <= value < 99.0 else 1)
    return f"{text}{_NBSP}%"


def count(amount: float | None) -> str:
    """How many: whole numbers with thousands separated, millions as words, two digits below one.

    Examples
    --------
    >>> [count(x).replace("\\u00a0", " ") for x in (0.0312, 7.25, 12345.6, 2_400_000)]
    ['0.031', '7.3', '12,346', '2.4 million']
    """
    if amount is None or not isfinite(amount):
        return _ABSENT
    if amount >= 999_999.5:
        size, word = (1e9, "billion") if amount >= 999.5e6 else (1e6, "million")
        return f"{_trimmed(_rounded_to(amount / size, 3), 2)}{_NBSP}{word}"
    if amount >= 10.0:
        return f"{floor(amount + 0.5):,}"
    if amount >= 1.0:
        return _trimmed(amount, 1)
    return _trimmed(_rounded_to(amount, 2), 12)


def odds(rate: float) -> tuple[int, float]:
    """Rate as k in n: 1 in n where that is close, otherwise k in 100.

    Examples
    --------
    >>> odds(0.001), odds(1 / 1667), odds(0.3)
    ((1, 1000.0), (1, 1670.0), (30, 100.0))
    """
    every = 1.0 / rate
    if rate <= 0.05 or abs(every - floor(every + 0.5)) < 0.01 * every:
        return 1, _rounded_to(every, 3)
    return floor(100.0 * rate + 0.5), 100.0


def times(rate: float) -> str:
    """Rate as "1 in 1,000"; "none" for zero.

    Examples
    --------
    >>> times(0.001).replace("\\u00a0", " "), times(0.0)
    ('1 in 1,000', 'none')
    """
    if rate <= 0.0:
        return "none"
    hits, among = odds(rate)
    return f"{hits}{_NBSP}in{_NBSP}{count(among)}"


def false_alarms_in(rate: float) -> str:
    """Rate of false alarms, for the middle of a sentence.

    Examples
    --------
    >>> [false_alarms_in(x).replace("\\u00a0", " ") for x in (0.001, 0.3, 0.0)]
    ['1 false alarm in 1,000', '30 false alarms in 100', 'no false alarm']
    """
    if rate <= 0.0:
        return "no false alarm"
    hits, among = odds(rate)
    return f"{hits}{_NBSP}false alarm{'' if hits == 1 else 's'} in{_NBSP}{count(among)}"


def plural(amount: int, noun: str) -> str:
    """Amount and noun, the noun in the plural where it needs to be.

    Examples
    --------
    >>> plural(1, "row"), plural(2400, "row")
    ('1 row', '2,400 rows')
    """
    return f"{count(amount)} {noun}{'' if amount == 1 else 's'}"


def seconds(duration: float | None) -> str:
    """Duration.

    Examples
    --------
    >>> [seconds(x).replace("\\u00a0", " ") for x in (0.0421, 3.14, 80.0, 7300.0)]
    ['42 ms', '3.1 s', '1 min 20 s', '2 h 2 min']
    """
    if duration is None or not isfinite(duration):
        return _ABSENT
    if duration < 0.9995:
        return f"{count(1000.0 * duration)}{_NBSP}ms"
    if duration < 59.5:
        return f"{count(duration)}{_NBSP}s"
    whole = floor(duration + 0.5)
    if whole < 3600:
        return f"{whole // 60}{_NBSP}min {whole % 60}{_NBSP}s"
    minutes = floor(whole / 60 + 0.5)
    return f"{minutes // 60}{_NBSP}h {minutes % 60}{_NBSP}min"


def significant(value: float | None, digits: int = 4) -> str:
    """Value of no particular kind: a score, a weight, an area.

    Examples
    --------
    >>> significant(0.98765432), significant(-12.5), significant(1.5e-7)
    ('0.9877', '-12.5', '1.5e-07')
    """
    return _ABSENT if value is None or not isfinite(value) else f"{value:.{digits}g}"


def _trimmed(value: float, decimals: int) -> str:
    scale = 10.0**decimals
    text = f"{floor(value * scale + 0.5) / scale:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rounded_to(value: float, digits: int) -> float:
    """Value to some significant digits, half up."""
    if value <= 0.0:
        return 0.0
    scale = 10.0 ** (digits - 1 - floor(log10(value)))
    return floor(value * scale + 0.5) / scale
