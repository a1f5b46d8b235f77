"""The ROC curve of one score: vertices where the score takes a new value, straight lines between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.metrics.sample import ScoredSample, check_rate

__all__ = ["RocCurve"]


@dataclass(frozen=True)
class RocCurve:
    """Vertices of a ROC curve from (0, 0) to (1, 1).

    Rows with equal scores cannot be told apart by a threshold, so a run of ties is one straight segment.

    Parameters
    ----------
    fpr, tpr : ndarray, shape (v,)
        False and true positive rate of ``score >= threshold``, both non-decreasing.
    thresholds : ndarray, shape (v,)
        Decreasing; the first is ``inf`` (nothing is positive).

    Examples
    --------
    >>> curve = RocCurve.of([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> curve.fpr.tolist(), curve.tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    >>> curve.area(0.5)
    0.25
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
    ) -> RocCurve:
        """Curve of labels and scores; see `ScoredSample.of` for what is refused."""
        return cls.of_sample(ScoredSample.of(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label))

    @classmethod
    def of_sample(cls, sample: ScoredSample) -> RocCurve:
        """Curve of a sample that has been checked."""
        order = np.argsort(-sample.score)
        score, positive = sample.score[order], sample.positive[order]
        weight = np.ones(len(order)) if sample.weight is None else sample.weight[order]
        last_of_ties = np.append(score[1:] != score[:-1], True)
        tpr = np.cumsum(np.where(positive, weight, 0.0))[last_of_ties]
        fpr = np.cumsum(np.where(positive, 0.0, weight))[last_of_ties]
        return cls(
            fpr=np.append(0.0, fpr / fpr[-1]),
            tpr=np.append(0.0, tpr / tpr[-1]),
            thresholds=np.append(np.inf, score[last_of_ties]),
        )

    def at(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """TPR at given false positive rates, interpolated; the upper end where the curve is vertical."""
        wanted = np.asarray(fpr, dtype=np.float64)
        right = np.minimum(np.searchsorted(self.fpr, wanted, side="right"), len(self.fpr) - 1)
        left = np.maximum(right - 1, 0)
        run = self.fpr[right] - self.fpr[left]
        share = np.divide(wanted - self.fpr[left], run, out=np.ones_like(wanted), where=run > 0.0)
        return self.tpr[left] + share * (self.tpr[right] - self.tpr[left])

    def achieved_at(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Highest TPR that one threshold reaches with no more than the given false positive rates."""
        last = np.searchsorted(self.fpr, np.asarray(fpr, dtype=np.float64), side="right") - 1
        return self.tpr[last]

    def up_to(self, tolerance: float) -> RocCurve:
        """The part with FPR ≤ ``tolerance``, closed by the interpolated point at ``tolerance``."""
        limit = check_rate("tolerance", tolerance)
        inside = self.fpr <= limit
        end = self.at(limit)
        threshold = self.thresholds[inside][-1]
        return RocCurve(
            fpr=np.append(self.fpr[inside], limit),
            tpr=np.append(self.tpr[inside], end),
            thresholds=np.append(self.thresholds[inside], threshold),
        )

    def area(self, tolerance: float = 1.0) -> float:
        """Area ∫₀ᵗ TPR dFPR under the curve up to ``tolerance``."""
        part = self.up_to(tolerance)
        return float(np.trapezoid(part.tpr, part.fpr))
