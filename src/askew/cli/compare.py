"""``askew compare``: methods side by side, and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console, figure
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
        from askew.cli.fit import asked_for, check_target, command_line, show, sign
        from askew.sources import check_outputs

        check_target(target, one_class=False)
        check_outputs([output] if model is None else [output, model], data)
        detector = asked_for(
            "auto", positive, tolerance, confidence, guarantee, drop or (), categorical or (), minutes, seed
        )
        with console.progress() as steps:
            found = detector.compare(
                data,
                target,
                method or (),
                progress=steps.rows,
                tell=steps.fits,
                title=f"{Path(data).name}: methods compared",
                event=event,
                volume_per_day=volume,
                command=command_line(),
            )
        sign(detector, data)
        found.html(output)
        if model is not None:
            detector.save(model)
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
                for row in detector.card_.methods
            ],
        )
        console.note(found.summary.notes[0])
        show(console, detector)
        console.say(f"Page written to {output}")
        if model is not None:
            console.say(f"Model written to {model}")
        card = detector.card_.as_dict()
        console.result({"methods": card["methods"], "best": card, "page": output, "model": model})
