"""``askew inspect``: what is inside a model file."""

from __future__ import annotations

from askew.cli import options
from askew.cli.console import Console
from askew.cli.failures import told


def inspect(model: options.Model, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Print what a model file holds: data, preparation, method, promise, weights, versions."""
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew import Detector
        from askew.cli.fit import show
        from askew.persistence import read_card

        detector, versions = Detector.load(model), read_card(model)["versions"]
        card = detector.card_
        console.lines(
            "File",
            [
                f"{model}, detects {card.event}",
                f"made by: {card.command or 'unknown'}",
                f"with {', '.join(f'{name} {version}' for name, version in versions.items())}",
            ],
        )
        show(console, detector)
        for finding in card.findings:
            console.warn(str(finding))
        weights = detector.weights() if detector.is_linear else None
        if weights:
            shown = [f"{weight:+.4g}  {name}" for name, weight in weights[:15]]
            console.lines("Largest weights (on prepared columns)", shown)
        console.result({**card.as_dict(), "versions": versions, "model": model, "weights": weights})
