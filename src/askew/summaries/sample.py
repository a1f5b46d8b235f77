"""The draws of rows: by row number for the hold-out, by content for folds and for the rows that stand for a class.

The hold-out draws by row number, so that equal rows fall on both sides. A stream is read more than once, in blocks of
any size, and the draw of a row number is the same on every pass. Folds, and the rows that are kept of a large class,
are dealt by a hash of what a row holds and not of where it stands: repetitions of a row stay together, so that
cross-validation does not test on what it was trained on, and the draw is the same for rows in any order, dense or
sparse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import stack_rows
from askew.moments import DiagonalMoments

Vector = NDArray[np.float64]
Bits = NDArray[np.uint64]

GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)  # the step of splitmix64: 2⁶⁴ divided by the golden ratio
HASHED_ENTRIES = 2**20  # entries hashed at a time: their scratch stays small
MOST_PARTS = 256  # parts of kept rows before they are put together: a file of many blocks has no more open


def draw_by_number(first: int, n: int, seed: int) -> Vector:
    """Draw a number in [0, 1) for each of the rows ``first`` to ``first + n − 1``: splitmix64 of the row number.

    Parameters
    ----------
    first : int
        Number of the first row, counted in the order of the source.
    n : int
    seed : int
        Chooses one of many independent draws.

    Examples
    --------
    >>> whole = draw_by_number(0, 10, seed=1)
    >>> bool((whole == np.concatenate([draw_by_number(0, 4, 1), draw_by_number(4, 6, 1)])).all())
    True
    """
    begin = _mix(np.full(1, seed + 1, dtype=np.uint64) + GOLDEN_RATIO)
    z = begin + np.arange(first, first + n, dtype=np.uint64) * GOLDEN_RATIO
    return (_mix(z + GOLDEN_RATIO) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def row_identity(X: Any) -> NDArray[np.int64]:
    """Number the distinct rows 0, 1, 2, …: equal for equal rows, ranked by a 64-bit hash of their entries.

    Two different rows share a number with probability 2⁻⁶⁴; they would be kept in one fold, no more.

    Examples
    --------
    >>> import numpy as np
    >>> a, b, c = row_identity(np.array([[1.0, 0.0], [2.0, 5.0], [1.0, -0.0]]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    return np.unique(row_keys(X), return_inverse=True)[1].astype(np.int64)


def row_keys(X: Any) -> Bits:
    """A 64-bit hash of each row's entries."""
    if sparse.issparse(X):
        rows = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        column_keys = _mix(np.arange(1, rows.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
        entries = _mix(_mix((rows.data + 0.0).view(np.uint64)) * column_keys[rows.indices])
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]  # wraps around, as the sums do
    column_keys = _mix(np.arange(1, X.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    keys = np.empty(len(X), np.uint64)
    step = max(1, HASHED_ENTRIES // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], dtype=np.float64) + 0.0  # −0 becomes 0
        keys[start : start + step] = _mix(_mix(block.view(np.uint64)) * column_keys).sum(axis=1, dtype=np.uint64)
    return keys


def _mix(bits: Bits) -> Bits:
    """Steele, Lea and Flood's finaliser: every bit of the result depends on every bit given; 0 stays 0."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@dataclass(frozen=True)
class Kept:
    """Rows that are kept of one group, in parts that are put together only at the end.

    Attributes
    ----------
    parts : tuple of (X, weight, rows)
        ``rows`` is where they stand, counted from the first row of the tally.
    n_seen, weight_seen : int, float
        Rows there were, and their weight.
    dropped : DiagonalMoments or None
        Of those that are no longer kept.
    """

    parts: tuple[tuple[Any, Vector, NDArray[np.int64]], ...]
    n_seen: int
    weight_seen: float
    dropped: DiagonalMoments | None = None

    @classmethod
    def of(cls, X: Any, weight: Vector, rows: NDArray[np.int64]) -> Kept:
        """All rows of a piece."""
        return cls(((X, weight, rows),), len(rows), float(weight.sum()))

    @property
    def n(self) -> int:
        """Number of rows that are kept."""
        return sum(len(rows) for _, _, rows in self.parts)

    def shifted(self, offset: int) -> Kept:
        """The kept rows as they stand after ``offset`` others."""
        parts = tuple((X, weight, rows + offset) for X, weight, rows in self.parts)
        return replace(self, parts=parts)

    def joined(self, other: Kept, most: int) -> Kept:
        """Both sets of rows together, cut down once they are far too many."""
        n_seen, weight_seen = self.n_seen + other.n_seen, self.weight_seen + other.weight_seen
        both = Kept(self.parts + other.parts, n_seen, weight_seen, _sum(self.dropped, other.dropped))
        if both.n > 2 * most:
            return both.limited(most)
        return both if len(both.parts) <= MOST_PARTS else replace(both, parts=(both.whole,))

    def limited(self, most: int) -> Kept:
        """The ``most`` rows of smallest hash: a fair draw, and the same one however the rows were cut and ordered."""
        if self.n <= most:
            return self
        X, weight, rows = self.whole
        order = np.argsort(row_keys(X), kind="stable")
        chosen, others = np.sort(order[:most]), order[most:]
        dropped = _sum(self.dropped, DiagonalMoments.of(X[others], weight[others]))
        return replace(self, parts=((X[chosen], weight[chosen], rows[chosen]),), dropped=dropped)

    @property
    def seen(self) -> DiagonalMoments:
        """Moments, feature by feature, of all rows there were."""
        X, weight, _ = self.whole
        return _sum(self.dropped, DiagonalMoments.of(X, weight))

    @property
    def whole(self) -> tuple[Any, Vector, NDArray[np.int64]]:
        """All parts as one."""
        if len(self.parts) == 1:
            return self.parts[0]
        X, weight, rows = zip(*self.parts, strict=True)
        return stack_rows(X), np.concatenate(weight), np.concatenate(rows)

    def drawn(self, most: int) -> tuple[Any, Vector, NDArray[np.int64]]:
        """At most ``most`` rows, with weights that sum to those of all rows seen."""
        X, weight, rows = self.limited(most).whole
        return X, weight if self.n_seen <= most else weight * (self.weight_seen / weight.sum()), rows


def _sum(first: DiagonalMoments | None, second: DiagonalMoments | None) -> Any:
    return second if first is None else first if second is None else first + second
