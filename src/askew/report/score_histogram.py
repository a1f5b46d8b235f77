"""How the scores of both classes spread, as counts in shared bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ScoreHistogram"]

_BINS, _BINS_OF_FEW, _FEW = 72, 30, 400
# Scores beyond these quantiles are counted in the end bins: one outlier must not flatten the picture.
_TAILS = (0.0005, 0.9995)


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """Counts per bin; a bin holds its right edge, the first and the last also all that lies outside.

    Parameters
    ----------
    edges : ndarray, shape (b + 1,)
        Evenly spaced. The threshold in force is one of them where it is finite: what raises an alarm there
        fills whole bins, since an alarm needs a score above the threshold.
    negative, positive : ndarray of int, shape (b,)
    has_tails : bool
        Whether scores outside the edges were counted in the end bins.
    """

    edges: NDArray[np.float64]
    negative: NDArray[np.int64]
    positive: NDArray[np.int64]
    has_tails: bool

    @classmethod
    def of(cls, negatives: NDArray[np.float64], positives: NDArray[np.float64], threshold: float) -> ScoreHistogram:
        """Count sorted scores.

        Examples
        --------
        >>> histogram = ScoreHistogram.of(np.arange(10.0), np.array([5.0, 12.0]), 5.0)
        >>> above = histogram.edges[:-1] >= 5.0
        >>> int(histogram.negative[above].sum()), int(histogram.positive[above].sum())
        (4, 1)
        """
        bins = _BINS if len(negatives) + len(positives) >= _FEW else _BINS_OF_FEW
        edges = _edges(*_span([negatives, positives, np.array([threshold])]), bins, threshold)
        outer = [scores[[0, -1]] for scores in (negatives, positives) if len(scores)]
        return cls(
            edges=edges,
            negative=_counts(negatives, edges),
            positive=_counts(positives, edges),
            has_tails=any(ends[0] < edges[0] or ends[1] > edges[-1] for ends in outer),
        )


def _counts(scores: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    up_to = np.searchsorted(scores, edges, side="right")
    up_to[0], up_to[-1] = 0, len(scores)
    return np.diff(up_to)


def _edges(low: float, high: float, bins: int, threshold: float) -> NDArray[np.float64]:
    """Even edges over [low, high], moved by less than a bin so that the threshold is one of them, exactly."""
    if not low <= threshold <= high:
        return np.linspace(low, high, bins + 1)
    width = (high - low) / (bins - 1)
    below = int(np.ceil((threshold - low) / width))
    return threshold + width * (np.arange(bins + 1) - below)


def _span(samples: list[NDArray[np.float64]]) -> tuple[float, float]:
    finite = [sample[np.isfinite(sample)] for sample in samples]
    ends = np.array([np.quantile(sample, _TAILS) for sample in finite if len(sample)]).reshape(-1, 2)
    if len(ends) == 0:
        return -0.5, 0.5
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = 0.5 * max(abs(low), 1.0)
        return low - half, high + half
    margin = 0.02 * (high - low)
    return low - margin, high + margin
