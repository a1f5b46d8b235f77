"""``askew compare``: methods side by side, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console, figure, percent
from askew.cli.failures import told


def compare(
    data: options.Data,
    target: options.Target = None,
    positive: options.Positive = None,
    tolerance: options.Tolerance = 0.01,
    confidence: options.Confidence = 0.95,
    guarantee: options.Guarantee = "order_statistic",
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", "-m", help="Method to compare; may be repeated. All that fit by default.", show_default=False
        ),
    ] = None,
    minutes: options.Minutes = 5.0,
    seed: options.Seed = 0,
    event: options.Event = None,
    volume: options.Volume = None,
    output: Annotated[str, typer.Option("--output", "-o", help="HTML page to write.")] = "comparison.html",
    model: Annotated[
        str | None, typer.Option(help="Also write the best method's model to this file.", show_default=False)
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare the methods that fit the data, with logistic regression and gradient boosting beside them.

    Every method is tuned inside each training fold and judged on rows it has not seen. The best one is then fitted with
    a promised false alarm rate and shown on a page.
    """
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew.cli.fit import check_target, show
        from askew.cli.invocation import command_line
        from askew.cli.page import page_summary, write_page
        from askew.detection import Request
        from askew.detection.comparison import compare_methods
        from askew.detection.importance import importances
        from askew.persistence import save
        from askew.report.summary import MethodResult
        from askew.sources import check_outputs, open_source

        check_target(target, one_class=False)
        check_outputs([output] if model is None else [output, model], data)
        request = Request(
            target=target,
            positive=positive,
            tolerance=tolerance,
            confidence=confidence,
            guarantee=guarantee.replace("-", "_"),
            drop=tuple(drop or ()),
            categorical=tuple(categorical or ()),
            minutes=minutes,
            seed=seed,
        )
        source = open_source(data, text=categorical or ())
        with console.progress() as steps:
            found = compare_methods(source, request, method or (), steps.rows, steps.fits)
        detector = found.detector
        detector.card.update(data=data, command=command_line())
        rows = [
            MethodResult(
                name=row.method.title,
                auc=row.auc,
                tolerance_auc=row.tolerance_auc,
                tpr_at_tolerance=row.tpr_at_tolerance,
                alerts_per_million=row.alerts_per_million,
                fit_seconds=row.fit_seconds,
                note=row.note,
            )
            for row in found.rows
        ]
        note = (
            f"Figures of the comparison are means over folds of {found.n_rows_used:,} training rows: t-AUC up to a "
            f"false alarm rate of {percent(found.judged_tolerance)}, TPR at {percent(tolerance)}. A method that did "
            "not finish all folds is listed and not chosen."
        )
        summary = page_summary(
            detector,
            title=f"{Path(data).name}: {detector.card['title']}",
            event=event,
            methods=rows,
            importances=importances(detector, found.sample),
            volume_per_day=volume,
            notes=[note],
        )
        write_page(summary, output)
        if model is not None:
            save(detector, model)
        _show(console, rows, note)
        show(console, detector)
        console.say(f"Page written to {output}")
        if model is not None:
            console.say(f"Model written to {model}")
        console.result({"methods": [vars(row) for row in rows], "best": detector.card, "page": output, "model": model})


def _show(console: Console, rows: list, note: str) -> None:
    console.say("Comparison", style="bold")
    console.table(
        ["method", "AUC", "t-AUC", "TPR", "alerts/million", "fit s", ""],
        [
            [
                row.name,
                figure(row.auc),
                figure(row.tolerance_auc),
                figure(row.tpr_at_tolerance),
                figure(row.alerts_per_million, ",.0f"),
                figure(row.fit_seconds, ".2f"),
                row.note,
            ]
            for row in rows
        ],
    )
    console.note(note)
