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
    """Counts per bin; scores outside the edges are counted in the first and the last bin.

    Parameters
    ----------
    edges : ndarray, shape (b + 1,)
    negative, positive : ndarray of int, shape (b,)
    has_tails : bool
        Whether scores outside the edges were counted in the end bins.
    """

    edges: NDArray[np.float64]
    negative: NDArray[np.int64]
    positive: NDArray[np.int64]
    has_tails: bool

    @classmethod
    def of(cls, negatives: NDArray[np.float64], positives: NDArray[np.float64], *also: float) -> ScoreHistogram:
        """Count sorted scores; the edges also span the thresholds in ``also``.

        Examples
        --------
        >>> histogram = ScoreHistogram.of(np.arange(10.0), np.array([5.0, 12.0]), 11.0)
        >>> int(histogram.negative.sum()), int(histogram.positive.sum()), len(histogram.edges)
        (10, 2, 31)
        """
        low, high = _span([negatives, positives, np.asarray(also, dtype=np.float64)])
        bins = _BINS if len(negatives) + len(positives) >= _FEW else _BINS_OF_FEW
        edges = np.linspace(low, high, bins + 1)
        outer = [scores[[0, -1]] for scores in (negatives, positives) if len(scores)]
        return cls(
            edges=edges,
            negative=np.histogram(np.clip(negatives, low, high), edges)[0],
            positive=np.histogram(np.clip(positives, low, high), edges)[0],
            has_tails=any(ends[0] < low or ends[1] > high for ends in outer),
        )


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
