"""``askew report``: the page for a fitted model on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console, figure
from askew.cli.failures import DRIFTED, told


def report(
    model: options.Model,
    data: options.Data,
    target: options.Target = None,
    positive: options.Positive = None,
    output: Annotated[str, typer.Option("--output", "-o", help="HTML page to write.")] = "report.html",
    event: options.Event = None,
    volume: options.Volume = None,
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help=f"Exit with {DRIFTED} when the promise does not hold any more.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a model on new rows with known labels, and write the page.

    Tests whether the promised false alarm rate still holds on the negatives among them.
    """
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew import Detector
        from askew.cli.fit import command_line
        from askew.sources import check_outputs

        check_outputs([output], data, [model])
        detector = Detector.load(model)
        with console.progress() as steps:
            found = detector.evaluate(data, target, pos_label=positive, progress=steps.rows)
        figures, title = found.figures(), f"{Path(model).name} on {Path(data).name}"
        found.report(title=title, event=event, volume_per_day=volume, command=command_line()).html(output)
        show(console, figures, detector.tolerance)
        console.say(f"Page written to {output}")
        console.result({**figures, "page": output, "model": model})
        if fail_on_drift and found.drift.drifted:
            raise typer.Exit(DRIFTED)


def show(console: Console, figures: dict, tolerance: float) -> None:
    """What was counted, and whether it agrees with the promise."""
    from askew.report import percent

    drift, auc = figures["drift"], figure(figures["auc"], ".4f")
    rates = f"{percent(figures['fpr'])}; promised at most {percent(tolerance)}"
    verdict = "does not hold any more" if drift["drifted"] else "is not contradicted"
    console.lines(
        "On the new rows",
        [
            f"{figures['n_rows']:,} rows, {figures['n_positive']:,} of the event, AUC {auc}",
            f"caught            {figures['caught']:,} ({percent(figures['tpr'])})",
            f"false alarms      {figures['false_alarms']:,} ({rates})",
            f"precision         {percent(figures['precision'])}",
            f"alerts            {figure(figures['alerts_per_million'], ',.0f')} in a million rows",
            f"the promise       {verdict} (p = {drift['p_value']:.3g})",
        ],
    )
