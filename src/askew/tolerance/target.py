"""Which rows are negatives, and which of the two labels is the alarm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from askew.exceptions import DataError
from askew.tables import encode_labels, places_among, positive_class

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
    def of_classes(
        cls,
        y: ArrayLike,
        pos_label: object = None,
        known: ArrayLike | None = None,
        weight: NDArray[np.float64] | None = None,
    ) -> Target:
        """Labelled rows, the alarm by :func:`askew.tables.positive_class`.

        ``known`` are the labels of an estimator that is already fitted; then y may hold negatives alone.
        """
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        labels, codes = encode_labels(y)
        if known is not None:
            found, labels = labels, np.asarray(known)
            places = places_among(found, labels)
            if (places < 0).any():
                raise DataError(f"y holds labels {found[places < 0].tolist()} unknown to the fitted estimator.")
            codes = places[codes]
        _check_two(labels, y)
        rows = np.bincount(codes, minlength=2)
        weights = rows if weight is None else np.bincount(codes, weight, 2)
        alarm = positive_class(labels, weights, pos_label, rows=rows)
        is_negative = codes != alarm
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
