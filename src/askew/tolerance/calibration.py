"""What is kept of the held-out rows: their scores, turned so that high means alarm, and sorted once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.tolerance.score import refuse_nan

__all__ = ["Calibration", "one_per_group"]

# How many units in the last place the same row may score apart in two calls: sums over features run in
# another order when rows come in another batch (3 ulp were seen with logistic regression, one row against
# many).
_ULPS = 64


@dataclass(frozen=True)
class Calibration:
    """Sorted alarm scores of rows that took no part in the training.

    Parameters
    ----------
    negatives : ndarray of float64, ascending
        One per negative row, or one per group.
    positives : ndarray of float64, ascending
        The same for positives. They say what a threshold catches and never where it stands; may be empty.
    precision : float
        Spacing of the floating-point numbers the scores were computed in, relative to 1.

    Examples
    --------
    >>> calibration = Calibration.of([0.3, 0.1, 0.2], positives=[0.25, 0.9])
    >>> calibration.negatives_above(0.2), calibration.positives_above(0.2)
    (1, 2)
    """

    negatives: NDArray[np.float64]
    positives: NDArray[np.float64]
    precision: float = float(np.finfo(np.float64).eps)

    @classmethod
    def of(cls, negatives: ArrayLike, positives: ArrayLike = ()) -> Calibration:
        """Sort a copy of the scores."""
        given = np.asarray(negatives)
        is_narrow = given.dtype.kind == "f" and given.dtype.itemsize < 8
        precision = np.finfo(given.dtype if is_narrow else np.float64).eps
        return cls(_sorted(given), _sorted(positives), float(precision))

    @property
    def n(self) -> int:
        """Number of negatives, or of groups with negatives."""
        return len(self.negatives)

    def distances(self, value: float) -> Calibration:
        """The scores as distances from a threshold, 0 at it also where both are infinite."""
        parts = []
        for scores in (self.negatives, self.positives):
            distance = np.zeros_like(scores)
            np.subtract(scores, value, out=distance, where=scores != value)
            parts.append(distance)
        return Calibration(*parts, precision=self.precision)

    def threshold(self, rank: int) -> float:
        """T₍ₖ₎, raised by the rounding that could lift a row tied with it above it in another batch.

        With discrete scores a whole atom of negatives may sit at T₍ₖ₎; were one of its rows scored a bit
        higher later, "score > T₍ₖ₎" would let the atom through and void the promise.
        """
        at = self.negatives[rank - 1]
        if not np.isfinite(at):
            return float(at)
        middle = self.negatives[self.n // 2]
        scale = max(abs(at), abs(at - middle) if np.isfinite(middle) else 0.0)
        return float(at + _ULPS * self.precision * scale)

    def negatives_above(self, threshold: float) -> int:
        """Number of negatives with score > threshold."""
        return self.n - int(np.searchsorted(self.negatives, threshold, side="right"))

    def positives_above(self, threshold: float) -> int:
        """Number of positives with score > threshold."""
        return len(self.positives) - int(np.searchsorted(self.positives, threshold, side="right"))

    def extended(self, negatives: NDArray[np.float64]) -> Calibration:
        """With more negatives; two sorted runs merge in linear time."""
        both = np.concatenate([self.negatives, np.sort(negatives)])
        return replace(self, negatives=np.sort(both, kind="stable"))


def one_per_group(scores: NDArray[np.float64], groups: ArrayLike) -> NDArray[np.float64]:
    """Highest score of each group.

    Examples
    --------
    >>> one_per_group(np.array([0.1, 0.7, 0.4]), ["ann", "bob", "ann"]).tolist()
    [0.4, 0.7]
    """
    if len(scores) == 0:
        return scores
    names, member = np.unique(np.asarray(groups), return_inverse=True)
    highest = np.full(len(names), -np.inf)
    np.maximum.at(highest, member, scores)
    return highest


def _sorted(scores: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64).ravel()
    refuse_nan(values, "calibration scores")
    return np.sort(values)
