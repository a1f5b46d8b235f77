"""The commands of ``askew``, gathered."""

from __future__ import annotations

from typing import Annotated

import typer

from askew.cli.compare import compare
from askew.cli.demo import demo
from askew.cli.fit import fit
from askew.cli.inspect import inspect
from askew.cli.report import report
from askew.cli.score import score

app = typer.Typer(
    name="askew",
    help="Find rare events in a table, with a promise about false alarms.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (compare, fit, score, report, inspect, demo):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        import askew

        typer.echo(f"askew {askew.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find rare events in a table, with a promise about false alarms."""
