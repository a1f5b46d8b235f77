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
