"""The ROC convex hull: which score, at which threshold, is best for which trade between the two errors.

A line of equal expected cost in ROC space has slope (cost of a false positive × share of negatives) /
(cost of a false negative × share of positives). The best operating point for a slope s is the vertex of the
hull that a line of slope s touches, so a score that owns no vertex is best for no cost at all.

Reference: Provost and Fawcett (2001), "Robust classification for imprecise environments".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.exceptions import DataError, ParameterError
from askew.metrics.curve import RocCurve

__all__ = ["HullPoint", "HullRange", "RocHull", "hull_of_curves", "roc_hull"]

# Points closer to a straight line than this are on it: rates are quotients, their last bits are noise.
_STRAIGHT = 1e-12


@dataclass(frozen=True)
class HullPoint:
    """An operating point on the hull: the scores that reach it and the threshold of the first of them.

    Attributes
    ----------
    fpr, tpr : float
    threshold : float
        ±inf at (0, 0) and (1, 1).
    names : tuple of str
        The scores; empty at (0, 0) and (1, 1), which need none.
    """

    fpr: float
    tpr: float
    threshold: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class HullRange:
    """Iso-performance slopes for which one score is best, and the false positive rates it works at there.

    Attributes
    ----------
    name : str
        The score.
    slope_low, slope_high : float
    fpr_low, fpr_high : float
    """

    name: str
    slope_low: float
    slope_high: float
    fpr_low: float
    fpr_high: float


@dataclass(frozen=True)
class RocHull:
    """Upper convex hull of one or several ROC curves.

    Parameters
    ----------
    points : tuple of HullPoint
        Vertices from (0, 0) to (1, 1).
    names : tuple of str
        Every score that took part, on the hull or not.

    Examples
    --------
    >>> hull = roc_hull([0, 0, 1, 1], {"a": [1, 3, 2, 4], "b": [3, 1, 2, 2]})
    >>> hull.fpr.tolist(), hull.slopes.tolist()
    ([0.0, 0.0, 0.5, 1.0], [inf, 1.0, 0.0])
    >>> hull.best_at(5.0).names
    ('a',)
    """

    points: tuple[HullPoint, ...]
    names: tuple[str, ...]

    @property
    def fpr(self) -> NDArray[np.float64]:
        """False positive rates of the vertices, non-decreasing."""
        return np.array([point.fpr for point in self.points])

    @property
    def tpr(self) -> NDArray[np.float64]:
        """True positive rates of the vertices, non-decreasing."""
        return np.array([point.tpr for point in self.points])

    @property
    def slopes(self) -> NDArray[np.float64]:
        """Slopes of the edges between consecutive vertices, strictly decreasing; ``inf`` where vertical."""
        run, rise = np.diff(self.fpr), np.diff(self.tpr)
        return np.divide(rise, run, out=np.full(len(run), np.inf), where=run > 0.0)

    @property
    def area(self) -> float:
        """Area under the hull: the AUC of the best combination of the scores."""
        return float(np.trapezoid(self.tpr, self.fpr))

    @property
    def ranges(self) -> tuple[HullRange, ...]:
        """Where each score is best, from steep slopes (few false positives) to flat ones.

        A score with no range is never best. Scores that share a vertex share its range.
        """
        found = [each for name in self.names for each in self._ranges_of(name)]
        return tuple(sorted(found, key=lambda each: (-each.slope_high, -each.slope_low)))

    def best_at(self, slope: float) -> HullPoint:
        """Vertex that a line of equal cost with this slope touches; of a whole edge, its left end."""
        if not slope >= 0.0:
            raise ParameterError(f"slope={slope!r} must be a number >= 0.")
        finite = min(slope, np.finfo(np.float64).max)  # an infinite slope still takes the top of a vertical edge
        return self.points[int(np.count_nonzero(self.slopes > finite))]

    def best_for(
        self, *, prevalence: float, false_positive_cost: float = 1.0, false_negative_cost: float = 1.0
    ) -> HullPoint:
        """Vertex with the lowest expected cost where a share ``prevalence`` of the rows is positive."""
        if not 0.0 < prevalence < 1.0:
            raise ParameterError(f"prevalence={prevalence!r} must lie in (0, 1).")
        if not (false_positive_cost > 0.0 and false_negative_cost > 0.0):
            raise ParameterError(
                "both costs must be > 0; got "
                f"false_positive_cost={false_positive_cost!r}, false_negative_cost={false_negative_cost!r}."
            )
        odds = (1.0 - prevalence) / prevalence
        return self.best_at(odds * false_positive_cost / false_negative_cost)

    def _ranges_of(self, name: str) -> list[HullRange]:
        owned = [name in point.names for point in self.points]
        slopes, fpr = self.slopes, self.fpr
        ranges, start = [], None
        for i, mine in enumerate([*owned, False]):
            if mine and start is None:
                start = i
            elif not mine and start is not None:
                ranges.append(HullRange(name, slopes[i - 1], slopes[start - 1], fpr[start], fpr[i - 1]))
                start = None
        return ranges


def roc_hull(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> RocHull:
    """Convex hull of the ROC curve of one score, or of several on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,), or mapping from name to array-like
        One score (named "score" in the result), or several to be compared.
    sample_weight : array-like of shape (n,), default=None
    pos_label : label, default=None
        The positive class; by default the greater of the two labels.

    Returns
    -------
    RocHull
        Vertices, slopes, and the range of iso-performance slopes at which each score is best.

    Examples
    --------
    >>> from askew.metrics import roc_hull
    >>> hull = roc_hull([0, 0, 0, 1, 1, 1], [1, 2, 5, 3, 4, 6])
    >>> [(round(p.fpr, 2), round(p.tpr, 2)) for p in hull.points]
    [(0.0, 0.0), (0.0, 0.33), (0.33, 1.0), (1.0, 1.0)]
    """
    scores = y_score if isinstance(y_score, Mapping) else {"score": y_score}
    if not scores:
        raise DataError("roc_hull needs at least one score; got an empty mapping.")
    return hull_of_curves(
        {
            name: RocCurve.of(y_true, score, sample_weight=sample_weight, pos_label=pos_label)
            for name, score in scores.items()
        }
    )


def hull_of_curves(curves: Mapping[str, RocCurve]) -> RocHull:
    """Hull of named ROC curves, which need not come from the same rows.

    Parameters
    ----------
    curves : mapping of str to RocCurve

    Returns
    -------
    RocHull

    Examples
    --------
    >>> hull_of_curves({"a": RocCurve.of([0, 1], [0.2, 0.9])}).tpr.tolist()
    [0.0, 1.0, 1.0]
    """
    corners = {name: _corners(curve.fpr, curve.tpr) for name, curve in curves.items()}
    fpr = np.concatenate([curve.fpr[corners[name]] for name, curve in curves.items()])
    tpr = np.concatenate([curve.tpr[corners[name]] for name, curve in curves.items()])
    threshold = np.concatenate([curve.thresholds[corners[name]] for name, curve in curves.items()])
    owner = np.concatenate([np.full(len(corners[name]), name, dtype=object) for name in curves])
    # Left to right, and the higher first, so that only the top of each vertical line is looked at.
    order = np.lexsort((-tpr, fpr))
    chain = _upper_chain(fpr[order], tpr[order])
    vertices = [HullPoint(0.0, 0.0, np.inf, ())]
    for i in order[chain]:
        if (fpr[i], tpr[i]) == (0.0, 0.0) or (fpr[i], tpr[i]) == (1.0, 1.0):
            continue
        same = (np.abs(fpr - fpr[i]) <= _STRAIGHT) & (np.abs(tpr - tpr[i]) <= _STRAIGHT)
        names = tuple(dict.fromkeys([owner[i], *owner[same]]))
        vertices.append(HullPoint(float(fpr[i]), float(tpr[i]), float(threshold[i]), names))
    vertices.append(HullPoint(1.0, 1.0, -np.inf, ()))
    return RocHull(tuple(vertices), tuple(curves))


def _corners(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices of points not on or under the line between their neighbours, in rounds while that pays.

    A vertex of the hull is never under a line between two other points, so points of one round may be
    judged by neighbours that fall in the same round.
    """
    kept = np.flatnonzero(np.append(True, (np.diff(fpr) > 0.0) | (np.diff(tpr) > 0.0)))
    dropped = len(kept)
    while dropped > 16 and len(kept) > 2:
        x, y = np.diff(fpr[kept]), np.diff(tpr[kept])
        bends_down = x[:-1] * y[1:] < y[:-1] * x[1:]
        dropped = np.count_nonzero(~bends_down)
        kept = kept[np.concatenate([[True], bends_down, [True]])]
    return kept


def _upper_chain(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[int]:
    """Indices of the strictly convex upper hull of points sorted by x, between (0, 0) and (1, 1)."""
    chain: list[int] = []
    for i in range(len(x)):
        if chain and x[i] == x[chain[-1]] and y[i] <= y[chain[-1]]:
            continue
        while len(chain) > 1 and _is_below(x, y, chain[-2], chain[-1], i):
            chain.pop()
        chain.append(i)
    return chain


def _is_below(x: NDArray[np.float64], y: NDArray[np.float64], a: int, b: int, c: int) -> bool:
    """Whether b lies on or under the line from a to c."""
    return bool((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]) >= -_STRAIGHT)
