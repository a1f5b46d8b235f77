"""The target: which rows are of the positive class, by one rule for every door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from askew.exceptions import DataError, ParameterError
from askew.findings import find, warn
from askew.sources.names import nearest
from askew.tables.labels import LabelCounts, Labels, canonical_label, encode_labels, known_label, places_among

_STANDARD = ({"0", "1"}, {"-1", "1"})


def positive_class(
    classes: Sequence[Any],
    weights: Sequence[float],
    pos_label: object = None,
    *,
    rows: Sequence[int] | None = None,
    is_said: bool = True,
) -> int:
    """Which of two classes is the positive one.

    Of {0, 1}, {-1, 1} and {False, True} the larger. Of anything else ``pos_label``; without it the rarer class, the
    second of two that are equally rare, said in a finding.

    Parameters
    ----------
    classes : sequence of two labels
    weights : sequence of two floats
        Weight of the rows of each class.
    pos_label : label, optional
    rows : sequence of two ints, optional
        Rows of each class, which decide between equal weights.
    is_said : bool
        Whether a choice by rarity is said in a finding.

    Returns
    -------
    {0, 1}

    Examples
    --------
    >>> positive_class([-1, 1], [3.0, 97.0]), positive_class(["fraud", "ok"], [3.0, 97.0], "fraud")
    (1, 0)
    """
    keys = [canonical_label(each) for each in classes]
    if pos_label is not None:
        known = known_label(pos_label, [key for key in keys if key is not None])
        if known is None:
            raise ParameterError(
                f"pos_label={pos_label!r} is not among the classes of y: {_plain(classes)}. "
                f"{nearest(pos_label, _plain(classes))}"
            )
        return keys.index(known)
    if set(keys) in _STANDARD:
        return keys.index("1")
    first, second = (float(weight) for weight in weights)
    if np.isclose(first, second, rtol=1e-9, atol=0.0) and rows is not None:  # class weights that balance the classes
        first, second = rows
    positive = 0 if first < second else 1
    if is_said:
        shown = " and ".join(map(repr, _plain(classes)))
        warn(find("ASK104", positive=_plain(classes)[positive], known=shown))
    return positive


@dataclass(frozen=True)
class Target:
    """Which column, and which of its values is the event.

    Parameters
    ----------
    name : str
    positive : str
        The canonical label of the event.
    counts : mapping of str to int
        Every canonical label that is known, and how often it occurred. Empty when no label is known beforehand, as
        for a detector of normal rows: then every other label is a negative.
    found : mapping of str to label
        What each canonical label is in the data it was learnt from.
    """

    name: str
    positive: str
    counts: Mapping[str, int]
    found: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def chosen(cls, name: str, labels: LabelCounts, positive: object = None) -> Target:
        """The column whose labels were counted, and its positive class by :func:`positive_class`."""
        counts = labels.counts
        if len(counts) < 2:
            only = next(iter(counts), None)
            raise DataError(
                f"The target {name!r} has one value only, {only!r}, so there is nothing to tell apart. Give data with "
                "both kinds of rows, or use --one-class when all rows are normal."
            )
        if positive is not None and (known := known_label(positive, counts)) is None:
            raise ParameterError(f"The target {name!r} never takes the value {positive!r}. {nearest(positive, counts)}")
        if positive is None and len(counts) > 2:
            ranked = sorted(counts.items(), key=lambda item: item[1])
            shown = ", ".join(f"{value!r} ({count:,})" for value, count in ranked[:8])
            raise ParameterError(
                f"The target {name!r} has {len(counts)} values. Say which one is the event with --positive VALUE: "
                f"{shown}{', …' if len(ranked) > 8 else ''}."
            )
        if positive is None:
            keys = sorted(counts)
            known = keys[positive_class(keys, [counts[key] for key in keys])]
        return cls(name, str(known), dict(counts), dict(labels.found))

    @classmethod
    def of_model(cls, target: Mapping[str, Any], name: str | None, positive: str | None) -> Target:
        """The column of new rows that holds the labels a model was fitted with.

        Parameters
        ----------
        target : mapping
            The target in the card of the model.
        name : str or None
            What the column is called in the new rows; as in the fit by default.
        positive : str or None
            The event, which must be the one of the fit: the alarms of the model stand for no other.
        """
        counts: dict[str, int] = {}
        for value, count in target["counts"].items():  # cards of older files hold other spellings
            label = canonical_label(value) or value
            counts[label] = counts.get(label, 0) + count
        event = canonical_label(target["positive"]) or target["positive"]
        if positive is not None and (asked := known_label(positive, counts)) != event:
            why = f"knows no label {positive!r}" if asked is None else f"takes {asked!r} as one of the negatives"
            raise ParameterError(
                f"The model was fitted to find {event!r} in the column {target['name']!r} and {why}. Its labels are "
                f"{_listed(counts)}. Leave --positive out, or fit a model for that event."
            )
        return cls(name or target["name"], event, counts, dict(target.get("found", {})))

    @property
    def n_positive(self) -> int:
        return self.counts[self.positive]

    @property
    def n_negative(self) -> int:
        return sum(self.counts.values()) - self.n_positive

    def is_positive(self, labels: Labels, first_row: int = 0) -> NDArray[np.bool_]:
        """Which of the rows are the event; a label that is not known is an error that says where."""
        keys = labels.keys
        strange = np.array([bool(self.counts) and key not in self.counts for key in keys], bool)
        if strange.any():
            row = int(np.argmax(strange[labels.codes]))
            raise DataError(
                f"The target {self.name!r} is {keys[labels.codes[row]]!r} in row {row + first_row + 1:,}, which is "
                f"none of the labels of the fit, {_listed(self.counts)}. Whether such a row is the event cannot be "
                "told: spell the labels as in the fit, remove such rows, or name another column with --target."
            )
        return np.array([key == self.positive for key in keys], bool)[labels.codes]

    def check_seen(self, counts: Mapping[str, int]) -> None:
        """Refuse an event that none of the rows is, where no label was known beforehand.

        It may be misspelled. Of 0 and 1, and of −1 and 1, the event 1 may be absent.
        """
        if self.counts or self.positive in counts or {self.positive, *counts} in ({"0", "1"}, {"-1", "1"}):
            return
        raise ParameterError(
            f"The target {self.name!r} never takes the value {self.positive!r}, and the model knows no labels to "
            f"compare it with. {nearest(self.positive, counts)} Name the event with --positive, or the column that "
            "holds it with --target."
        )


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
    def pos_label(self) -> Any:
        """The class that is modelled by points, where there are two."""
        return self.classes[self.positive]

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
    classes, codes = encode_labels(y)
    weights = np.bincount(codes, weight, len(classes))
    if (weights > 0).sum() < 2:
        raise DataError(
            "MomentSVC needs rows of at least two classes with positive weight; got one class, "
            f"{classes[weights > 0].tolist()[0]!r}. "
            "With positives and moments of the negatives, use fit_from_moments; with normal rows only, OneClassSVM."
        )
    counts = np.bincount(codes[weight > 0], minlength=len(classes))[weights > 0]
    place = np.cumsum(weights > 0) - 1
    known = weights[codes] > 0
    return _targets(classes[weights > 0], np.where(known, place[codes], -1), weights[weights > 0], pos_label, counts)


def read_classes(y: Any, classes: Any, pos_label: Any, weights: Any = None, is_said: bool = True) -> Targets:
    """Targets of rows whose classes are known beforehand.

    Parameters
    ----------
    y : array of labels
    classes : array-like
        All labels that will ever come.
    pos_label : label or None
    weights : array-like, optional
        Of the classes in order, by which the rarer is told; by the rows of y without them.
    is_said : bool
        Whether a choice by rarity is said in a finding.
    """
    if classes is None:
        raise ParameterError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
    classes = encode_labels(np.asarray(classes))[0]
    if len(classes) < 2:
        raise DataError(f"MomentSVC needs at least two classes; got {classes.tolist()}.")
    found, codes = encode_labels(np.asarray(y)) if len(y) else (classes[:0], np.empty(0, np.int64))
    places = places_among(found, classes)
    if (places < 0).any():
        stranger = found[places < 0][0]
        raise DataError(f"y holds {stranger!r}, which is not among classes={classes.tolist()}.")
    codes = places[codes]
    counts = np.bincount(codes, minlength=len(classes))
    return _targets(classes, codes, counts if weights is None else weights, pos_label, counts, is_said)


def _targets(
    classes: Any, codes: NDArray[np.int64], weights: Any, pos_label: Any, rows: Any, is_said: bool = True
) -> Targets:
    if len(classes) > 2:
        return Targets(classes, codes, codes[:, None] == np.arange(len(classes)), 1, False)
    positive = positive_class(classes, weights, pos_label, rows=rows, is_said=is_said)
    return Targets(classes, codes, (codes == positive)[:, None], positive, False)


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
        warn(find("ASK106", n=len(empty), first=empty[0]))
    return Targets(np.arange(member.shape[1]), np.empty(0, np.int64), member, 1, True)


def _listed(labels: Mapping[str, int]) -> str:
    shown = " and ".join(map(repr, labels)) if len(labels) < 3 else ", ".join(map(repr, list(labels)[:8]))
    return shown + (", …" if len(labels) > 8 else "")


def _plain(labels: Iterable[Any]) -> list[Any]:
    """Labels as Python has them, for messages."""
    return [label.item() if hasattr(label, "item") else label for label in labels]
