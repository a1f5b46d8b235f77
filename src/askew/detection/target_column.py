"""The column that says which rows are the rare event.

One label has many spellings: a table says True, 1, 1.0, "1" or " 1", depending on the program that wrote it. Every
label is read through :func:`canonical_label`, so that a model and new rows mean the same by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError, ParameterError
from askew.sources import SparseBlock
from askew.sources.names import nearest

LABEL = "label"
"""What the labels of a svmlight file are called."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_TRUTH = {"true": "1", "false": "0"}


@dataclass(frozen=True)
class TargetColumn:
    """Which column, and which of its values is the event.

    Parameters
    ----------
    name : str
    positive : str
        The canonical label of the event.
    counts : mapping of str to int
        Every canonical label that is known, and how often it occurred. Empty when no label is known beforehand, as
        for a detector of normal rows: then every other label is a negative.
    """

    name: str
    positive: str
    counts: Mapping[str, int]

    @classmethod
    def chosen(cls, name: str, counts: Mapping[str, int], positive: str | None) -> TargetColumn:
        """Decide on the positive label: the one asked for, or the rarer one of two."""
        if len(counts) < 2:
            only = next(iter(counts), None)
            raise DataError(
                f"The target {name!r} has one value only, {only!r}, so there is nothing to tell apart. Give data with "
                "both kinds of rows, or use --one-class when all rows are normal."
            )
        if positive is not None:
            known = known_label(positive, counts)
            if known is None:
                raise ParameterError(
                    f"The target {name!r} never takes the value {positive!r}. {nearest(positive, counts)}"
                )
            return cls(name, known, dict(counts))
        if len(counts) > 2:
            ranked = sorted(counts.items(), key=lambda item: item[1])
            shown = ", ".join(f"{value!r} ({count:,})" for value, count in ranked[:8])
            raise ParameterError(
                f"The target {name!r} has {len(counts)} values. Say which one is the event with --positive VALUE: "
                f"{shown}{', …' if len(ranked) > 8 else ''}."
            )
        return cls(name, min(counts, key=lambda value: (counts[value], value)), dict(counts))

    @classmethod
    def of_model(cls, target: Mapping[str, Any], name: str | None, positive: str | None) -> TargetColumn:
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
        return cls(name or target["name"], event, counts)

    @property
    def n_positive(self) -> int:
        return self.counts[self.positive]

    @property
    def n_negative(self) -> int:
        return sum(self.counts.values()) - self.n_positive

    def is_positive(self, labels: Any, first_row: int = 0) -> NDArray[np.bool_]:
        """Which of the canonical labels are the event; a label that is not known is an error that says where."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.counts:
            is_known = pc.is_in(labels, value_set=pa.array(list(self.counts), pa.string()))
            strange = np.flatnonzero(~is_known.to_numpy(zero_copy_only=False))
            if len(strange):
                stranger = labels[int(strange[0])].as_py()
                raise DataError(
                    f"The target {self.name!r} is {stranger!r} in row {strange[0] + first_row + 1:,}, which is none of "
                    f"the labels of the fit, {_listed(self.counts)}. Whether such a row is the event cannot be told: "
                    "spell the labels as in the fit, remove such rows, or name another column with --target."
                )
        return pc.equal(labels, self.positive).to_numpy(zero_copy_only=False)

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


def canonical_label(value: object) -> str | None:
    """The one spelling of a label, None where it is missing.

    Blanks around it do not count. True and False are 1 and 0, a text that is a number is that number, and NaN is
    missing. Every other text stays as it is.

    Examples
    --------
    >>> {canonical_label(value) for value in (True, 1, 1.0, "1", " 1", "1.0", "true")}
    {'1'}
    >>> canonical_label("fraud "), canonical_label("0.50"), canonical_label(""), canonical_label(float("nan"))
    ('fraud', '0.5', None, None)
    """
    text = "" if value is None else str(value).strip()
    if text.lower() in ("", "nan", "-nan"):
        return None
    if not _NUMBER.fullmatch(text):
        return _TRUTH.get(text.lower(), text)
    sign, digits, exponent = Decimal(text).as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    if not significant.strip("0"):
        return "0"
    number = Decimal(f"{'-' * sign}{significant}E{int(exponent) + len(digits) - len(significant)}")
    return f"{number:f}" if abs(number.adjusted()) < 40 else str(number)


def known_label(value: object, known: Mapping[str, int]) -> str | None:
    """Which of the known canonical labels a value is, upper and lower case alike if need be; None for none of them.

    Examples
    --------
    >>> known_label("True", {"0": 97, "1": 3}), known_label("YES", {"no": 97, "yes": 3}), known_label(9, {"0": 97})
    ('1', 'yes', None)
    """
    label = canonical_label(value)
    if label is None or label in known:
        return label
    return next((each for each in known if each.lower() == label.lower()), None)


def labels_of(block: Any, name: str, first_row: int = 0) -> Any:
    """The target's values of a block as canonical labels, Arrow strings; a missing one is an error that says where."""
    import pyarrow as pa

    if isinstance(block, SparseBlock):
        values = pa.array(block.y)
    elif name in block.column_names:
        values = block.column(name)
    else:
        raise ParameterError(f"There is no column {name!r}. {nearest(name, block.column_names)}")
    labels = _canonical(values, name)
    if labels.null_count:
        where = int(np.flatnonzero(labels.is_null().to_numpy(zero_copy_only=False))[0]) + first_row
        raise DataError(
            f"The target {name!r} is missing or NaN in row {where + 1:,} and maybe more. Every row needs a label: "
            "remove the rows without one, or fill them."
        )
    return labels


def _canonical(values: Any, name: str) -> Any:
    """An Arrow column of any type as canonical labels; each different value is looked at once."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    try:
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)  # a dictionary may hold what no row is, and one value twice
        encoded = values.dictionary_encode()
        texts = encoded.dictionary.cast(pa.string()).to_pylist()
    except pa.ArrowException as error:
        raise DataError(
            f"The target {name!r} holds {values.type}, which names no class. Name a column of numbers, truth values or "
            "text with --target."
        ) from error
    return pa.array([canonical_label(text) for text in texts], pa.string()).take(encoded.indices)


def _listed(labels: Mapping[str, int]) -> str:
    shown = " and ".join(map(repr, labels)) if len(labels) < 3 else ", ".join(map(repr, list(labels)[:8]))
    return shown + (", …" if len(labels) > 8 else "")


def count_labels(counts: dict[str, int], labels: Any, name: str) -> None:
    """Add the labels of a block to ``counts``."""
    import pyarrow.compute as pc

    for entry in pc.value_counts(labels):
        value = entry["values"].as_py()
        counts[value] = counts.get(value, 0) + entry["counts"].as_py()
    if len(counts) > 1000:
        raise DataError(
            f"The target {name!r} has more than 1,000 different values: it is a quantity, not a label. "
            "Choose another column, or make one that says yes or no."
        )
