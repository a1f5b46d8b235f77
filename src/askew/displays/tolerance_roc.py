"""The ROC curve where it matters: from no false positives up to the tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from askew.displays.axes import axes_for, finish_roc
from askew.metrics import AveragedRoc, RocCurve, averaged_roc
from askew.tolerance.score import alarm_scores

__all__ = ["ToleranceRocDisplay"]


class ToleranceRocDisplay:
    """ROC curve in the window [0, tolerance], with the t-AUC as its area.

    Build it with `from_estimator`, `from_predictions`, or, for folds or repeats, `from_curves`.

    Parameters
    ----------
    fpr, tpr : ndarray
        The curve up to the tolerance.
    tolerance : float
    area : float
        Its t-AUC, raw; of several curves the mean.
    name : str or None
        For the legend.
    band : AveragedRoc or None
        The average that the curve is, with its confidence band.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : matplotlib line

    Examples
    --------
    >>> from askew.displays import ToleranceRocDisplay
    >>> display = ToleranceRocDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8], tolerance=0.5)
    >>> display.area
    0.25
    """

    def __init__(self, fpr, tpr, *, tolerance, area, name=None, band: AveragedRoc | None = None):
        self.fpr = fpr
        self.tpr = tpr
        self.tolerance = tolerance
        self.area = area
        self.name = name
        self.band = band

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, tolerance, sample_weight=None, pos_label=None, name=None, ax=None, **plot
    ):
        """Score X with a fitted classifier, or detector (whose outliers are positive), and draw."""
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(
            y,
            alarm_scores(estimator, X, pos_label),
            tolerance=tolerance,
            sample_weight=sample_weight,
            pos_label=pos_label,
            name=name,
            ax=ax,
            **plot,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        tolerance: float,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        name: str | None = None,
        ax: Any = None,
        **plot: Any,
    ) -> ToleranceRocDisplay:
        """Draw the curve of labels and scores; further keywords go to `plot`."""
        curve = RocCurve.of(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        part = curve.up_to(tolerance)
        display = cls(part.fpr, part.tpr, tolerance=tolerance, area=curve.area(tolerance), name=name)
        return display.plot(ax=ax, **plot)

    @classmethod
    def from_curves(
        cls,
        curves: Sequence[RocCurve],
        *,
        tolerance: float,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **plot: Any,
    ) -> ToleranceRocDisplay:
        """Average curves of folds or repeats vertically, and draw the average with its band."""
        area = float(np.mean([curve.area(tolerance) for curve in curves])) if curves else np.nan
        band = averaged_roc(curves, fpr=np.linspace(0.0, tolerance, 301), confidence=confidence)
        display = cls(band.fpr, band.tpr, tolerance=tolerance, area=area, name=name, band=band)
        return display.plot(ax=ax, **plot)

    def plot(self, ax=None, *, name=None, chance=False, shade=False, **line):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            New ones by default.
        name : str, default=None
            For the legend; that of the display by default.
        chance : bool, default=False
            Draw the diagonal too.
        shade : bool, default=False
            Fill the area that the t-AUC measures.
        **line : dict
            For the curve, as matplotlib's ``plot`` takes them.

        Returns
        -------
        self : ToleranceRocDisplay
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        share = self.area / self.tolerance
        measured = f"{self.tolerance:g}-AUC = {self.area:.4g} ({share:.1%} of {self.tolerance:g})"
        name = self.name if name is None else name
        label = measured if name is None else f"{name}: {measured}"
        (self.line_,) = self.ax_.plot(self.fpr, self.tpr, **{"label": label, **line})
        colour = self.line_.get_color()
        if self.band is not None:
            self.ax_.fill_between(self.band.fpr, self.band.lower, self.band.upper, color=colour, alpha=0.18, lw=0)
        if shade:
            self.ax_.fill_between(self.fpr, self.tpr, color=colour, alpha=0.12, lw=0)
        finish_roc(self.ax_, self.tolerance, chance=chance)
        return self
