"""One look for all figures: made without a screen, saved as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8e5ea2", "#c98b2b", "#4d4d4d", "#17a2a2", "#b0568d", "#7f7f00", "#9a9a9a")


def canvas(rows: int = 1, columns: int = 1, *, width: float = 4.2, height: float = 3.4) -> tuple[Any, Any]:
    """A figure and its axes, as ``plt.subplots`` gives them, always a 2-D array of axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9, "axes.titlesize": 10})
    plt.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=COLOURS)
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    return figure, axes


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write ``NAME.png`` into the folder and close the figure."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.tight_layout()
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
    return path


def critical_difference(axis: Any, names: Sequence[str], mean_ranks: Sequence[float], difference: float) -> None:
    """Demšar's plot: methods on a line of mean ranks, bars join those that are not told apart."""
    order = np.argsort(mean_ranks)
    ranks = np.asarray(mean_ranks)[order]
    k = len(ranks)
    axis.set_xlim(np.floor(ranks[0]) - 0.2, np.ceil(ranks[-1]) + 0.2)
    axis.set_ylim(-(k + 3), 2.2)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.spines["top"].set_visible(True)
    axis.xaxis.tick_top()
    axis.set_yticks([])
    for place, index in enumerate(order):
        height = -(place + 1)
        axis.plot([ranks[place]] * 2, [2.2, height], color="#888888", linewidth=0.7)
        axis.plot(ranks[place], height, "o", color=COLOURS[0], markersize=4)
        axis.annotate(f" {names[index]} {ranks[place]:.2f}", (ranks[place], height), va="center", fontsize=8)
    for bar, (first, last) in enumerate(cliques(ranks, difference)):
        axis.plot(
            [ranks[first], ranks[last]], [1.6 - 0.5 * bar] * 2, color=COLOURS[1], linewidth=3, solid_capstyle="butt"
        )
    left = axis.get_xlim()[0]
    axis.plot([left, left + difference], [-(k + 2)] * 2, color=COLOURS[5], linewidth=2)
    axis.annotate(f" critical difference {difference:.2f}", (left + difference, -(k + 2)), va="center", fontsize=8)


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Longest runs of sorted ranks whose ends are nearer than the difference; runs of one are left out."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(j for j in range(len(ranks)) if ranks[j] - ranks[first] <= difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
