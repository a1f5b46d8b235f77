"""The NP-ROC as a page draws it: what thresholds that carry a promise catch, between two limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError

__all__ = ["GuaranteedBand"]


@dataclass(frozen=True, eq=False)
class GuaranteedBand:
    """Limits for the share caught at each rate that can be promised.

    Parameters
    ----------
    tolerance, lower, upper : ndarray, shape (g,)
        ``tolerance`` increases from the smallest rate that can be promised.
    threshold : ndarray, shape (g,), or None
        Where the promise puts the threshold, if it was told.
    confidence : float or None
    """

    tolerance: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    threshold: NDArray[np.float64] | None = None
    confidence: float | None = None

    @classmethod
    def of(cls, np_roc: Any) -> GuaranteedBand:
        """Band of an `askew.tolerance.NpRoc`, or of three arrays (tolerances, lower, upper).

        Examples
        --------
        >>> GuaranteedBand.of(([0.01, 0.1], [0.5, 0.7], [0.8, 0.9])).upper.tolist()
        [0.8, 0.9]
        """
        if hasattr(np_roc, "tolerance"):
            columns = (np_roc.tolerance, np_roc.lower, np_roc.upper)
            threshold, confidence = getattr(np_roc, "threshold", None), getattr(np_roc, "confidence", None)
        else:
            columns, threshold, confidence = tuple(np_roc), None, None
        arrays = [np.asarray(column, dtype=np.float64) for column in columns]
        if len(arrays) != 3 or arrays[0].ndim != 1 or len({a.shape for a in arrays}) != 1 or len(arrays[0]) == 0:
            raise DataError(
                "np_roc must be an NpRoc or three vectors of one length: tolerances, lower, upper; got shapes "
                f"{[a.shape for a in arrays]}."
            )
        if not (np.diff(arrays[0]) > 0.0).all() or not arrays[0][0] > 0.0:
            raise DataError("np_roc must have tolerances that are positive and increase.")
        threshold = None if threshold is None else np.asarray(threshold, dtype=np.float64)
        return cls(*arrays, threshold=threshold, confidence=confidence)
