"""The figures: critical differences, and what quality costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.across.comparison import MEASURES, Results
from studies.across.methods import METHODS, RANKED
from studies.across.tables import seconds
from studies.protocol.figure import COLOURS, canvas, critical_difference, save

KINDS = {"askew": COLOURS[0], "reference": COLOURS[1], "detector": COLOURS[4], "control": COLOURS[5]}
WORDS = {"askew": "askew", "reference": "scikit-learn, imbalanced-learn", "detector": "PyOD", "control": "control"}


def critical_differences(results: Results, folder: Path) -> list[Path]:
    """One plot per measure, one set per family."""
    paths = []
    for measure, label in MEASURES.items():
        among = results.among(measure, results.families())
        standing = results.standing(measure, among)
        figure, axes = canvas(width=8.6, height=5.6)
        difference = standing.ranking.critical_difference
        critical_difference(axes[0, 0], standing.names, standing.ranking.mean_ranks, difference)
        axes[0, 0].set_title(f"mean rank by {label}, {len(among)} independent sets", pad=24)
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
    heights = spread(places, 0.028 * (max(means.values()) - min(means.values())))
    for method, (x, y) in places.items():
        colour = KINDS[METHODS[method].kind]
        axis.annotate(
            method,
            (x, y),
            (x * 1.09, heights[method]),
            fontsize=7,
            va="center",
            color=colour,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2},
        )
    axis.set_xscale("log")
    axis.set_xlabel("median CPU time of one fit, ms")
    axis.set_ylabel("mean 0.1-AUC over independent sets")
    axis.legend(frameon=False, fontsize=8, loc="center right")
    left, right = axis.get_xlim()
    axis.set_xlim(left, right * 2.5)
    return save(figure, folder, "quality_and_cost")


def spread(places: dict[str, tuple[float, float]], gap: float, reach: float = 0.55) -> dict[str, float]:
    """Heights of labels, from below upwards, so that those nearer than ``reach`` decades stand ``gap`` apart."""
    heights: dict[str, float] = {}
    for name, (x, y) in sorted(places.items(), key=lambda item: item[1][1]):
        near = [h for other, h in heights.items() if abs(np.log10(places[other][0] / x)) < reach]
        heights[name] = max([y, *[h + gap for h in near]])
    return heights
