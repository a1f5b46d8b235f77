"""What y asks of MomentSVC: two classes, several, or several labels at once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from askew.exceptions import DataError, ParameterError


@dataclass(frozen=True)
class Targets:
    """y as one membership column per machine.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    codes : array of shape (n_samples,)
        Class number of each row; empty for several labels.
    member : array of shape (n_samples, n_machines)
    positive : int
        With two classes, the number of the one modelled by points.
    is_multilabel : bool
    """

    classes: NDArray[Any]
    codes: NDArray[np.int64]
    member: NDArray[np.bool_]
    positive: int
    is_multilabel: bool

    @property
    def is_single(self) -> bool:
        """Whether one machine decides."""
        return not self.is_multilabel and len(self.classes) == 2

    @property
    def sign(self) -> float:
        """+1 when a positive score means ``classes[1]``, −1 when it means ``classes[0]``."""
        return -1.0 if self.is_single and self.positive == 0 else 1.0


def read_targets(y: Any, weight: NDArray[np.float64], pos_label: Any) -> Targets:
    """Targets of a whole fit: every class must have rows of positive weight."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if _is_indicator(y) or (not _is_plain(y) and type_of_target(y, input_name="y") == "multilabel-indicator"):
        return _read_labels(y, weight)
    if not _is_plain(y):
        check_classification_targets(y)
    if getattr(y, "ndim", 1) != 1:
        raise DataError(f"y must be one label per row or an indicator matrix of labels; got shape {y.shape}.")
    classes = np.unique(y[weight > 0])
    if len(classes) < 2:
        raise DataError(
            "MomentSVC needs rows of at least two classes with positive weight; got one class, "
            f"{classes.tolist()[0]!r}. "
            "With positives and moments of the negatives, use fit_from_moments; with normal rows only, OneClassSVM."
        )
    known = np.isin(y, classes)
    targets = read_classes(np.where(known, y, classes[0]), classes, pos_label)
    targets.member[~known] = False
    return targets


def read_classes(y: Any, classes: Any, pos_label: Any) -> Targets:
    """Targets of rows whose classes are known beforehand."""
    if classes is None:
        raise ParameterError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
    classes = np.unique(np.asarray(classes))
    if len(classes) < 2:
        raise DataError(f"MomentSVC needs at least two classes; got {classes.tolist()}.")
    codes = np.searchsorted(classes, y) if len(y) else np.empty(0, np.int64)
    codes = np.minimum(codes, len(classes) - 1)
    if len(y) and not np.array_equal(classes[codes], y):
        stranger = np.asarray(y)[classes[codes] != y][0]
        raise DataError(f"y holds {stranger!r}, which is not among classes={classes.tolist()}.")
    positive = _positive(classes, pos_label)
    if len(classes) == 2:
        member = (codes == positive)[:, None]
    else:
        member = codes[:, None] == np.arange(len(classes))
    return Targets(classes, codes, member, positive, False)


def _positive(classes: NDArray[Any], pos_label: Any) -> int:
    if pos_label is None or len(classes) > 2:
        return 1
    found = np.flatnonzero(classes == pos_label)
    if len(found) == 0:
        raise ParameterError(f"pos_label={pos_label!r} is not among the classes of y: {classes.tolist()}.")
    return int(found[0])


def _is_plain(y: Any) -> bool:
    """Whether y is a column of whole numbers, which are labels as they are; scikit-learn's tests sort all of it."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biu"


def _is_indicator(y: Any) -> bool:
    """Whether y is an array of several columns of 0 and 1; scikit-learn's own test sorts all of it."""
    if not (isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biu" and y.size):
        return False
    return y.dtype.kind == "b" or bool(y.min() >= 0 and y.max() <= 1)


def _read_labels(y: Any, weight: NDArray[np.float64]) -> Targets:
    member = np.asarray(y.toarray() if hasattr(y, "toarray") else y) != 0
    counts = weight > 0
    empty = np.flatnonzero(~(member if counts.all() else member[counts]).any(axis=0))
    if len(empty):
        warnings.warn(
            f"{len(empty)} labels have no positive row (the first is number {empty[0]}); they are never predicted.",
            stacklevel=4,
        )
    return Targets(np.arange(member.shape[1]), np.empty(0, np.int64), member, 1, True)
