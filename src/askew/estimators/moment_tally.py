"""What a block of rows adds to a moment fit, and how two such parts become one.

The rows of a class that is modelled by its points are kept; those of a class that is only negative are summed into
moments and let go. Parts merge in any tree to the same whole, up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.estimators.row_identity import row_keys
from askew.exceptions import DataError
from askew.methods.moment_evidence import Stream
from askew.moments import CovarianceModel
from askew.sources import Layout

Vector = NDArray[np.float64]
MOST_CLASSES = 100


@dataclass(frozen=True)
class Kept:
    """Rows of one class, at most a certain number of them.

    Attributes
    ----------
    X : array or sparse matrix
    weight : array
    rows : array
        Where they stand, counted from the first row of the part.
    n_seen, weight_seen : int, float
        Rows there were, and their weight.
    """

    X: Any
    weight: Vector
    rows: NDArray[np.int64]
    n_seen: int
    weight_seen: float

    def joined(self, other: Kept, offset: int, most: int) -> Kept:
        """Both together, cut down to ``most`` again."""
        both = Kept(
            stacked([self.X, other.X]),
            np.concatenate([self.weight, other.weight]),
            np.concatenate([self.rows, other.rows + offset]),
            self.n_seen + other.n_seen,
            self.weight_seen + other.weight_seen,
        )
        return both.limited(most)

    def limited(self, most: int) -> Kept:
        """The ``most`` rows of smallest hash: a fair draw, and the same one however the rows were cut and ordered."""
        if len(self.weight) <= most:
            return self
        chosen = np.sort(np.argsort(row_keys(self.X), kind="stable")[:most])
        return Kept(self.X[chosen], self.weight[chosen], self.rows[chosen], self.n_seen, self.weight_seen)

    @property
    def fair_weight(self) -> Vector:
        """Weights that sum to those of all rows seen."""
        return self.weight if self.n_seen == len(self.weight) else self.weight * (self.weight_seen / self.weight.sum())


@dataclass(frozen=True)
class Plan:
    """What to keep of every block.

    Attributes
    ----------
    layout : Layout
    model : CovarianceModel
    points : tuple of labels, or None
        Classes to keep by their points; None keeps every class, and its moments, too.
    most : int
        Rows to keep of each of them.
    """

    layout: Layout
    model: CovarianceModel
    points: tuple[Any, ...] | None
    most: int

    def of(self, block: Any) -> Tally:
        """The part of one block."""
        X, y, weight = self.layout.read(block)
        if y is None:
            raise DataError("the rows have no labels.")
        moments, kept = {}, {}
        left = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
        while len(left):
            name, is_mine = _plain(y[left[0]]), y[left] == y[left[0]]
            rows, left = left[is_mine], left[~is_mine]
            mine, part = X[rows] if len(rows) < X.shape[0] else X, None if weight is None else weight[rows]
            if self.points is None or name in self.points:
                ones = np.ones(len(rows)) if part is None else part
                kept[name] = Kept(mine, ones, rows, len(rows), float(ones.sum())).limited(self.most)
            if self.points is None or name not in self.points:
                moments[name] = self.model.moments_of(mine, part, streaming=True)
            _check_number({*moments, *kept})
        return Tally(self.most, moments, kept, X.shape[0])


@dataclass(frozen=True)
class Tally:
    """Moments and kept rows by class.

    Attributes
    ----------
    most : int
        Rows of a class that are kept.
    moments : dict of label to Moments
    kept : dict of label to Kept
    n_rows : int
        All rows, whatever their class or weight.
    """

    most: int
    moments: dict[Any, Any]
    kept: dict[Any, Kept]
    n_rows: int

    @property
    def labels(self) -> set[Any]:
        return set(self.moments) | set(self.kept)

    def merge(self, other: Tally) -> Tally:
        """Both parts, ``other`` after this one."""
        moments, kept = dict(self.moments), dict(self.kept)
        for label, more in other.moments.items():
            moments[label] = moments[label] + more if label in moments else more
        for label, rows in other.kept.items():
            mine = kept.get(label)
            empty = Kept(rows.X[:0], rows.weight[:0], rows.rows[:0], 0, 0.0)
            kept[label] = (empty if mine is None else mine).joined(rows, self.n_rows, self.most)
        _check_number({*moments, *kept})
        return Tally(self.most, moments, kept, self.n_rows + other.n_rows)

    def stream(self, model: CovarianceModel, classes: NDArray[Any], positive: int | None, forgetting: float) -> Stream:
        """The same as if all rows had come in one batch."""
        stream = Stream(model, len(classes), positive, forgetting)
        names = classes.tolist()
        stream.moments = [self.moments.get(label) for label in names]
        for code, label in enumerate(names):
            if label in self.kept:
                rows = self.kept[label]
                stream.kept.append((rows.X, rows.fair_weight, rows.rows))
                stream.codes.append(np.full(len(rows.rows), code, dtype=np.int64))
        stream.n_seen = self.n_rows
        return stream


def _plain(label: Any) -> Any:
    """A label as Python has it, so that it is the same from every block."""
    return label.item() if hasattr(label, "item") else label


def _check_number(labels: set[Any]) -> None:
    if len(labels) > MOST_CLASSES:
        raise DataError(f"the target has more than {MOST_CLASSES} different values: it is a quantity and no label.")


def stacked(parts: list[Any]) -> Any:
    """Rows of two parts as one."""
    filled = [part for part in parts if part.shape[0]] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    return sparse.vstack(filled, format="csr") if sparse.issparse(filled[0]) else np.concatenate(filled)
