"""Which rows are negatives, and which of the two labels is the alarm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from askew.exceptions import DataError, ParameterError

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """Labels of a two-class problem, seen from the alarm.

    Parameters
    ----------
    labels : ndarray, shape (2,)
        Both labels in sorted order.
    alarm : {0, 1}
        Index of the label that an alarm stands for.
    is_negative : ndarray of bool, shape (n,)
        Rows that should raise no alarm.

    Examples
    --------
    >>> target = Target.of_classes(["ok", "fraud", "ok"], pos_label="fraud")
    >>> target.alarm, target.is_negative.tolist()
    (0, [True, False, True])
    """

    labels: NDArray
    alarm: int
    is_negative: NDArray[np.bool_]

    @classmethod
    def of_normal(cls, n_rows: int) -> Target:
        """Rows without labels, as a one-class detector is given them: all normal; the alarm is −1."""
        return cls(np.array([-1, 1]), 0, np.ones(n_rows, dtype=bool))

    @classmethod
    def of_classes(cls, y: ArrayLike, pos_label: object = None, known: ArrayLike | None = None) -> Target:
        """Labelled rows.

        ``known`` are the labels of an estimator that is already fitted; then y may hold negatives alone.
        """
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        labels = np.unique(y) if known is None else np.asarray(known)
        if known is not None and not np.isin(y, labels).all():
            raise DataError(f"y holds labels {np.setdiff1d(y, labels).tolist()} unknown to the fitted estimator.")
        _check_two(labels, y)
        alarm = 1 if pos_label is None else _position(labels, pos_label)
        is_negative = y == labels[1 - alarm]
        if not is_negative.any():
            raise DataError(
                f"y holds no negatives (label {labels[1 - alarm]!s}), and a false positive rate needs some."
            )
        return cls(labels, alarm, is_negative)

    def prevalence(self, groups: NDArray | None = None) -> float:
        """Share of rows that are positive, or of groups that hold a positive row."""
        if groups is None:
            return float(1.0 - self.is_negative.mean())
        return len(np.unique(groups[~self.is_negative])) / len(np.unique(groups))


def _check_two(labels: NDArray, y: NDArray) -> None:
    if len(labels) == 2:
        return
    if len(labels) < 2:
        raise DataError(
            f"ToleranceClassifier needs rows of both classes; y holds one class only, {labels.tolist()}. "
            "Where no positives exist, wrap a one-class detector and fit without y."
        )
    raise DataError(
        "Only binary classification is supported. The type of the target is "
        f"{type_of_target(y)}: {len(labels)} classes. Pass one class against the rest."
    )


def _position(labels: NDArray, pos_label: object) -> int:
    try:
        return labels.tolist().index(pos_label)
    except ValueError:
        raise ParameterError(f"pos_label={pos_label!r} must be one of the labels {labels.tolist()}.") from None
