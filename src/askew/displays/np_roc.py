"""What each guaranteed false positive rate would catch, with its confidence band."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from askew.displays.axes import axes_for
from askew.metrics import ScoredSample
from askew.tolerance import NpRoc, np_roc

__all__ = ["NpRocDisplay"]


class NpRocDisplay:
    """NP-ROC: true positive rate against the false positive rate that is guaranteed, not the one observed.

    Build it with `from_estimator` (a fitted `ToleranceClassifier`) or `from_predictions` (held-out scores).

    Parameters
    ----------
    curve : NpRoc
    tolerance : float or None
        The tolerance in force, marked in the picture.
    name : str or None
        For the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : matplotlib line
    band_ : matplotlib collection

    Examples
    --------
    >>> import numpy as np
    >>> from askew.displays import NpRocDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [500, 60])
    >>> display = NpRocDisplay.from_predictions(y, rng.normal(size=560) + 2 * y)
    >>> display.curve.n_negatives
    500
    """

    def __init__(self, curve: NpRoc, *, tolerance: float | None = None, name: str | None = None):
        self.curve = curve
        self.tolerance = tolerance
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, *, tolerances=None, confidence=None, name=None, ax=None, **plot):
        """Draw from the held-out scores of a fitted `ToleranceClassifier`."""
        curve = estimator.np_roc(tolerances=tolerances, confidence=confidence)
        name = type(estimator.estimator_).__name__ if name is None else name
        return cls(curve, tolerance=estimator.tolerance, name=name).plot(ax=ax, **plot)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        tolerances: ArrayLike | None = None,
        confidence: float = 0.95,
        pos_label: object = None,
        name: str | None = None,
        ax: Any = None,
        **plot: Any,
    ) -> NpRocDisplay:
        """Draw from labels and scores of rows that trained nothing; further keywords go to `plot`."""
        sample = ScoredSample.of(y_true, y_score, pos_label=pos_label)
        curve = np_roc(
            sample.score[~sample.positive],
            sample.score[sample.positive],
            tolerances=tolerances,
            confidence=confidence,
        )
        return cls(curve, name=name).plot(ax=ax, **plot)

    def plot(self, ax=None, *, name=None, log=True, **line):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            New ones by default.
        name : str, default=None
            For the legend; that of the display by default.
        log : bool, default=True
            Logarithmic tolerances; rare alarms live at the left end.
        **line : dict
            For the curve, as matplotlib's ``plot`` takes them.

        Returns
        -------
        self : NpRocDisplay
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        curve, name = self.curve, self.name if name is None else name
        label = f"{'' if name is None else name + ': '}{curve.confidence:.0%} confidence"
        (self.line_,) = self.ax_.plot(curve.tolerance, curve.tpr, **{"label": label, "drawstyle": "steps-post", **line})
        colour = self.line_.get_color()
        self.band_ = self.ax_.fill_between(
            curve.tolerance, curve.lower, curve.upper, step="post", color=colour, alpha=0.18, lw=0
        )
        if self.tolerance is not None and self.tolerance >= curve.tolerance[0]:
            self.ax_.axvline(self.tolerance, color=colour, linestyle=":", linewidth=1.0)
        self.ax_.set(
            xscale="log" if log else "linear",
            xlabel="Guaranteed false positive rate",
            ylabel="True positive rate",
            ylim=(-0.01, 1.01),
        )
        self.ax_.grid(color="0.92")
        self.ax_.set_axisbelow(True)
        self.ax_.legend(loc="lower right", fontsize="small")
        return self
