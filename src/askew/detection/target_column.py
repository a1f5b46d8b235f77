"""The column that says which rows are the rare event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.estimators.table_category import as_text
from askew.exceptions import DataError, ParameterError
from askew.sources import SparseBlock
from askew.sources.names import nearest

LABEL = "label"
"""What the labels of a svmlight file are called."""


@dataclass(frozen=True)
class TargetColumn:
    """Which column, and which of its values is the event.

    Parameters
    ----------
    name : str
    positive : str
        The value, as text.
    counts : mapping of str to int
        How often each value occurred.
    """

    name: str
    positive: str
    counts: Mapping[str, int]

    @classmethod
    def chosen(cls, name: str, counts: Mapping[str, int], positive: str | None) -> TargetColumn:
        """Decide on the positive value: the one asked for, or the rarer one of two."""
        if len(counts) < 2:
            only = next(iter(counts), None)
            raise DataError(
                f"The target {name!r} has one value only, {only!r}, so there is nothing to tell apart. Give data with "
                "both kinds of rows, or use --one-class when all rows are normal."
            )
        if positive is not None:
            positive = next((value for value in counts if value.lower() == positive.lower()), positive)
            if positive not in counts:
                raise ParameterError(
                    f"The target {name!r} never takes the value {positive!r}. {nearest(positive, counts)}"
                )
            return cls(name, positive, dict(counts))
        if len(counts) > 2:
            ranked = sorted(counts.items(), key=lambda item: item[1])
            shown = ", ".join(f"{value!r} ({count:,})" for value, count in ranked[:8])
            raise ParameterError(
                f"The target {name!r} has {len(counts)} values. Say which one is the event with --positive VALUE: "
                f"{shown}{', …' if len(ranked) > 8 else ''}."
            )
        return cls(name, min(counts, key=lambda value: (counts[value], value)), dict(counts))

    @property
    def n_positive(self) -> int:
        return self.counts[self.positive]

    @property
    def n_negative(self) -> int:
        return sum(self.counts.values()) - self.n_positive

    def is_positive(self, block: Any, first_row: int = 0) -> NDArray[np.bool_]:
        """Which rows of a block are the event."""
        import pyarrow.compute as pc

        labels = labels_of(block, self.name, first_row)
        return pc.equal(labels, self.positive).to_numpy(zero_copy_only=False)


def labels_of(block: Any, name: str, first_row: int = 0) -> Any:
    """The target's values of a block as Arrow strings; a missing one is an error that says where."""
    import pyarrow as pa

    if isinstance(block, SparseBlock):
        return as_text(pa.array(block.y))
    if name not in block.column_names:
        raise ParameterError(f"There is no column {name!r}. {nearest(name, block.column_names)}")
    values = block.column(name)
    if pa.types.is_floating(values.type):
        values = pa.array(values.to_numpy(zero_copy_only=False), from_pandas=True)  # NaN is missing, too
    labels = as_text(values)
    if labels.null_count:
        where = int(np.flatnonzero(labels.is_null().to_numpy(zero_copy_only=False))[0]) + first_row
        raise DataError(
            f"The target {name!r} is missing or NaN in row {where + 1:,} and maybe more. Every row needs a label: "
            "remove the rows without one, or fill them."
        )
    return labels


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
