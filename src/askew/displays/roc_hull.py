"""The convex hull of several ROC curves, coloured by who is best where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from askew.displays.axes import axes_for, finish_roc
from askew.metrics import RocCurve, RocHull, hull_of_curves
from askew.metrics.sample import check_rate
from askew.tolerance.score import alarm_scores

__all__ = ["RocHullDisplay"]


class RocHullDisplay:
    """ROC curves of one or several scores with their convex hull and the slopes at which each is best.

    Build it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    hull : RocHull
    curves : mapping from name to RocCurve
        The curves it is the hull of.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict from name to matplotlib line
    hull_line_ : matplotlib line

    Examples
    --------
    >>> from askew.displays import RocHullDisplay
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> display = RocHullDisplay.from_predictions(y, {"a": [1, 2, 5, 3, 4, 6], "b": [2, 3, 1, 1, 9, 9]})
    >>> [each.name for each in display.hull.ranges]
    ['b', 'a']
    """

    def __init__(self, hull: RocHull, curves: Mapping[str, RocCurve]):
        self.hull = hull
        self.curves = dict(curves)

    @classmethod
    def from_estimator(cls, estimator, X, y, *, sample_weight=None, pos_label=None, ax=None, **plot):
        """Score X with a fitted estimator, or with each of a mapping from name to estimator, and draw."""
        named = estimator if isinstance(estimator, Mapping) else {type(estimator).__name__: estimator}
        scores = {name: alarm_scores(each, X, pos_label) for name, each in named.items()}
        return cls.from_predictions(y, scores, sample_weight=sample_weight, pos_label=pos_label, ax=ax, **plot)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        ax: Any = None,
        **plot: Any,
    ) -> RocHullDisplay:
        """Draw curves and hull of one score or of several; further keywords go to `plot`."""
        named = y_score if isinstance(y_score, Mapping) else {"score": y_score}
        curves = {
            name: RocCurve.of(y_true, score, sample_weight=sample_weight, pos_label=pos_label)
            for name, score in named.items()
        }
        return cls(hull_of_curves(curves), curves).plot(ax=ax, **plot)

    def plot(self, ax=None, *, tolerance=1.0, chance=False, **line):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            New ones by default.
        tolerance : float in (0, 1], default=1.0
            Show the window [0, tolerance].
        chance : bool, default=False
            Draw the diagonal too.
        **line : dict
            For the hull, as matplotlib's ``plot`` takes them.

        Returns
        -------
        self : RocHullDisplay
        """
        limit = check_rate("tolerance", tolerance)
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = {}
        style = {"color": "0.2", "linestyle": "--", "linewidth": 1.0, "label": "hull", "zorder": 1.5}
        (self.hull_line_,) = self.ax_.plot(self.hull.fpr, self.hull.tpr, **{**style, **line})
        for name, curve in self.curves.items():
            label = f"{name}: {self._slopes_of(name)}"
            (self.lines_[name],) = self.ax_.plot(curve.fpr, curve.tpr, linewidth=1.2, label=label)
            mine = np.array([[p.fpr, p.tpr] for p in self.hull.points if name in p.names]).reshape(-1, 2)
            colour = self.lines_[name].get_color()
            self.ax_.plot(mine[:, 0], mine[:, 1], "o", color=colour, markersize=4, zorder=3)
        finish_roc(self.ax_, limit, chance=chance)
        return self

    def _slopes_of(self, name: str) -> str:
        found = [each for each in self.hull.ranges if each.name == name]
        if not found:
            return "never best"
        shown = ", ".join(f"[{_number(each.slope_low)}, {_number(each.slope_high)}]" for each in found[:3])
        return f"best at slopes {shown}{', …' if len(found) > 3 else ''}"


def _number(slope: float) -> str:
    return "∞" if np.isinf(slope) else f"{slope:.3g}"
