"""``askew inspect``: what is inside a model file."""

from __future__ import annotations

from askew.cli import options
from askew.cli.console import Console
from askew.cli.failures import told


def inspect(model: options.Model, as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Print what a model file holds: data, preparation, method, promise, weights, versions."""
    console = Console(as_json=as_json, quiet=quiet)
    with told(console):
        from askew.cli.fit import show
        from askew.persistence import load, read_card

        detector = load(model)
        card = detector.card
        target = card["target"]
        event = f"{target['name']} = {target['positive']}" if target else "whatever is not normal"
        versions = ", ".join(f"{name} {version}" for name, version in read_card(model)["versions"].items())
        console.lines(
            "File", [f"{model}, detects {event}", f"made by: {card.get('command', 'unknown')}", f"with {versions}"]
        )
        show(console, detector)
        if detector.is_linear:
            weights = [f"{weight:+.4g}  {name}" for name, weight in detector.weights()[:15]]
            console.lines("Largest weights (on prepared columns)", weights)
        console.result({**card, "model": model, "weights": detector.weights() if detector.is_linear else None})
