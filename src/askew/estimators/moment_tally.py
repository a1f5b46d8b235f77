"""What a block of rows adds to a moment fit, and how two such parts become one.

The rows of a class that is modelled by its points are kept; those of a class that is only negative are summed into
moments and let go. Parts merge in any tree to the same whole, up to rounding.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import stack_rows
from askew.estimators.moment_levels import (
    Levels,
    check_numbers,
    expanded,
    level_numbers,
    moments_with_levels,
    place_moments,
)
from askew.estimators.moment_scale import diagonal
from askew.estimators.row_identity import row_keys
from askew.exceptions import DataError
from askew.methods.moment_evidence import Stream
from askew.moments import CovarianceModel, DiagonalMoments
from askew.sources import Layout
from askew.sources.rows import check_finite
from askew.tables import Categories, read_categories, read_labels

Vector = NDArray[np.float64]
MOST_CLASSES = 100
MOST_PARTS = 256
NO_LEVELS = Levels()


@dataclass(frozen=True)
class Kept:
    """Rows of one class, in parts that are put together only at the end.

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
        """Rows that are kept."""
        return sum(len(rows) for _, _, rows in self.parts)

    def shifted(self, offset: int) -> Kept:
        """The same rows after ``offset`` others."""
        parts = tuple((X, weight, rows + offset) for X, weight, rows in self.parts)
        return replace(self, parts=parts)

    def joined(self, other: Kept, most: int) -> Kept:
        """Both together, cut down once they are far too many."""
        n_seen, weight_seen = self.n_seen + other.n_seen, self.weight_seen + other.weight_seen
        dropped = _together(self.dropped, other.dropped)
        both = Kept(self.parts + other.parts, n_seen, weight_seen, dropped)
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
        dropped = _together(self.dropped, DiagonalMoments.of(X[others], weight[others]))
        return replace(self, parts=((X[chosen], weight[chosen], rows[chosen]),), dropped=dropped)

    def expanded(self, levels: Levels, order: NDArray[np.int64]) -> Kept:
        """The rows with 0/1 columns in place of the numbers of categories."""
        parts = tuple((expanded(X, levels)[:, order], weight, rows) for X, weight, rows in self.parts)
        return replace(self, parts=parts)

    @property
    def seen(self) -> DiagonalMoments:
        """Moments, feature by feature, of all rows there were."""
        X, weight, _ = self.whole
        return _together(self.dropped, DiagonalMoments.of(X, weight))

    @property
    def whole(self) -> tuple[Any, Vector, NDArray[np.int64]]:
        """All parts as one."""
        if len(self.parts) == 1:
            return self.parts[0]
        X, weight, rows = zip(*self.parts, strict=True)
        stacked = stack_rows(X)
        return stacked, np.concatenate(weight), np.concatenate(rows)

    def drawn(self, most: int) -> tuple[Any, Vector, NDArray[np.int64]]:
        """At most ``most`` rows, with weights that sum to those of all rows seen."""
        X, weight, rows = self.limited(most).whole
        return X, weight if self.n_seen <= most else weight * (self.weight_seen / weight.sum()), rows


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
    most_levels : int
        Categories that a column may have.
    """

    layout: Layout
    model: CovarianceModel
    points: tuple[Any, ...] | None
    most: int
    most_levels: int = 0

    def of(self, block: Any) -> Tally:
        """The part of one block."""
        total = None
        try:
            found = self._categories(block)
            for X, y, weight in self.layout.read(block):
                if y is None:
                    raise DataError("the rows have no labels.")
                begin = 0 if total is None else total.n_rows
                mine = None if found is None else found._replace(codes=found.codes[begin : begin + X.shape[0]])
                part = self._of_piece(X, read_labels(y, first_row=begin).values, weight, mine)
                total = part if total is None else total.merge(part)
        except DataError:
            self.layout.check(block)  # moments refuse what is not a number; this says where it is
            raise
        return total if total is not None else Tally(self.most, {}, {}, 0)

    def _categories(self, block: Any) -> Categories | None:
        names = self.layout.categories
        if not names:
            return None
        found = read_categories(getattr(block, "X", block), names)
        check_numbers(names, map(len, found.levels), self.most_levels)  # before moments of so many columns are made
        return found

    def _of_piece(self, X: Any, y: NDArray[Any], weight: Vector | None, found: Categories | None) -> Tally:
        moments, kept = {}, {}
        groups = _groups(y, None if weight is None else weight > 0)
        for k, (name, rows) in enumerate(groups):
            if self.points is None or name in self.points:
                ones = np.ones(len(rows)) if weight is None else weight[rows]
                mine = X[rows]
                check_finite(mine)
                kept[name] = Kept.of(mine if found is None else _with_numbers(mine, found, rows), ones, rows)
            if self.points is None or name not in self.points:
                if k == len(groups) - 1 and not sparse.issparse(X):
                    mine, rows = _compacted(X, rows)
                else:
                    mine = X[rows]
                moments[name] = self._moments(mine, None if weight is None else weight[rows], found, rows)
        if found is None:
            return Tally(self.most, moments, kept, X.shape[0])
        all_weight = np.ones(X.shape[0]) if weight is None else weight
        levels = Levels.of(self.layout.categories, self.most_levels, *found, all_weight)
        return Tally(self.most, moments, kept, X.shape[0], levels)

    def _moments(self, X: Any, weight: Vector | None, found: Categories | None, rows: NDArray[np.int64]) -> Any:
        numbers = self.model.moments_of(X, weight, streaming=True)
        if found is None:
            return numbers
        sizes, each = list(map(len, found.levels)), np.ones(len(rows)) if weight is None else weight
        return moments_with_levels(numbers, X, found.codes[rows], sizes, each)


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
    levels : Levels
        Categories met so far. The moments have a 0/1 column for each of them after the numbers; rows that are kept have
        the number of a category for each column of categories.
    """

    most: int
    moments: dict[Any, Any]
    kept: dict[Any, Kept]
    n_rows: int
    levels: Levels = NO_LEVELS

    @property
    def labels(self) -> set[Any]:
        return set(self.moments) | set(self.kept)

    def weight_of(self, label: Any) -> float:
        """Weight of the rows of a class."""
        return float(self.kept[label].weight_seen if label in self.kept else self.moments[label].n_samples)

    def merge(self, other: Tally) -> Tally:
        """Both parts, ``other`` after this one."""
        levels = self.levels.joined(other.levels)
        moments = {label: self.levels.fitted(mine, levels) for label, mine in self.moments.items()}
        kept = dict(self.kept)
        for label, part in other.moments.items():
            more = other.levels.fitted(part, levels)
            moments[label] = moments[label] + more if label in moments else more
        for label, rows in other.kept.items():
            after = rows.shifted(self.n_rows)
            kept[label] = kept[label].joined(after, self.most) if label in kept else after
        _check_number({*moments, *kept})
        return Tally(self.most, moments, kept, self.n_rows + other.n_rows, levels)

    def expanded(self, features: tuple[str, ...]) -> Tally:
        """The same in the order of the features, a 0/1 column for every category that has weight; once, at the end."""
        levels = self.levels.kept()
        if not levels.names:
            return self
        order = levels.order(features)
        back = np.argsort(order)
        fitted = {label: self.levels.fitted(mine, levels) for label, mine in self.moments.items()}
        moments = {label: place_moments(mine, back, len(order)) for label, mine in fitted.items()}
        kept = {label: rows.limited(self.most).expanded(levels, order) for label, rows in self.kept.items()}
        return Tally(self.most, moments, kept, self.n_rows, levels)

    def spread(self, features: tuple[str, ...]) -> DiagonalMoments:
        """Moments, feature by feature, of all rows whatever their class; of the columns that ``expanded`` has."""
        labels = sorted(self.labels, key=str)
        parts = [self.moments[label] if label in self.moments else self.kept[label].seen for label in labels]
        n_numbers = len([name for name in features if name not in self.levels.names]) if features else None
        total = reduce(DiagonalMoments.merge, [diagonal(part, n_numbers) for part in parts])
        levels = self.levels.kept()
        if not levels.names:
            return total
        counts, n = np.array([each for mine in levels.weights for each in mine.values()]), total.n_samples
        mean, rest = np.append(total.mean, counts / n), np.append(total.mean_rest, np.zeros(len(counts)))
        scatter, order = np.append(total.scatter, counts * (1.0 - counts / n)), levels.order(features)
        return DiagonalMoments(n, mean[order], rest[order], scatter[order])

    def stream(self, model: CovarianceModel, classes: NDArray[Any], positive: int | None, forgetting: float) -> Stream:
        """The same as if all rows had come in one batch."""
        stream = Stream(model, len(classes), positive, forgetting)
        names = classes.tolist()
        stream.moments = [self.moments.get(label) for label in names]
        for code, label in enumerate(names):
            if label in self.kept:
                X, weight, rows = self.kept[label].drawn(self.most)
                stream.kept.append((X, weight, rows))
                stream.codes.append(np.full(len(rows), code, dtype=np.int64))
        stream.n_seen = self.n_rows
        return stream


def _together(first: DiagonalMoments | None, second: DiagonalMoments | None) -> Any:
    return second if first is None else first if second is None else first + second


def _with_numbers(X: Vector, found: Categories, rows: NDArray[np.int64]) -> Vector:
    """Rows with the numbers of their categories in further columns."""
    columns = [level_numbers(mine)[found.codes[rows, j]] for j, mine in enumerate(found.levels)]
    return np.column_stack([X, *columns])


def _groups(y: NDArray[Any], counts: NDArray[np.bool_] | None) -> list[tuple[Any, NDArray[np.int64]]]:
    """Labels and their rows, the largest class last."""
    left = np.arange(len(y)) if counts is None else np.flatnonzero(counts)
    groups = []
    while len(left):
        label = y[left[0]]
        is_mine = y[left] == label
        groups.append((_plain(label), left[is_mine]))
        left = left[~is_mine]
        _check_number(groups)
    return sorted(groups, key=lambda group: len(group[1]))


def _compacted(X: Vector, rows: NDArray[np.int64]) -> tuple[Vector, NDArray[np.int64]]:
    """The rows chosen at the head of X, where the last of them fill the gaps, and their numbers in that order.

    X is a piece of our own whose other rows have been dealt with: nearly all of it need not be copied.
    """
    m = len(rows)
    is_gap = np.ones(m, dtype=bool)
    is_gap[rows[rows < m]] = False
    gaps, movers = np.flatnonzero(is_gap), rows[rows >= m]
    X[gaps] = X[movers]
    order = np.arange(m)
    order[gaps] = movers
    return X[:m], order


def _plain(label: Any) -> Any:
    """A label as Python has it, so that it is the same from every block."""
    return label.item() if hasattr(label, "item") else label


def _check_number(labels: Collection[Any]) -> None:
    if len(labels) > MOST_CLASSES:
        raise DataError(f"the target has more than {MOST_CLASSES} different values: it is a quantity and no label.")
