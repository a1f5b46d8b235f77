"""From a detector and held-out scores to the page and its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from askew.cli.invocation import command_line
from askew.detection import Detector
from askew.report import MethodResult, Summary, summarise
from askew.report.page import render_html
from askew.sources import WholeFile
from askew.tolerance import np_roc


def page_summary(
    detector: Detector,
    *,
    title: str,
    event: str | None = None,
    positives: Any = None,
    negatives: Any = None,
    importances: tuple[Sequence[tuple[str, float]], str] = ((), ""),
    methods: Sequence[MethodResult] = (),
    drift: dict[str, Any] | None = None,
    volume_per_day: float | None = None,
    notes: Sequence[str] = (),
) -> Summary:
    """What the page says; without scores, those of the calibration rows."""
    card = detector.card
    held_positives, held_negatives = detector.held_out
    has_band = card["promise"]["method"] == "order_statistic" and len(held_positives) and len(held_negatives)
    return summarise(
        title=title,
        event=event or event_of(detector),
        positive_scores=held_positives if positives is None else positives,
        negative_scores=held_negatives if negatives is None else negatives,
        tolerance=card["request"]["tolerance"],
        promise=detector.classifier.report(prevalence=card["base_rate"]).promise,
        threshold=0.0,  # scores are measured from it
        methods=methods,
        importances=list(importances[0]),
        importance_kind=importances[1],
        preparation=card["preparation"],
        settings=settings_of(detector),
        command=command_line(),
        base_rate=card["base_rate"] if positives is None and card["base_rate"] > 0 else None,
        volume_per_day=volume_per_day,
        drift=drift,
        np_roc=np_roc(held_negatives, held_positives, confidence=card["request"]["confidence"]) if has_band else None,
        notes=notes,
    )


def write_page(summary: Summary, path: str) -> None:
    """Write the page, whole or not at all."""
    html = render_html(summary)
    with WholeFile(path) as file:
        file.beside.write_text(html, encoding="utf-8")


def event_of(detector: Detector) -> str:
    """The event, by the column and the label that say it."""
    target = detector.card["target"]
    return f"{target['name']} = {target['positive']}" if target else "unusual rows"


def settings_of(detector: Detector) -> dict[str, Any]:
    """How the model came about."""
    card = detector.card
    return {
        "method": card["title"],
        **{f"method: {name}": value for name, value in card["params"].items()},
        **{name: value for name, value in card["request"].items() if name != "method" and value not in (None, (), [])},
        "rows": card["n_rows"],
        "rows of the event": card["n_positive"],
    }
