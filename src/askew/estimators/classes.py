"""The classes of a classifier's training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from askew.arrays import fetched
from askew.exceptions import DataError


def read_classes(machine: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any, NDArray[np.int64]]:
    """Checked data of a kernel machine: X, the classes, the class number of each row, weights, which rows they are."""
    name = type(machine).__name__
    if y is None:
        raise DataError(f"{name} requires y to be passed, but the target y is None. Pass one class label per row.")
    check_classification_targets(fetched(y))
    X, y, weight, rows = machine._read_training(X, y, sample_weight)
    classes, codes = encode(y)
    if len(classes) < 2:
        raise DataError(
            f"{name} needs rows of at least two classes with positive weight; got one class, "
            f"{classes.tolist()[0]!r}. With normal rows only, use OneClassSVM or CovarianceOneClassSVM."
        )
    return X, classes, codes, weight, rows


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in order, and the number of each row's class among them."""
    if y.dtype.kind not in "biuf":
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.astype(np.int64, copy=False)
    classes = np.unique(y)  # an inverse would sort all the rows; finding each among a few classes is far cheaper
    return classes, np.searchsorted(classes, y).astype(np.int64, copy=False)
