"""Where a picture is drawn. matplotlib is imported here, when the first one is asked for."""

from __future__ import annotations

from typing import Any

from askew.exceptions import MissingDependencyError

__all__ = ["axes_for", "finish_roc"]


def axes_for(ax: Any = None) -> Any:
    """The axes given, or new ones."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingDependencyError(
            "a Display needs matplotlib, which is not installed. Install it with: pip install 'askew[plot]'"
        ) from error
    return ax if ax is not None else pyplot.subplots(layout="constrained")[1]


def finish_roc(ax: Any, limit: float, *, chance: bool) -> None:
    """Labels, limits and the line of chance that all ROC pictures share."""
    if chance:
        ax.plot([0.0, limit], [0.0, limit], color="0.6", linestyle=":", linewidth=1.0, label="chance")
    ax.set(
        xlabel="False positive rate",
        ylabel="True positive rate",
        xlim=(-0.01 * limit, 1.01 * limit),
        ylim=(-0.01, 1.01),
    )
    ax.grid(color="0.92")
    ax.set_axisbelow(True)
    ax.legend(loc="lower right", fontsize="small")
