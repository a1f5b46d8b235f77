"""What bending does to the plane: where a scaled kernel enlarges space, with the boundary before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from askew.displays.axes import axes_for
from askew.exceptions import DataError

__all__ = ["MagnificationDisplay"]


class MagnificationDisplay:
    """Magnification √g(x) of a fitted :class:`askew.KernelScaledSVC` on two features, relative to the plain kernel.

    Build it with `from_estimator`.

    Parameters
    ----------
    xx0, xx1 : arrays of shape (n, n)
        The grid.
    magnification : array of shape (n, n)
        √g(x) / √g of the kernel before it was bent: 1 where nothing changed, less where space has shrunk.
    score : array of shape (n, n)
        The model's score; its boundary is where it is 0.
    plain_score : array of shape (n, n)
        The score of the first fit, before bending.
    X, y : arrays, optional
        Rows to draw, and whether each is of the class that scores positive.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    surface_ : matplotlib contour set
    boundary_, plain_boundary_ : matplotlib contour sets or None
        None where a score has one sign on the whole grid.

    Examples
    --------
    >>> from askew.datasets import make_ring
    >>> from askew.estimators.kernel_scaled_svc import KernelScaledSVC
    >>> from askew.displays.magnification import MagnificationDisplay
    >>> data = make_ring(200, random_state=0)
    >>> model = KernelScaledSVC(C=10.0, scaling="symmetric", k=3.0).fit(data.X, data.y)
    >>> MagnificationDisplay.from_estimator(model, data.X, data.y).magnification.shape    # doctest: +SKIP
    (150, 150)
    """

    def __init__(
        self,
        *,
        xx0: NDArray[Any],
        xx1: NDArray[Any],
        magnification: NDArray[Any],
        score: NDArray[Any],
        plain_score: NDArray[Any],
        X: NDArray[Any] | None = None,
        y: NDArray[Any] | None = None,
    ) -> None:
        self.xx0, self.xx1 = xx0, xx1
        self.magnification, self.score, self.plain_score = magnification, score, plain_score
        self.X, self.y = X, y

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 150,
        eps: float = 0.5,
        ax: Any = None,
        **plot: Any,
    ) -> MagnificationDisplay:
        """Lay a grid over two features and draw.

        Parameters
        ----------
        estimator : KernelScaledSVC
            Fitted on two features and two classes, with the rbf kernel.
        X : array-like of shape (n_samples, 2)
            Rows the grid is laid around.
        y : array-like of shape (n_samples,), optional
            Their classes; with them the rows are drawn.
        grid_resolution : int, default=150
        eps : float, default=0.5
            How far the grid reaches beyond the rows.
        ax : matplotlib axes, optional
        **plot : dict
            For `plot`.
        """
        check_is_fitted(estimator)
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != 2 or len(estimator.classes_) != 2:
            raise DataError(
                "A magnification is drawn over two features for two classes; got X of shape "
                f"{X.shape} and {len(estimator.classes_)} classes. Fit on two columns and two classes."
            )
        sides = [np.linspace(X[:, k].min() - eps, X[:, k].max() + eps, grid_resolution) for k in (0, 1)]
        xx0, xx1 = np.meshgrid(*sides)
        points = np.column_stack([xx0.ravel(), xx1.ravel()])
        return cls(
            xx0=xx0,
            xx1=xx1,
            magnification=(estimator.magnification(points) / (2.0 * estimator.gamma_)).reshape(xx0.shape),
            score=estimator.decision_function(points).reshape(xx0.shape),
            plain_score=estimator.plain_decision_function(points).reshape(xx0.shape),
            X=X,
            y=None if y is None else np.asarray(y) == estimator.classes_[1],
        ).plot(ax=ax, **plot)

    def plot(
        self, ax: Any = None, *, cmap: str = "magma", levels: int = 24, colorbar: bool = True
    ) -> MagnificationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            New ones by default.
        cmap : str, default="magma"
        levels : int, default=24
            Steps of the colour scale, which is logarithmic.
        colorbar : bool, default=True

        Returns
        -------
        self : MagnificationDisplay
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        shade = np.log10(np.maximum(self.magnification, 1e-300))
        low, high = max(float(shade.min()), float(shade.max()) - 3.0), float(shade.max())  # three decades are enough
        if high - low < 1e-9:  # no bend: one colour from the middle of the scale
            low, high = low - 0.3, high + 0.3
        steps = np.linspace(low, high, levels)
        self.surface_ = self.ax_.contourf(self.xx0, self.xx1, shade, levels=steps, cmap=cmap, extend="min")
        self._draw_rows()
        self.plain_boundary_ = self._line(self.plain_score, linestyles="--")
        self.boundary_ = self._line(self.score, linestyles="-")
        if colorbar:
            bar = self.figure_.colorbar(
                self.surface_, ax=self.ax_, label="magnification √g, relative to the plain kernel"
            )
            ticks = np.unique(np.round(np.linspace(low, high, 5), 2))
            bar.set_ticks(ticks, labels=[f"{10.0**t:.2g}" for t in ticks])
        self.ax_.set(xlabel="feature 0", ylabel="feature 1")
        return self

    def _line(self, score: NDArray[Any], **style: Any) -> Any:
        """The line where a score is zero, if it is on the grid."""
        if not (score.min() < 0.0 < score.max()):
            return None
        # the boundary lies where the surface is brightest, so a dark line is the one that is seen
        line = {"levels": [0.0], "colors": "#1a1a2e", "linewidths": 2.0, "zorder": 4}
        return self.ax_.contour(self.xx0, self.xx1, score, **line, **style)

    def _draw_rows(self) -> None:
        if self.X is None or self.y is None:
            return
        for mine, colour, size in ((~self.y, "#88ccee", 8), (self.y, "#ffdd44", 22)):
            self.ax_.scatter(*self.X[mine].T, s=size, color=colour, edgecolors="black", linewidths=0.3, zorder=3)
