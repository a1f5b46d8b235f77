"""One look for all figures: made without a screen, saved as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8e5ea2", "#c98b2b", "#4d4d4d", "#17a2a2", "#b0568d", "#7f7f00", "#9a9a9a")
# where a name may stand beside its point, in printer's points: right and left, then farther and farther up and down
_SHIFTS = tuple((x, y) for y in (0, 8, -8, 14, -14, 20, -20, 28, -28, 36, -36) for x in (8, -8))


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
    """Demšar's plot: methods on a line of mean ranks, bars join those that are not told apart.

    The better half is named on the left, the best on top, the other half on the right, the worst on top: so no line
    crosses a name.
    """
    order = np.argsort(mean_ranks)
    ranks = np.asarray(mean_ranks)[order]
    k, bars = len(ranks), cliques(ranks, difference)
    left, right = float(np.floor(ranks[0])), float(np.ceil(ranks[-1]))
    first_name = -0.5 * len(bars) - 1.0
    axis.set_xlim(left, right)
    axis.set_ylim(first_name - (k + 1) // 2 - 0.8, 0)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.spines["top"].set_visible(True)
    axis.xaxis.tick_top()
    axis.set_yticks([])
    for place, index in enumerate(order):
        on_left = place < (k + 1) // 2
        height = first_name - (place if on_left else k - 1 - place)
        end, side = (left, "right") if on_left else (right, "left")
        axis.plot([ranks[place]] * 2 + [end], [0, height, height], color="#888888", linewidth=0.7)
        label, shift = f"{names[index]}  {ranks[place]:.2f}", -4 if on_left else 4
        axis.annotate(label, (end, height), (shift, 0), textcoords="offset points", ha=side, va="center", fontsize=8)
    for bar, (first, last) in enumerate(bars):
        ends, height = [ranks[first], ranks[last]], -0.5 * (bar + 1)
        axis.plot(ends, [height] * 2, color=COLOURS[1], linewidth=3, solid_capstyle="butt")
    _scale(axis, left, difference, axis.get_ylim()[0] + 0.3)


def _scale(axis: Any, left: float, difference: float, height: float) -> None:
    """The critical difference as a length, under the names."""
    axis.plot([left, left + difference], [height] * 2, color=COLOURS[5], linewidth=2, clip_on=False)
    axis.annotate(
        f"critical difference {difference:.2f}",
        (left + difference, height),
        (4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )


def place_labels(axis: Any, places: Mapping[str, tuple[float, float]], colours: Mapping[str, str]) -> None:
    """Name points of a plot so that no name or its line lies on a point or a name, each as near as there is room.

    Call it when limits and scales are settled: it measures in the pixels of the figure. In a crowd a line may cross
    others; a name for which there is no room at all goes to the right of its point.
    """
    axis.figure.tight_layout()  # as it will be saved
    inside = axis.get_window_extent()
    points = {name: _around(axis.transData.transform(place), 6) for name, place in places.items()}
    taken: list[Any] = []
    for name in sorted(places, key=lambda name: -places[name][1]):
        others = [*taken, *(box for other, box in points.items() if other != name)]
        boxes = {shift: _extents(axis, name, places[name], shift) for shift in _SHIFTS}
        room = [
            shift
            for shift, (text, *line) in boxes.items()
            if inside.x0 <= text.x0 and text.x1 <= inside.x1 and _is_free(text, line, others)
        ]
        if not room:  # in a crowd the line may cross something, the name may not
            room = [shift for shift, (text, *_) in boxes.items() if not any(text.overlaps(other) for other in others)]
        chosen = room[0] if room else _SHIFTS[0]
        taken += boxes[chosen]
        line = {"arrowstyle": "-", "color": colours[name], "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
        line["relpos"] = (0 if chosen[0] > 0 else 1, 0.5)  # to the near end of the name, not to its middle
        axis.annotate(name, places[name], chosen, color=colours[name], arrowprops=line, **_style(chosen))


def _is_free(text: Any, line: Sequence[Any], others: Sequence[Any]) -> bool:
    """Nothing else where the name stands and its line runs; what covers the point itself the line cannot avoid."""
    avoidable = [other for other in others if not other.overlaps(line[0])]
    return not any(text.overlaps(other) for other in others) and not any(
        step.overlaps(other) for step in line for other in avoidable
    )


def _extents(axis: Any, name: str, place: tuple[float, float], shift: tuple[float, float]) -> list[Any]:
    """The pixels that a name would take, then those of the line to it."""
    text = axis.annotate(name, place, shift, **_style(shift))
    box = text.get_window_extent(axis.figure.canvas.get_renderer())
    text.remove()
    begin, end = axis.transData.transform(place), (box.x0 if shift[0] > 0 else box.x1, (box.y0 + box.y1) / 2)
    return [box, *(_around(begin + t * (np.asarray(end) - begin), 1) for t in np.linspace(0, 1, 12))]


def _around(centre: Any, reach: float) -> Any:
    """A square of pixels."""
    from matplotlib.transforms import Bbox

    return Bbox.from_bounds(centre[0] - reach, centre[1] - reach, 2 * reach, 2 * reach)


def _style(shift: tuple[float, float]) -> dict[str, Any]:
    side = "left" if shift[0] > 0 else "right"
    return {"textcoords": "offset points", "ha": side, "va": "center", "fontsize": 7}


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Longest runs of sorted ranks whose ends are nearer than the difference; runs of one are left out."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(j for j in range(len(ranks)) if ranks[j] - ranks[first] <= difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
