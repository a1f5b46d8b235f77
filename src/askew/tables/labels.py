"""Labels: one reader for every door, whatever holds them.

One label has many spellings: a table says True, 1, 1.0, "1" or " 1", depending on the program that wrote it. Labels are
told apart by :func:`canonical_label` only, and called what they are in the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError, ParameterError
from askew.sources import SparseBlock
from askew.sources.names import nearest

LABEL = "label"
"""What the labels of a svmlight file are called."""
MOST_LABELS = 1000
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_PLAIN_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)")
_TRUTH = {"true": "1", "false": "0"}


class Labels(NamedTuple):
    """Labels of some rows.

    Attributes
    ----------
    found : tuple
        Each different label once, as Python values, the first of its spellings.
    codes : array of shape (n,)
        Which of them each row has.
    """

    found: tuple[Any, ...]
    codes: NDArray[np.int64]

    @property
    def keys(self) -> list[str]:
        """The canonical labels."""
        return [str(canonical_label(label)) for label in self.found]

    @property
    def values(self) -> NDArray[Any]:
        """The label of each row."""
        return np.array(self.found)[self.codes] if self.found else np.empty(0)


@dataclass(frozen=True)
class LabelCounts:
    """How often each label occurs.

    Attributes
    ----------
    counts : dict of str to int
        By canonical label.
    found : dict of str to label
        What each of them is in the data.
    """

    counts: dict[str, int] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, labels: Labels) -> LabelCounts:
        """The labels of some rows."""
        keys, counts = labels.keys, np.bincount(labels.codes, minlength=len(labels.found)).tolist()
        return cls().merge(cls(dict(zip(keys, counts, strict=True)), dict(zip(keys, labels.found, strict=True))))

    def merge(self, other: LabelCounts) -> LabelCounts:
        """The labels of both."""
        counts, found = dict(self.counts), dict(self.found)
        for key, count in other.counts.items():
            counts[key] = counts.get(key, 0) + count
            found[key] = shorter(found.get(key, other.found[key]), other.found[key])
        if len(counts) > MOST_LABELS:
            raise DataError(
                f"The target has more than {MOST_LABELS:,} different values: it is a quantity, not a label. "
                "Choose another column, or make one that says yes or no."
            )
        return LabelCounts(counts, found)


def read_labels(values: Any, name: str | None = None, first_row: int = 0) -> Labels:
    """Labels of a block, whatever holds them; a missing one is refused, and so is what names no class.

    Parameters
    ----------
    values : Arrow column, series or array
    name : str, optional
        Of the target, for messages.
    first_row : int
        Number of the first row, for messages.

    Examples
    --------
    >>> labels = read_labels(np.array([" ok", "fraud", "ok"], dtype=object))
    >>> labels.found, labels.codes.tolist()
    (('ok', 'fraud'), [0, 1, 0])
    """
    who = "the target" if name is None else f"The target {name!r}"
    found, codes = (
        _of_arrow(values, who) if hasattr(values, "dictionary_encode") else _of_array(np.asarray(values), who)
    )
    keys = [canonical_label(label) for label in found]
    if None not in keys and len(set(keys)) == len(keys):
        return Labels(tuple(found), codes)
    place: dict[str, int] = {}
    places = np.array([-1 if key is None else place.setdefault(key, len(place)) for key in keys], np.int64)
    codes = places[codes]
    missing = codes < 0
    if missing.any():
        raise DataError(
            f"{who} is missing or NaN in row {int(np.argmax(missing)) + first_row + 1:,}, and in "
            f"{int(missing.sum()):,} rows here in all. Every row needs a label: remove such rows, or fill them."
        )
    shown: dict[str, Any] = {}
    for key, label in zip(keys, found, strict=True):
        if key is not None:
            shown[key] = shorter(shown.get(key, label), label)
    return Labels(tuple(shown[key] for key in place), codes)


def labels_of(block: Any, name: str, first_row: int = 0) -> Labels:
    """The target's values in a block of a table or of svmlight rows."""
    if isinstance(block, SparseBlock):
        return read_labels(block.y, name, first_row)
    if name not in block.column_names:
        raise ParameterError(f"There is no column {name!r}. {nearest(name, block.column_names)}")
    return read_labels(block.column(name), name, first_row)


def _of_arrow(values: Any, who: str) -> tuple[list[Any], NDArray[np.int64]]:
    """Each different value once, and the number of each row's value; None for null."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks else pa.array([], values.type)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)  # a dictionary may hold what no row is, and one value twice
    if pa.types.is_temporal(values.type) or pa.types.is_nested(values.type):
        raise _no_class(who, str(values.type))
    encoded = values.dictionary_encode()
    found = [_plain(label) for label in encoded.dictionary.to_pylist()]
    codes = encoded.indices.cast(pa.int64())
    if codes.null_count:
        found, codes = [*found, None], codes.fill_null(len(found))
    return found, codes.to_numpy(zero_copy_only=False)


def _of_array(labels: NDArray[Any], who: str) -> tuple[list[Any], NDArray[np.int64]]:
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"A label for each row is needed; got an array of shape {labels.shape}.")
    if labels.dtype.kind in "mM":
        raise _no_class(who, str(labels.dtype))
    if labels.dtype.kind != "O":
        found, codes = _unique(labels)
        return found.tolist(), codes
    place: dict[Any, int] = {}
    try:
        codes = np.array([place.setdefault(label, len(place)) for label in labels], np.int64)
    except TypeError as error:  # a list, which has no hash
        raise _no_class(who, "object") from error
    found = [_plain(label) for label in place]
    kinds = {isinstance(label, str) for label in found if canonical_label(label) is not None}
    strange = next((label for label in found if isinstance(label, (date, time, timedelta))), None)
    if strange is not None:
        raise _no_class(who, type(strange).__name__)
    if len(kinds) > 1:
        raise DataError(f"{who} holds numbers and text. Make them one type.")
    return found, codes


def _plain(label: Any) -> Any:
    """A label as Python has it; a decimal, which is how a data base keeps its integers, as a plain number."""
    if isinstance(label, Decimal):
        return int(label) if label == label.to_integral_value() and abs(label) < 2**53 else float(label)
    return label.item() if hasattr(label, "item") else label


def _no_class(who: str, kind: str) -> DataError:
    return DataError(
        f"{who} holds {kind}, which names no class. Name a column of numbers, truth values or text, or make one of it, "
        "for instance by comparing it with a day."
    )


def shorter(label: Any, other: Any) -> Any:
    """One of two spellings of a label, whatever their order."""
    return min(label, other, key=lambda each: (len(str(each)), str(each)))


def canonical_label(value: object) -> str | None:
    """The one spelling of a label, None where it is missing.

    Blanks around it do not count. True and False are 1 and 0, a text that is a plain number is that number, and NaN is
    missing. Every other text stays as it is: "01" is no plain number, and another label than "1".

    Examples
    --------
    >>> {canonical_label(value) for value in (True, 1, 1.0, "1", " 1", "1.0", "true")}
    {'1'}
    >>> canonical_label("fraud "), canonical_label("0.50"), canonical_label("01"), canonical_label("")
    ('fraud', '0.5', '01', None)
    """
    text = "" if value is None else str(value).strip()
    if text.lower() in ("", "nan", "-nan", "<na>", "nat"):
        return None
    if not (_PLAIN_NUMBER if isinstance(value, str) else _NUMBER).fullmatch(text):
        return _TRUTH.get(text.lower(), text)
    sign, digits, exponent = Decimal(text).as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    if not significant.strip("0"):
        return "0"
    number = Decimal(f"{'-' * sign}{significant}E{int(exponent) + len(digits) - len(significant)}")
    return f"{number:f}" if abs(number.adjusted()) < 40 else str(number)


def known_label(value: object, known: Iterable[str]) -> str | None:
    """Which of the known canonical labels a value is, upper and lower case alike if need be; None for none of them.

    Examples
    --------
    >>> known_label("True", {"0": 97, "1": 3}), known_label("YES", {"no": 97, "yes": 3}), known_label(9, {"0": 97})
    ('1', 'yes', None)
    """
    label, labels = canonical_label(value), list(known)
    if label is None or label in labels:
        return label
    return next((each for each in labels if each.lower() == label.lower()), None)


def encode_labels(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes of an array of labels in order, and the number of each row's class; spellings of one label are one.

    Examples
    --------
    >>> classes, codes = encode_labels(np.array(["0", "1.0", "1", " 1"]))
    >>> classes.tolist(), codes.tolist()
    (['0', '1'], [0, 1, 1, 1])
    """
    found, codes = _unique(y)
    if y.dtype.kind in "biuf":
        return found, codes
    labels = read_labels(found)
    classes, order = np.unique(np.array(labels.found, dtype=found.dtype), return_inverse=True)
    return classes, order[labels.codes][codes].astype(np.int64, copy=False)


def places_among(labels: Iterable[Any], classes: Iterable[Any]) -> NDArray[np.int64]:
    """Which of the classes each label is, however it is spelled; -1 for none of them.

    Examples
    --------
    >>> places_among(["1", "ok"], [0, 1]).tolist()
    [1, -1]
    """
    place = {canonical_label(label): code for code, label in enumerate(classes)}
    return np.array([place.get(canonical_label(label), -1) for label in labels], np.int64)


def _unique(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if y.dtype.kind not in "biuf":
        found, codes = np.unique(y, return_inverse=True)
        return found, codes.astype(np.int64, copy=False)
    found = np.unique(y)  # an inverse would sort all the rows; finding each among a few classes is far cheaper
    return found, np.searchsorted(found, y).astype(np.int64, copy=False)
