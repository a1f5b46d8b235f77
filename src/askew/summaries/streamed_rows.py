"""Training rows that are read from their source again at every pass, and never held."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import stack_rows
from askew.exceptions import DataError
from askew.sources import LabelledRows, Layout, Source, open_source
from askew.sources.rows import check_finite
from askew.sources.source import naming
from askew.summaries.tally import features_of, open_labelled
from askew.tables import read_labels

Indices = NDArray[np.int64]


class StreamedRows:
    """Rows of a source, as ``askew.kernels.recomputed`` takes them; labels and weights are held, features are not.

    Parameters
    ----------
    source : Source
    layout : Layout

    Attributes
    ----------
    n, shape, names
        Rows, (rows, features), names of the features (empty where they have none).
    y, weight : array of shape (n,), or None
        As they stand in the source.
    """

    def __init__(self, source: Source, layout: Layout) -> None:
        self._source, self._layout, self.names = source, layout, layout.features
        self._numbers: Indices | None = None  # which rows of the source these are; None for all
        self._survey()

    @classmethod
    def open(cls, X: Any, y: Any, target: str | None, sample_weight: Any, is_labelled: bool) -> StreamedRows:
        """From what a user passes to ``fit``; without labels, the target names a column that is no feature."""
        if is_labelled:
            return cls(*open_labelled(X, y, target, sample_weight))
        weight = sample_weight if isinstance(sample_weight, str) else None
        source = open_source(X, sample_weight=None if weight is not None else sample_weight)
        return cls(source, Layout(features_of(source, target, weight), None, weight))

    def _survey(self) -> None:
        """One pass: how many rows there are, their labels and weights, the mean and variance of all entries."""
        labels, weights, mass, self._mean, squares = [], [], 0.0, 0.0, 0.0
        width, self.n = 0, 0
        for rows in self._read():
            weight = np.ones(rows.X.shape[0]) if rows.weight is None else rows.weight
            labels.append(rows.y)
            weights.append(rows.weight)
            self.n, width = self.n + rows.X.shape[0], rows.X.shape[1]
            mass, self._mean, squares = _merged(mass, self._mean, squares, rows.X, weight)
        if not self.n:
            raise DataError(f"{self._source.name} holds no rows.")
        self.shape = self.n, width
        self.y = None if any(part is None for part in labels) else np.concatenate(labels)
        self.weight = None if any(part is None for part in weights) else np.concatenate(weights)
        self._variance = squares / mass if mass > 0 else 0.0

    def variance(self) -> float:
        """Variance over all entries, rows counted by their weight."""
        return self._variance

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """The number of each block's first row, and the block."""
        begin, first = 0, 0
        for rows in self._read():
            end = begin + rows.X.shape[0]
            X = rows.X
            if self._numbers is not None:
                X = X[self._numbers[slice(*np.searchsorted(self._numbers, [begin, end]))] - begin]
            if X.shape[0]:
                yield first, X
            begin, first = end, first + X.shape[0]
        if first != self.n:
            raise DataError(f"{self._source.name} changed while it was read: it had {self.n:,} rows, now {first:,}.")

    def take(self, indices: Indices) -> Any:
        """Some rows, in the order of the indices: one pass."""
        order = np.argsort(indices, kind="stable")
        wanted, parts = indices[order], []
        for first, X in self.blocks():
            here = wanted[slice(*np.searchsorted(wanted, [first, first + X.shape[0]]))]
            if len(here):
                parts.append(X[here - first])
        taken = stack_rows(parts)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return taken[back]

    def subset(self, indices: Indices) -> StreamedRows:
        """Some rows as rows of their own; the indices rise."""
        some = copy(self)
        some._numbers = indices if self._numbers is None else self._numbers[indices]
        some.n, some.shape = len(indices), (len(indices), self.shape[1])
        return some

    def _read(self) -> Iterator[LabelledRows]:
        for where, block in self._source.located_blocks(self._layout.columns):
            yield naming(where, self._whole, block)

    def _whole(self, block: Any) -> LabelledRows:
        """A block as one matrix, its labels and weights beside it; what is not a number is refused."""
        pieces = [LabelledRows(piece.X.copy(), _labels(piece.y), piece.weight) for piece in self._layout.read(block)]
        X, y, weight = (
            None if parts[0] is None else stack_rows(parts) for parts in ([p[k] for p in pieces] for k in range(3))
        )
        check_finite(X, self.names)
        return LabelledRows(X, y, weight)


def _labels(y: Any) -> Any:
    return None if y is None else read_labels(y).values


def _merged(mass: float, mean: float, squares: float, X: Any, weight: Any) -> tuple[float, float, float]:
    """Weight, mean and sum of squared deviations of all entries so far, with those of one more block."""
    own = float(weight.sum()) * X.shape[1]
    if not own > 0:
        return mass, mean, squares
    centre = float(weight @ np.asarray(X.sum(axis=1)).ravel()) / own
    if sparse.issparse(X):
        apart = float(weight @ np.asarray(X.multiply(X).sum(axis=1)).ravel()) - own * centre**2
    else:
        apart = float(weight @ np.square(X - centre).sum(axis=1))
    total = mass + own
    shift = centre - mean
    return total, mean + shift * own / total, squares + apart + shift**2 * mass * own / total
