"""From a user's ``class_weight`` to one factor per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError

NARROW = 10_000  # values between the least and the largest label


def weights_of_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Factor of each class: 1 for None, the given one for a dict, total / (n_classes · class total) for "balanced".

    Totals are sums of sample weights, so that weights stay equal to repetition.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        return weight.sum() / (len(classes) * np.bincount(codes, weight, minlength=len(classes)))
    unknown = [label for label in class_weight if label not in classes]
    if unknown:
        raise ParameterError(
            f"class_weight names {unknown[0]!r}, which is not among the classes of y: {classes.tolist()}."
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not np.all(factors > 0) or not np.all(np.isfinite(factors)):
        raise ParameterError(f"class_weight must be positive and finite for every class; got {class_weight!r}.")
    return factors


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in order, and the number of each row's class among them."""
    if y.dtype.kind not in "biuf":
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.int64, copy=False)
    classes = _distinct(y)  # an inverse would sort all the rows; finding each among a few classes is far cheaper
    return classes, np.searchsorted(classes, y).astype(np.int64, copy=False)


def _distinct(y: NDArray[Any]) -> NDArray[Any]:
    """The distinct values, sorted; whole numbers in a narrow range are counted, which is far cheaper."""
    least, largest = (int(y.min()), int(y.max())) if y.dtype.kind in "iu" and len(y) else (0, NARROW)
    if largest - least >= NARROW or y.dtype == np.uint64:
        return np.unique(y)
    return (np.flatnonzero(np.bincount(y.astype(np.int64, copy=False) - least)) + least).astype(y.dtype)
