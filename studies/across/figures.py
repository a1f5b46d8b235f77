"""The figures: critical differences, and what quality costs."""

from __future__ import annotations

from pathlib import Path

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
    figure, axes = canvas(width=8.6, height=5.2)
    axis, means = axes[0, 0], results.standing("tauc_0.1", results.families()).means
    for kind, colour in KINDS.items():
        members = [method for method in RANKED if METHODS[method].kind == kind]
        x = [1e3 * seconds(results, method)["fit"] for method in members]
        axis.plot(x, [means[m] for m in members], "o", color=colour, label=WORDS[kind], markersize=5)
        for place, method in zip(x, members, strict=True):
            axis.annotate(f" {method}", (place, means[method]), fontsize=7, va="center", color=colour)
    axis.set_xscale("log")
    axis.set_xlabel("median CPU time of one fit, ms")
    axis.set_ylabel("mean 0.1-AUC over independent sets")
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    left, right = axis.get_xlim()
    axis.set_xlim(left, right * 2.5)
    return save(figure, folder, "quality_and_cost")
