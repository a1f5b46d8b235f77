"""The figures: critical differences, and what quality costs."""

from __future__ import annotations

from pathlib import Path

from studies.across.methods import METHODS, RANKED
from studies.across.summary import MEASURES, Results, seconds
from studies.protocol.figures import COLOURS, canvas, critical_difference, place_labels, save

KINDS = {"askew": COLOURS[0], "reference": COLOURS[1], "detector": COLOURS[4], "control": COLOURS[5]}
WORDS = {"askew": "askew", "reference": "scikit-learn, imbalanced-learn", "detector": "PyOD", "control": "control"}


def draw(results: Results, folder: Path) -> None:
    """All figures of the study."""
    critical_differences(results, folder)
    quality_and_cost(results, folder)


def critical_differences(results: Results, folder: Path) -> list[Path]:
    """One plot per measure, one set per family."""
    paths = []
    for measure, label in MEASURES.items():
        among = results.among(measure, results.families())
        standing = results.standing(measure, among)
        figure, axes = canvas(width=8.6, height=4.2)
        difference = standing.ranking.critical_difference
        critical_difference(axes[0, 0], standing.names, standing.ranking.mean_ranks, difference)
        axes[0, 0].set_title(f"mean rank by {label}, {len(among)} sets of different families", pad=24)
        paths.append(save(figure, folder, f"critical_difference_{measure.replace('.', '')}"))
    return paths


def quality_and_cost(results: Results, folder: Path) -> Path:
    """Mean 0.1-AUC against the CPU time of a fit."""
    figure, axes = canvas(width=8.6, height=6.0)
    axis, means = axes[0, 0], results.standing("tauc_0.1", results.families()).means
    places = {method: (1e3 * seconds(results, method)["fit"], means[method]) for method in RANKED}
    for kind, colour in KINDS.items():
        members = [places[method] for method in RANKED if METHODS[method].kind == kind]
        axis.plot(*zip(*members, strict=True), "o", color=colour, label=WORDS[kind], markersize=5)
    axis.set_xscale("log")
    axis.set_xlabel("median CPU time of one fit, ms")
    axis.set_ylabel("mean 0.1-AUC over sets of different families")
    axis.legend(frameon=False, fontsize=8, loc="center right")
    left, right = axis.get_xlim()
    axis.set_xlim(left, right * 2.5)
    place_labels(axis, places, {method: KINDS[METHODS[method].kind] for method in places})
    return save(figure, folder, "quality_and_cost")
