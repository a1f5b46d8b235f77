"""One column of categories on its way from a table to a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
MOST_LEVELS = 10_000  # different values beyond which a column is taken for an identifier


class CategoryColumn:
    """One 0/1 column per frequent level, one for all others together, one for missing values.

    Parameters
    ----------
    name : str
    max_levels : int
        Levels that get a column of their own, the most frequent ones.
    """

    kind = "category"

    def __init__(self, name: str, max_levels: int) -> None:
        self.name, self.max_levels = name, max_levels
        self.counts: dict[str, int] = {}
        self.n_missing = self.n_rows = 0
        self.is_identifier = False

    def learn(self, values: Any) -> None:
        """Take in a block."""
        import pyarrow.compute as pc

        self.n_rows += len(values)
        if self.is_identifier:
            return
        self.n_missing += values.null_count
        for entry in pc.value_counts(as_text(values).drop_null()):
            level = entry["values"].as_py()
            self.counts[level] = self.counts.get(level, 0) + entry["counts"].as_py()
        if len(self.counts) > MOST_LEVELS:
            self.is_identifier, self.counts = True, {}

    @property
    def why_dropped(self) -> str:
        """Why it cannot help, or ""."""
        if self.is_identifier:
            return f"more than {MOST_LEVELS:,} different values, an identifier"
        if not self.counts:
            return "no values"
        if len(self.counts) == 1 and not self.n_missing:
            return f"always {next(iter(self.counts))!r}"
        if len(self.counts) > 20 and len(self.counts) > 0.9 * (self.n_rows - self.n_missing):
            return f"{len(self.counts)} different values in {self.n_rows} rows, an identifier"
        return ""

    @property
    def levels(self) -> list[str]:
        """Levels with a column of their own, the most frequent first; equal counts by name."""
        ranked = sorted(self.counts, key=lambda level: (-self.counts[level], level))
        return ranked[: self.max_levels]

    @property
    def has_others(self) -> bool:
        return len(self.counts) > self.max_levels

    def names_out(self) -> list[str]:
        names = [f"{self.name}={level}" for level in self.levels]
        if self.has_others:
            names.append(f"{self.name} is another")
        if self.n_missing:
            names.append(f"{self.name} is missing")
        return names

    def means_out(self) -> list[float]:
        """Mean of each prepared column over the rows learnt from."""
        levels = self.levels
        counts = [self.counts[level] for level in levels]
        if self.has_others:
            counts.append(sum(self.counts.values()) - sum(counts))
        if self.n_missing:
            counts.append(self.n_missing)
        return [count / self.n_rows for count in counts]

    def write(self, values: Any, out: Vector) -> None:
        """Fill the prepared columns of a block; a level never seen counts as another, or else as none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        levels, text = self.levels, as_text(values)
        codes = pc.index_in(text, value_set=pa.array(levels, pa.string()))
        position = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False)
        is_missing = pc.is_null(text).to_numpy(zero_copy_only=False)
        if self.has_others:
            position = np.where((position < 0) & ~is_missing, len(levels), position)
        out[:] = 0.0
        known = np.flatnonzero(position >= 0)
        out[known, position[known]] = 1.0
        if self.n_missing:
            out[:, -1] = is_missing

    def explain(self) -> str:
        """What is done, for a person."""
        shown = ", ".join(self.levels[:6]) + (", …" if len(self.levels) > 6 else "")
        parts = [f"{len(self.levels)} levels ({shown})"]
        if self.has_others:
            parts.append(f"{len(self.counts) - len(self.levels)} rarer ones as one")
        if self.n_missing:
            parts.append(f"{self.n_missing / self.n_rows:.2%} missing as a level")
        return "one 0/1 column each for " + ", ".join(parts)


def as_text(values: Any) -> Any:
    """An Arrow array as strings; whole numbers without a point, empty text as missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_floating(values.type) and pc.all(pc.equal(values, pc.round(values))).as_py():
        values = values.cast(pa.int64())
    text = values.cast(pa.string())
    return pc.if_else(pc.equal(text, ""), None, text)
