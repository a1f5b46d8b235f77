"""The boundary of a one-class model in the plane, with its support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from askew.displays.axes import axes_for
from askew.exceptions import DataError, ParameterError

__all__ = ["BoundaryDisplay"]

Vector = NDArray[np.float64]


class BoundaryDisplay:
    """Where a model with two features says inlier: the line of score 0, the rows, and those that support the line.

    Build it with `from_estimator`. Works for any fitted model with ``decision_function``; support vectors are shown
    where the model has ``support_vectors_``.

    Parameters
    ----------
    across, up : ndarray of shape (resolution,)
        Coordinates of the grid.
    scores : ndarray of shape (resolution, resolution)
        Score at each point of the grid, one line of the grid per row.
    X : ndarray of shape (n_samples, 2)
        Rows to show.
    is_inlier : ndarray of shape (n_samples,)
    support_vectors : ndarray of shape (n_SV, 2)
    feature_names : list of str
    name : str or None
        For the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    contour_ : matplotlib contour set of the boundary
    points_, support_ : matplotlib collections; ``support_`` is None without support vectors

    Examples
    --------
    >>> import numpy as np
    >>> from askew import OneClassSVM
    >>> from askew.displays.boundary import BoundaryDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> display = BoundaryDisplay.from_estimator(OneClassSVM(nu=0.1).fit(X), X, resolution=50)
    >>> display.scores.shape
    (50, 50)
    """

    def __init__(self, across, up, scores, *, X, is_inlier, support_vectors, feature_names, name=None):
        self.across = across
        self.up = up
        self.scores = scores
        self.X = X
        self.is_inlier = is_inlier
        self.support_vectors = support_vectors
        self.feature_names = feature_names
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        resolution: int = 200,
        margin: float = 0.15,
        name: str | None = None,
        ax: Any = None,
        **plot: Any,
    ) -> BoundaryDisplay:
        """Score a grid around the rows with a fitted model, and draw.

        Parameters
        ----------
        estimator : fitted estimator with ``decision_function``
        X : array-like of shape (n_samples, 2)
            Rows to show, as a rule those the model was fitted on.
        resolution : int, default=200
            Points of the grid along each side.
        margin : float, default=0.15
            Room around the rows, in units of their range.
        name : str, default=None
            For the legend; the class of the estimator by default.
        ax : matplotlib axes, default=None
        **plot : dict
            For `plot`.
        """
        check_is_fitted(estimator)
        if resolution < 2:
            raise ParameterError(f"resolution must be at least 2 points along a side; got {resolution}.")
        names = [str(column) for column in getattr(X, "columns", ("feature 0", "feature 1"))]
        points = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise DataError(
                f"A boundary can be drawn for two features; got X of shape {points.shape}. "
                "Choose two columns and fit on them, or project first."
            )
        across, up = (_side(column, resolution, margin) for column in points.T)
        grid = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
        scores = np.asarray(estimator.decision_function(_like(X, grid))).reshape(len(up), len(across))
        display = cls(
            across,
            up,
            scores,
            X=points,
            is_inlier=np.asarray(estimator.decision_function(X)) >= 0,
            support_vectors=_support_vectors(estimator),
            feature_names=names,
            name=type(estimator).__name__ if name is None else name,
        )
        return display.plot(ax=ax, **plot)

    def plot(self, ax=None, *, name=None, shade=True, show_support=True, legend=True, colour="C0"):
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            New ones by default.
        name : str, default=None
            For the legend; that of the display by default.
        shade : bool, default=True
            Fill the side of the inliers.
        show_support : bool, default=True
            Circle the support vectors.
        legend : bool, default=True
        colour : matplotlib colour, default="C0"
            Of the boundary.

        Returns
        -------
        self : BoundaryDisplay
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        name = self.name if name is None else name
        crosses = self.scores.min() < 0 < self.scores.max()
        if shade and self.scores.max() > 0:
            ax.contourf(self.across, self.up, self.scores, levels=[0.0, np.inf], colors=[colour], alpha=0.12, zorder=0)
        self.contour_ = (
            ax.contour(self.across, self.up, self.scores, levels=[0.0], colors=[colour], linewidths=1.6)
            if crosses
            else None
        )
        shown = np.where(self.is_inlier, "0.45", "C3")
        self.points_ = ax.scatter(*self.X.T, s=9, c=shown, linewidths=0, zorder=2)
        self.support_ = None
        if show_support and len(self.support_vectors):
            self.support_ = ax.scatter(
                *self.support_vectors.T, s=42, facecolors="none", edgecolors="0.15", linewidths=0.7, zorder=3
            )
        ax.set(xlabel=self.feature_names[0], ylabel=self.feature_names[1])
        if legend:
            self._legend(name, colour)
        return self

    def _legend(self, name: str | None, colour: Any) -> None:
        from matplotlib.lines import Line2D

        def dot(colour: str) -> dict[str, Any]:
            return {"marker": "o", "ls": "", "ms": 3.5, "mfc": colour, "mec": "none"}

        outside = int(np.sum(~self.is_inlier))
        entries = [
            Line2D([], [], color=colour, label="boundary" if name is None else name),
            Line2D([], [], label=f"inside: {len(self.X) - outside}", **dot("0.45")),
            Line2D([], [], label=f"outside: {outside}", **dot("C3")),
        ]
        if self.support_ is not None:
            circle = {"marker": "o", "ls": "", "ms": 6, "mfc": "none", "mec": "0.15", "mew": 0.7}
            entries.append(Line2D([], [], label=f"support vectors: {len(self.support_vectors)}", **circle))
        self.ax_.legend(handles=entries, fontsize="small", loc="best", framealpha=0.85)


def _side(values: Vector, resolution: int, margin: float) -> Vector:
    low, high = float(values.min()), float(values.max())
    room = margin * (high - low or 1.0)
    return np.linspace(low - room, high + room, resolution)


def _like(X: Any, grid: Vector) -> Any:
    """The grid as a frame where X is one, so that a model fitted with names meets them."""
    return type(X)(dict(zip(X.columns, grid.T, strict=True))) if hasattr(X, "columns") else grid


def _support_vectors(estimator: Any) -> Vector:
    vectors = getattr(estimator, "support_vectors_", np.empty((0, 2)))
    return np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, dtype=np.float64)
