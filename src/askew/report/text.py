"""A summary as plain text, for a terminal or a mail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill

from askew.report.numerals import count, percent, seconds, significant, times
from askew.report.promise import Promise
from askew.report.summary import MethodResult, Summary

__all__ = ["render_text"]

_WIDTH = 88
_MOST_FEATURES = 10


def render_text(summary: Summary, promise: Promise) -> str:
    """Text of a summary: its sentence, the findings, the figures, methods, features, the promise and the command.

    Parameters
    ----------
    summary : Summary
    promise : Promise
        The one in force, given or not.

    Returns
    -------
    str
        Lines of at most 88 characters where words allow it; tables and the command are not broken.
    """
    blocks = [
        summary.title + "\n" + "=" * len(summary.title),
        _wrapped("".join(summary.headline)),
        _wrapped(summary.evidence),
        _wrapped(summary.drift_verdict),
        _section("What to look at", _items(map(str, summary.findings))),
        _figures(summary, promise),
        _section("Methods", _methods(summary.methods)),
        _section(_features_title(summary), _features(summary.importances)),
        _section("Promised", _promise(summary, promise)),
        _section("Not promised", _items(summary.not_promised)),
        _section("Preparation", _items(summary.preparation)),
        _section("Notes", _items(summary.notes)),
        _section("Make it again", f"  {summary.command}" if summary.command else ""),
    ]
    return "\n\n".join(block for block in blocks if block).replace("\u00a0", " ") + "\n"


def _figures(summary: Summary, promise: Promise) -> str:
    point, base, volume = summary.point, summary.base_rate, summary.volume_per_day
    rows = [
        ("Tolerated false alarms", f"{times(point.tolerance)} ({percent(point.tolerance)})"),
        ("Seen on held-out rows", f"{times(point.false_alarm_rate)} ({percent(point.false_alarm_rate)})"),
        ("Threshold", significant(promise.threshold if promise.is_given else point.threshold, 6)),
    ]
    if point.recall is not None:
        limits = f"{percent(point.caught_low)} to {percent(point.caught_high)}"
        rows += [
            ("Caught", f"{percent(point.recall)} (likely {limits})"),
            ("Alerts that are real", f"{percent(point.precision(base))} where {percent(base)} is {summary.event}"),
        ]
    alerts = count(volume * point.alert_share(base))
    rows.append(("Alerts a day", f"{alerts} of {count(volume)} rows{'' if summary.is_volume_given else ' (example)'}"))
    return _aligned(rows)


def _methods(methods: Sequence[MethodResult]) -> str:
    if not methods:
        return ""
    head = ("method", "caught", "t-AUC", "AUC", "alerts/million", "fit time", "")
    table = [head] + [
        (
            method.name,
            percent(method.tpr_at_tolerance),
            significant(method.tolerance_auc),
            significant(method.auc),
            count(method.alerts_per_million),
            seconds(method.fit_seconds),
            method.note,
        )
        for method in methods
    ]
    widths = [max(len(row[j]) for row in table) for j in range(len(head))]
    return "\n".join(_line(row, widths) for row in table)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True))]
    return ("  " + "  ".join([*cells, row[-1]])).rstrip()


def _features_title(summary: Summary) -> str:
    return f"What the score looks at{f' ({summary.importance_kind})' if summary.importance_kind else ''}"


def _features(importances: Sequence[tuple[str, float]]) -> str:
    return _aligned([(name, significant(value, 3)) for name, value in importances[:_MOST_FEATURES]])


def _promise(summary: Summary, promise: Promise) -> str:
    told = "Contradicted by new data. " if summary.is_broken else ""
    words = _wrapped(told + summary.certificate, "  ")
    return "\n".join([*([words] if words else []), *(f"  {line}" for line in str(promise).split("\n"))])


def _section(title: str, body: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{body}" if body else ""


def _items(sentences: Iterable[str]) -> str:
    return "\n".join(_wrapped(sentence, "  - ", "    ") for sentence in sentences)


def _aligned(rows: Sequence[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"  {name.ljust(width)}  {value}" for name, value in rows)


def _wrapped(text: str, first: str = "", later: str | None = None) -> str:
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=first if later is None else later)
