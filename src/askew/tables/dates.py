"""One column of dates or times on its way from a table to a matrix."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.tables.names import derived_name

Vector = NDArray[np.float64]


class DateColumn:
    """Place on a circle of the time of day and of the week, or of the week and the year for dates without a time.

    The absolute time is left out on purpose: every row that will be scored lies beyond those that were learnt from.
    """

    kind = "date"

    def __init__(self, name: str, has_time: bool) -> None:
        self.name, self.has_time = name, has_time
        self.n_rows = 0
        self.sums = np.zeros(4)

    @property
    def n_values(self) -> int:
        """Rows learnt from, if any of them held a date."""
        return self.n_rows if np.any(self.sums) else 0

    def skip(self, n_rows: int) -> None:
        """Take in rows that are all missing."""
        self.n_rows += n_rows

    def learn(self, values: Any) -> None:
        """Take in a block."""
        out = np.empty((len(values), 4))
        self.write(values, out)
        self.n_rows += len(values)
        self.sums = self.sums + out.sum(axis=0)

    def merge(self, other: DateColumn) -> DateColumn:
        """What was learnt from the rows of both."""
        if self.has_time != other.has_time:
            raise DataError(f"Column {self.name!r} holds dates in some rows and times in others. Make it one type.")
        both = copy(self)
        both.n_rows, both.sums = self.n_rows + other.n_rows, self.sums + other.sums
        return both

    @property
    def why_dropped(self) -> str:
        """Why it cannot help, or ""."""
        return "" if np.any(self.sums) else "no values"

    def names_out(self) -> list[str]:
        circles = ("time of day", "weekday") if self.has_time else ("weekday", "day of year")
        return [derived_name(self.name, ": ", f"{part} ({side})") for part in circles for side in ("sin", "cos")]

    def means_out(self) -> list[float]:
        """Mean of each prepared column over the rows learnt from."""
        return (self.sums / max(self.n_rows, 1)).tolist()

    def write(self, values: Any, out: Vector) -> None:
        """Fill the prepared columns of a block; a missing date is the centre of the circles."""
        import pyarrow.compute as pc

        week = _floats(pc.day_of_week(values)) / 7.0
        if self.has_time:
            seconds = 3600.0 * _floats(pc.hour(values)) + 60.0 * _floats(pc.minute(values))
            turns = ((seconds + _floats(pc.second(values))) / 86_400.0, week)
        else:
            turns = (week, _floats(pc.day_of_year(values)) / 366.0)
        for k, turn in enumerate(turns):
            out[:, 2 * k] = np.sin(2.0 * np.pi * turn)
            out[:, 2 * k + 1] = np.cos(2.0 * np.pi * turn)
        out[np.isnan(out)] = 0.0

    def explain(self) -> str:
        """What is done, for a person."""
        what = "time of day and weekday" if self.has_time else "weekday and day of year"
        return f"{what}, each as sine and cosine; the absolute time is not used"


def _floats(values: Any) -> Vector:
    import pyarrow as pa

    return values.cast(pa.float64()).to_numpy(zero_copy_only=False)
