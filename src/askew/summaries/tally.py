"""One pass over rows in blocks: what a block adds to what is known of each class, and how two such parts become one.

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

from askew.exceptions import DataError, ParameterError
from askew.moments import CovarianceModel, DiagonalMoments, append_columns, diagonal_moments, place_moments
from askew.sources import Layout, Source, open_source
from askew.sources.names import nearest
from askew.sources.opening import is_dask
from askew.sources.rows import check_finite
from askew.summaries.categories import Levels, check_numbers, expanded, level_numbers
from askew.summaries.sample import Kept
from askew.summaries.stream import KeptRows, Stream
from askew.tables import (
    Categories,
    Labels,
    canonical_label,
    one_hot,
    positive_class,
    read_categories,
    read_labels,
    shorter,
)
from askew.threads import workers

Vector = NDArray[np.float64]

MOST_CLASSES = 100  # different labels beyond which a target is a quantity
LIKELY_LABEL = 1  # of the positives in most tables: a first pass that was wrong about it costs a second, no more
NO_LEVELS = Levels()


def open_labelled(X: Any, y: Any, target: str | None, sample_weight: Any) -> tuple[Source, Layout]:
    """The source of a fit, and where its features, labels and weights stand."""
    weight = sample_weight if isinstance(sample_weight, str) else None
    beside = None if weight is not None else sample_weight
    if target is not None and y is not None:
        raise ParameterError(f"Give y or target, not both; got y and target={target!r}.")
    source = open_source(X, y=y, sample_weight=beside)
    if target is None and y is None and source.columns:
        raise ParameterError(
            f"{source.name} needs to know its labels: name their column, as in target='fraud'. "
            f"{nearest('target', source.columns)}"
        )
    if target is None and y is None and is_dask(X):  # other rows without names may bring their labels along
        raise ParameterError("A Dask array needs labels beside it: give y, a Dask array cut like it.")
    return source, Layout(features_of(source, target, weight), target, weight)


def features_of(source: Source, target: str | None, weight: str | None) -> tuple[str, ...]:
    """All columns but those of the labels and the weights, which must be there and differ."""
    for name in (target, weight):
        if name is not None and not source.columns:
            raise ParameterError(f"{source.name} has no names of columns to choose {name!r} by. Give y beside it.")
        if name is not None and name not in source.columns:
            raise ParameterError(f"{source.name} has no column {name!r}. {nearest(name, source.columns)}")
    if target is not None and target == weight:
        raise ParameterError(f"Column {target!r} is named as target and as sample_weight. Name two columns.")
    features = tuple(name for name in source.columns if name not in (target, weight))
    if source.columns and not features:
        raise DataError(f"{source.name} has no column besides {', '.join(map(repr, source.columns))} to learn from.")
    return features


def tally_classes(
    source: Source, layout: Layout, model: CovarianceModel, pos_label: Any, most: int, most_levels: int
) -> Tally:
    """Tally of the classes in one pass; a second one where the labels turn out to be others than expected.

    Parameters
    ----------
    source : Source
    layout : Layout
    model : CovarianceModel
        Says which moments of a class to take.
    pos_label : label or None
        Of two classes, the one whose rows are kept; by default by ``askew.tables.positive_class``. Of more, all are.
    most : int
        Rows of a class to keep.
    most_levels : int
        Categories that a column may have.
    """
    layout = replace(layout, categories=tuple(name for name in layout.features if name in source.categories))
    guess = LIKELY_LABEL if pos_label is None else pos_label
    plan = TallyPlan(layout, model, (canonical_label(guess),), most, most_levels)
    tally = _pass(source, plan)
    classes = tally.classes
    if len(classes) < 2:
        raise DataError(
            "MomentSVC needs rows of at least two classes with positive weight; got "
            f"{classes or 'none'} in {source.name}. Is the target the right column?"
        )
    if len(classes) > 2:
        return _pass(source, replace(plan, points=None))
    right = tally.keys[positive_class(classes, tally.weights, pos_label, is_said=False)]
    return tally if plan.points == (right,) else _pass(source, replace(plan, points=(right,)))


def _pass(source: Source, plan: TallyPlan) -> Tally:
    with workers():
        return source.map_reduce(plan.of, Tally.merge, plan.layout.columns)


@dataclass(frozen=True)
class TallyPlan:
    """What to keep of every block.

    Attributes
    ----------
    layout : Layout
    model : CovarianceModel
    points : tuple of canonical labels, or None
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
                part = self._of_piece(X, read_labels(y, first_row=begin), weight, mine)
                total = part if total is None else total.merge(part)
        except DataError:
            self.layout.check(block)  # moments refuse what is not a number; this says where it is
            raise
        return total if total is not None else Tally(self.most, {}, {}, 0, {})

    def _categories(self, block: Any) -> Categories | None:
        names = self.layout.categories
        if not names:
            return None
        found = read_categories(getattr(block, "X", block), names)
        check_numbers(names, map(len, found.levels), self.most_levels)  # before moments of so many columns are made
        return found

    def _of_piece(self, X: Any, labels: Labels, weight: Vector | None, found: Categories | None) -> Tally:
        moments, kept = {}, {}
        groups = _groups(labels, None if weight is None else weight > 0)
        spelled = dict(zip(labels.keys, labels.found, strict=True))
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
            return Tally(self.most, moments, kept, X.shape[0], spelled)
        all_weight = np.ones(X.shape[0]) if weight is None else weight
        levels = Levels.of(self.layout.categories, self.most_levels, *found, all_weight)
        return Tally(self.most, moments, kept, X.shape[0], spelled, levels)

    def _moments(self, X: Any, weight: Vector | None, found: Categories | None, rows: NDArray[np.int64]) -> Any:
        numbers = self.model.moments_of(X, weight, streaming=True)
        if found is None:
            return numbers
        H = one_hot(found.codes[rows], list(map(len, found.levels)))
        return append_columns(numbers, X, H, np.ones(len(rows)) if weight is None else weight)


@dataclass(frozen=True)
class Tally:
    """Moments and kept rows by class.

    Attributes
    ----------
    most : int
        Rows of a class that are kept.
    moments : dict of canonical label to Moments
    kept : dict of canonical label to Kept
    n_rows : int
        All rows, whatever their class or weight.
    spelled : dict of canonical label to label
        What the labels are in the data.
    levels : Levels
        Categories met so far. The moments have a 0/1 column for each of them after the numbers; rows that are kept have
        the number of a category for each column of categories.
    """

    most: int
    moments: dict[str, Any]
    kept: dict[str, Kept]
    n_rows: int
    spelled: dict[str, Any]
    levels: Levels = NO_LEVELS

    @property
    def classes(self) -> list[Any]:
        """Labels of positive weight, in order."""
        return [self.spelled[key] for key in self.keys]

    @property
    def weights(self) -> list[float]:
        """Weight of the rows of every class."""
        return [
            float(self.kept[key].weight_seen if key in self.kept else self.moments[key].n_samples) for key in self.keys
        ]

    @property
    def keys(self) -> list[str]:
        """Canonical labels of positive weight, in the order of the classes."""
        try:
            return sorted({*self.moments, *self.kept}, key=lambda key: self.spelled[key])
        except TypeError as error:
            kinds = ", ".join(sorted({type(label).__name__ for label in self.spelled.values()}))
            raise DataError(f"The target holds labels of different types: {kinds}. Make them one.") from error

    @property
    def categories(self) -> dict[str, list[Any]]:
        """Levels of every column of categories."""
        return dict(zip(self.levels.names, map(list, self.levels.keys), strict=True))

    @property
    def drawn(self) -> dict[Any, int]:
        """Classes of which a draw of the rows is kept, and how many rows they have."""
        return {self.spelled[key]: rows.n_seen for key, rows in self.kept.items() if rows.n_seen > self.most}

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
        spelled = {**other.spelled, **self.spelled}
        for key in self.spelled.keys() & other.spelled.keys():
            spelled[key] = shorter(self.spelled[key], other.spelled[key])
        return Tally(self.most, moments, kept, self.n_rows + other.n_rows, spelled, levels)

    def expanded(self, features: tuple[str, ...]) -> Tally:
        """The tally in the order of the features, a 0/1 column for every category that has weight; once, at the end."""
        levels = self.levels.kept()
        if not levels.names:
            return self
        order = levels.order(features)
        back = np.argsort(order)
        fitted = {label: self.levels.fitted(mine, levels) for label, mine in self.moments.items()}
        moments = {label: place_moments(mine, back, len(order)) for label, mine in fitted.items()}
        kept = {}
        for label, rows in self.kept.items():
            few = rows.limited(self.most)
            parts = tuple((expanded(X, levels)[:, order], weight, at) for X, weight, at in few.parts)
            kept[label] = replace(few, parts=parts)
        return Tally(self.most, moments, kept, self.n_rows, self.spelled, levels)

    def spread(self, features: tuple[str, ...]) -> DiagonalMoments:
        """Moments, feature by feature, of all rows whatever their class; of the columns that ``expanded`` has."""
        parts = [self.moments[label] if label in self.moments else self.kept[label].seen for label in self.keys]
        n_numbers = len([name for name in features if name not in self.levels.names]) if features else None
        total = reduce(DiagonalMoments.merge, [diagonal_moments(part, n_numbers) for part in parts])
        levels = self.levels.kept()
        if not levels.names:
            return total
        counts, n = np.array([each for mine in levels.weights for each in mine.values()]), total.n_samples
        mean, rest = np.append(total.mean, counts / n), np.append(total.mean_rest, np.zeros(len(counts)))
        scatter, order = np.append(total.scatter, counts * (1.0 - counts / n)), levels.order(features)
        return DiagonalMoments(n, mean[order], rest[order], scatter[order])

    def stream(self, model: CovarianceModel, positive: int | None, forgetting: float) -> Stream:
        """A stream as if all rows had come in one batch."""
        kept = []
        for code, label in enumerate(self.keys):
            if label in self.kept:
                X, weight, rows = self.kept[label].drawn(self.most)
                kept.append(KeptRows(X, weight, rows, np.full(len(rows), code, dtype=np.int64)))
        moments = tuple(self.moments.get(label) for label in self.keys)
        return Stream(model, positive, forgetting, moments, tuple(kept), self.n_rows)


def _with_numbers(X: Vector, found: Categories, rows: NDArray[np.int64]) -> Vector:
    """Rows with the numbers of their categories in further columns."""
    columns = [level_numbers(levels)[found.codes[rows, j]] for j, levels in enumerate(found.levels)]
    return np.column_stack([X, *columns])


def _groups(labels: Labels, counts: NDArray[np.bool_] | None) -> list[tuple[str, NDArray[np.int64]]]:
    """Canonical labels and their rows, the largest class last."""
    _check_number(labels.found)
    groups = []
    for code, key in enumerate(labels.keys):
        is_here = labels.codes == code
        groups.append((key, np.flatnonzero(is_here if counts is None else is_here & counts)))
    return sorted([group for group in groups if len(group[1])], key=lambda group: len(group[1]))


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


def _check_number(labels: Collection[Any]) -> None:
    if len(labels) > MOST_CLASSES:
        raise DataError(f"the target has more than {MOST_CLASSES} different values: it is a quantity and no label.")
