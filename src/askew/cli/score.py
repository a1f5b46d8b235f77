"""``askew score``: from a model and rows to scores and alarms."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console
from askew.cli.failures import told


def score(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="File to write (.parquet, .feather, .csv, .jsonl), or - for CSV on stdout."
        ),
    ] = "scores.parquet",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", help="Column to copy to the output, an identifier say; may be repeated.", show_default=False
        ),
    ] = None,
    alarms_only: Annotated[
        bool, typer.Option("--alarms-only", help="Write only the rows that raise an alarm.")
    ] = False,
    reasons: Annotated[int, typer.Option(help="Columns named as reasons for each alarm of a linear model.")] = 3,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Score rows of any number in flat memory.

    Writes one row each, in order: row (its number, from 0), score (above 0 is an alarm), alarm, and for linear models
    the columns that pushed the score of each alarm up most.
    """
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew import Detector
        from askew.report import percent
        from askew.sources import check_outputs

        check_outputs([output], data, [model])
        detector = Detector.load(model)
        begin = time.perf_counter()
        with console.progress() as steps:
            counts = detector.write_scores(
                data, output, keep=keep or (), alarms_only=alarms_only, reasons=reasons, progress=steps.rows
            )
        seconds = time.perf_counter() - begin
        talk = console.note if output == "-" else console.say
        share = counts.n_alarms / counts.n_rows
        talk(f"{counts.n_alarms:,} alarms in {counts.n_rows:,} rows ({percent(share)}), {seconds:.1f} s")
        talk(f"Scores written to {'standard output' if output == '-' else output}")
        if output != "-":
            console.result({"n_rows": counts.n_rows, "n_alarms": counts.n_alarms, "seconds": seconds, "output": output})
