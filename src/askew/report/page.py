"""One self-contained HTML page from a summary: no network, no library, readable on a phone, in the dark, on paper."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from askew.exceptions import MissingDependencyError
from askew.report import numerals
from askew.report.plain_data import plain
from askew.report.sentences import confidence_words
from askew.report.summary import MethodResult, Summary

__all__ = ["render_html"]

_SCRIPTS = ("numbers.js", "charts.js", "page.js")
# What the sentence about new data already says.
_TOLD = {"n_new", "n_alarms", "p_value", "level", "drifted"}


def render_html(summary: Summary) -> str:
    """Page of a summary, as one HTML document.

    Every string of the summary is escaped. The page may run its own script only: its content policy names the
    script by hash and allows no request at all.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    str

    Raises
    ------
    MissingDependencyError
        When jinja2 is not installed.

    Examples
    --------
    >>> from askew.report.summary import summarise
    >>> summary = summarise(title="Cards", event="fraud", positive_scores=[2.0, 3.0],
    ...                     negative_scores=[0.0, 1.0, 2.5], tolerance=0.1, promise=None)
    >>> render_html(summary).startswith("<!doctype html>")
    True
    """
    script = _script()
    page = _environment().get_template("page.html")
    return page.render(
        s=summary,
        style=_safe(_read("page.css")),
        script=_safe(script),
        script_hash="sha256-" + b64encode(sha256(script.encode()).digest()).decode(),
        version=version("askew"),
        data=_data(summary),
        is_signed=any(value < 0.0 for _, value in summary.importances),
        other_drift=_untold(summary),
        best=_marker(summary.methods),
    ).lstrip()


def _environment() -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise MissingDependencyError(
            'the HTML page needs jinja2, which is not installed. Run: pip install "askew[cli]"'
        ) from error
    environment = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for name in ("percent", "count", "times", "false_alarms_in", "seconds", "significant"):
        environment.filters[name] = getattr(numerals, name)
    environment.filters.update(
        capital=_capital, confidence_words=confidence_words, editable=_editable, thousands=_thousands, words=_words
    )
    return environment


def _read(name: str) -> str:
    return files("askew.report").joinpath("templates", name).read_text(encoding="utf-8")


def _script() -> str:
    return '(() => {\n"use strict";\n' + "\n".join(map(_read, _SCRIPTS)) + "})();"


def _safe(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _data(summary: Summary) -> dict[str, Any]:
    """What the script draws from."""
    promise, band = summary.promise, summary.band
    drawn = {
        "tolerance_range": summary.tolerance_range,
        "base_rate": summary.base_rate,
        "point": summary.point,
        "measured": summary.measured,
        "guaranteed": summary.guaranteed,
        "band": band,
        "histogram": summary.histogram,
        "is_promised": promise is not None,
        "is_broken": summary.is_broken,
        "confidence_words": "" if promise is None else confidence_words(promise.certainty),
        "band_words": "" if band is None or band.confidence is None else confidence_words(band.confidence),
    }
    return plain(drawn)


def _untold(summary: Summary) -> list[tuple[str, Any]]:
    if summary.drift is None:
        return []
    told = _TOLD if summary.drift_verdict else set()
    return [(key, value) for key, value in summary.drift.items() if key not in told]


def _marker(methods: tuple[MethodResult, ...]) -> Any:
    """A function that gives the class attribute of a cell: set where the method is best of several."""

    def best(column: str, method: MethodResult) -> Any:
        known = [value for m in methods if (value := getattr(m, column)) is not None]
        is_best = len(known) > 1 and getattr(method, column) == max(known) > min(known)
        return _safe(' class="best"') if is_best else ""

    return best


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _editable(value: float, digits: int) -> str:
    """Number as an input holds it: plain digits, no exponent."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:.12f}".rstrip("0").rstrip(".")


def _thousands(number: str) -> str:
    """Digits with their thousands separated."""
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}{point}{rest}"


def _words(value: Any) -> str:
    """A setting as its reader would write it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(str, value)) or "none"
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict) else None)
