"""One column of numbers on its way from a table to a matrix."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from askew.tables.names import MISSING, derived_name

Vector = NDArray[np.float64]
SKEWED = 3.0  # skewness from which a column that is never negative is better seen through log(1 + x)


class NumberColumn:
    """Centred and scaled to unit variance, its logarithm where it is skewed; missing values take the mean.

    The mean, variance and skewness come from one pass, merged over blocks by the formulae of Chan, Golub and LeVeque
    and of Terriberry, so blocks of any size give the same.
    """

    kind = "number"

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_missing = 0
        self.low, self.high = np.inf, -np.inf
        self.plain = np.zeros(4)  # n, mean, Σ(x − mean)², Σ(x − mean)³
        self.logged = np.zeros(4)

    @property
    def n_values(self) -> int:
        """Rows learnt from that held a number."""
        return int(self.plain[0])

    def skip(self, n_rows: int) -> None:
        """Take in rows that are all missing."""
        self.n_missing += n_rows

    def learn(self, values: Vector) -> None:
        """Take in a block; NaN and infinity count as missing."""
        x = values[np.isfinite(values)]
        self.n_missing += len(values) - len(x)
        if len(x) == 0:
            return
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))
        self.plain = _merged(self.plain, _sums(x))
        if self.low >= 0:
            self.logged = _merged(self.logged, _sums(np.log1p(x)))

    def merge(self, other: NumberColumn) -> NumberColumn:
        """What was learnt from the rows of both."""
        both = copy(self)
        both.n_missing = self.n_missing + other.n_missing
        both.low, both.high = min(self.low, other.low), max(self.high, other.high)
        both.plain, both.logged = _merged(self.plain, other.plain), _merged(self.logged, other.logged)
        return both

    @property
    def why_dropped(self) -> str:
        """Why it cannot help, or ""."""
        if self.plain[0] == 0:
            return "no values"
        if self.low == self.high and self.n_missing == 0:
            return f"always {self.low:g}"
        return ""

    @property
    def is_logged(self) -> bool:
        """Whether log(1 + x) is taken."""
        return bool(self.low >= 0 and self._skewness(self.plain) > max(SKEWED, abs(self._skewness(self.logged))))

    def centre_and_scale(self) -> tuple[float, float]:
        """Mean and standard deviation to ten digits.

        Blocks of another size sum in another order and differ in the last digits; what follows may depend on every bit
        of a row (a draw by its content does), so these digits are not kept.
        """
        n, mean, second, _ = self.logged if self.is_logged else self.plain
        scale = float(f"{np.sqrt(second / n):.10g}") if second > 0 else 1.0
        return round(mean / scale, 10) * scale, scale

    def names_out(self) -> list[str]:
        """One column, and one more that says where the value was missing, if that ever happened."""
        return [self.name, derived_name(self.name, " is ", MISSING)] if self.n_missing else [self.name]

    def means_out(self) -> list[float]:
        """Mean of each prepared column over the rows learnt from."""
        return [0.0, self.n_missing / (self.n_missing + self.plain[0])][: len(self.names_out())]

    def write(self, values: Vector, out: Vector) -> None:
        """Fill the prepared columns of a block."""
        x = values
        is_missing = ~np.isfinite(x)
        if self.is_logged:
            x = np.log1p(np.maximum(x, 0.0, out=np.zeros_like(x), where=~is_missing))
        centre, scale = self.centre_and_scale()
        np.divide(x - centre, scale, out=out[:, 0])
        out[is_missing, 0] = 0.0
        if self.n_missing:
            out[:, 1] = is_missing

    def explain(self) -> str:
        """What is done, for a person."""
        centre, scale = self.centre_and_scale()
        what = f"log(1 + {self.name})" if self.is_logged else self.name
        share = self.n_missing / (self.n_missing + self.plain[0])
        missing = f"; {share:.2%} missing: mean, and a column that says so" if self.n_missing else ""
        shift = f"− {centre:.4g}" if centre >= 0 else f"+ {-centre:.4g}"
        return f"({what} {shift}) / {scale:.4g}{missing}"

    @staticmethod
    def _skewness(sums: Vector) -> float:
        n, _, second, third = sums
        return float(np.sqrt(n) * third / second**1.5) if second > 0 else 0.0


def _sums(x: Vector) -> Vector:
    mean = x.mean()
    centred = x - mean
    squares = centred * centred
    return np.array([len(x), mean, squares.sum(), (squares * centred).sum()])


def _merged(a: Vector, b: Vector) -> Vector:
    if not (a[0] and b[0]):
        return b if b[0] else a
    n = a[0] + b[0]
    gap = b[1] - a[1]
    mean = a[1] + gap * b[0] / n
    second = a[2] + b[2] + gap**2 * a[0] * b[0] / n
    third = a[3] + b[3] + gap**3 * a[0] * b[0] * (a[0] - b[0]) / n**2 + 3.0 * gap * (a[0] * b[2] - b[0] * a[2]) / n
    return np.array([n, mean, second, third])
