"""``askew fit``: from a table to a model file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from askew.cli import options
from askew.cli.console import Console
from askew.cli.failures import told
from askew.exceptions import ParameterError

if TYPE_CHECKING:
    from askew.detection import Detector

METHOD_HELP = "auto, moment, asymmetric, svc, scaled, logistic, boosting; one-class: auto, covariance, one-class, svdd."


def fit(
    data: options.Data,
    target: options.Target = None,
    positive: options.Positive = None,
    method: Annotated[str, typer.Option("--method", "-m", help=METHOD_HELP)] = "auto",
    one_class: Annotated[bool, typer.Option("--one-class", help="All rows are normal; learn what normal is.")] = False,
    tolerance: options.Tolerance = 0.01,
    confidence: options.Confidence = 0.95,
    guarantee: options.Guarantee = "order_statistic",
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    minutes: options.Minutes = 5.0,
    seed: options.Seed = 0,
    output: Annotated[str, typer.Option("--output", "-o", help="Model file to write.")] = "model.skops",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a detector whose false alarm rate is promised, and write it to a file.

    Reads the data twice, in blocks, so they may be larger than memory. Part of the rows are kept out of the training
    and place the threshold.
    """
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew.sources import check_outputs

        check_target(target, one_class)
        check_outputs([output], data)
        detector = asked_for(
            method, positive, tolerance, confidence, guarantee, drop or (), categorical or (), minutes, seed
        )
        with console.progress() as steps:
            detector.fit(data, target, progress=steps.rows, tell=steps.fits)
        sign(detector, data)
        detector.save(output)
        show(console, detector)
        console.say(f"Model written to {output}")
        console.result({**detector.card_.as_dict(), "model": output})


def asked_for(
    method: str,
    positive: str | None,
    tolerance: float,
    confidence: float,
    guarantee: str,
    drop: Any,
    categorical: Any,
    minutes: float | None,
    seed: int,
) -> Detector:
    """The detector, and its preparation, that the options of a command ask for."""
    from askew import Detector, TablePreparation

    return Detector(
        method,
        tolerance=tolerance,
        confidence=confidence,
        guarantee=guarantee.replace("-", "_"),
        minutes=minutes,
        pos_label=positive,
        preparation=TablePreparation(drop=tuple(drop), kinds=dict.fromkeys(categorical, "category")),
        random_state=seed,
    )


def sign(detector: Detector, data: str) -> None:
    """Write on the card where the rows came from, and the command as it was typed, quoted where a shell needs it."""
    detector.card_ = replace(detector.card_, data=data, command=command_line())


def command_line() -> str:
    """``askew …`` with its arguments."""
    return shlex.join(["askew", *sys.argv[1:]])


def check_target(target: str | None, one_class: bool) -> None:
    """Either a target or the word that there is none."""
    if target is None and not one_class:
        raise ParameterError(
            "Say which column is the event with --target COLUMN, or that all rows are normal with --one-class."
        )
    if target is not None and one_class:
        raise ParameterError("--one-class has no target: leave --target out, and the column with --drop.")


def show(console: Console, detector: Detector) -> None:
    """What was done and what is promised."""
    from askew.report import percent

    card = detector.card_
    params = ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in card.params.items()
    )
    share = f"{card.n_positive:,} are the event ({percent(card.base_rate)})"
    console.lines("Preparation", card.preparation)
    console.lines(
        "Model",
        [
            f"{card.title} ({params})" if params else card.title,
            f"{card.n_rows:,} rows, {share if card.target else 'all taken as normal'}",
            f"fitted in {card.fit_seconds:.1f} s; reading, tuning and calibration {card.seconds:.1f} s in all",
        ],
    )
    note = "(askew score writes the distance from this threshold: above 0 is an alarm)"
    console.lines("Promise", [*str(card.promise).split("\n"), note])
