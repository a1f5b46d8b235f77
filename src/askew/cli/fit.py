"""``askew fit``: from a table to a model file."""

from __future__ import annotations

from typing import Annotated

import typer

from askew.cli import options
from askew.cli.console import Console, percent
from askew.cli.failures import told
from askew.cli.invocation import command_line
from askew.exceptions import ParameterError

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
        from askew.detection import Request, train
        from askew.persistence import save
        from askew.sources import check_outputs, open_source

        check_target(target, one_class)
        check_outputs([output], data)
        request = Request(
            target=target,
            positive=positive,
            method=method,
            tolerance=tolerance,
            confidence=confidence,
            guarantee=guarantee.replace("-", "_"),
            drop=tuple(drop or ()),
            categorical=tuple(categorical or ()),
            minutes=minutes,
            seed=seed,
        )
        request.check()
        source = open_source(data, text=categorical or ())
        with console.progress() as steps:
            detector = train(source, request, steps.rows, steps.fits)
        detector.card.update(data=data, command=command_line())
        save(detector, output)
        show(console, detector)
        console.say(f"Model written to {output}")
        console.result({**detector.card, "model": output})


def check_target(target: str | None, one_class: bool) -> None:
    """Either a target or the word that there is none."""
    if target is None and not one_class:
        raise ParameterError(
            "Say which column is the event with --target COLUMN, or that all rows are normal with --one-class."
        )
    if target is not None and one_class:
        raise ParameterError("--one-class has no target: leave --target out, and the column with --drop.")


def show(console: Console, detector: object) -> None:
    """What was done and what is promised."""
    from askew.detection.warning_signs import warning_signs

    card = detector.card
    console.lines("Preparation", card["preparation"])
    share = f"{card['n_positive']:,} are the event ({percent(card['base_rate'])})"
    console.lines(
        "Model",
        [
            f"{card['title']} {_params(card['params'])}".rstrip(),
            f"{card['n_rows']:,} rows, {share if card['target'] else 'all taken as normal'}",
            f"fitted in {card['fit_seconds']:.1f} s; reading, tuning and calibration {card['seconds']:.1f} s in all",
        ],
    )
    promise = str(detector.classifier.report(prevalence=card["base_rate"]).promise).split("\n")
    console.lines("Promise", [*promise, "(askew score writes the distance from this threshold: above 0 is an alarm)"])
    for sign in warning_signs(detector):
        console.warn(sign)


def _params(params: dict[str, object]) -> str:
    shown = (f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in params.items())
    return f"({', '.join(shown)})" if params else ""
