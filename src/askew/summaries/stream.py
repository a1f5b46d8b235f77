"""What is kept of rows that come in batches: positives as rows, negatives as moments, of which old ones may fade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import fetched, stack_rows, take_rows
from askew.moments import CovarianceModel
from askew.summaries.of_rows import Evidence

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class KeptRows:
    """The rows that are kept of one batch.

    Attributes
    ----------
    X : array or sparse matrix
    weight : array of shape (n,)
    rows : array of shape (n,)
        Where they stood, counted from the first row of the stream.
    codes : array of shape (n,)
        Class number of each.
    """

    X: Any
    weight: Vector
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]


@dataclass(frozen=True)
class Stream:
    """Positives and moments gathered batch by batch; a stream with one more batch is a new stream.

    Parameters
    ----------
    model : CovarianceModel
    positive : int or None
        The class of interest when there are two: only its rows are kept. None for one-vs-rest.
    forgetting : float
        Factor on all earlier moments when a batch arrives, in (0, 1]; 1 forgets nothing.
    moments : tuple of Moments or None
        Of each class; None for a class that has not been summed.
    kept : tuple of KeptRows
    n_seen : int
        Rows of all batches, whatever their class or weight.
    """

    model: CovarianceModel
    positive: int | None
    forgetting: float
    moments: tuple[Any, ...]
    kept: tuple[KeptRows, ...] = ()
    n_seen: int = 0

    @classmethod
    def empty(cls, model: CovarianceModel, n_classes: int, positive: int | None, forgetting: float) -> Stream:
        """A stream before its first batch."""
        return cls(model, positive, forgetting, (None,) * n_classes)

    def plus(self, X: Any, codes: NDArray[np.int64], weight: Vector) -> Stream:
        """The stream with one more batch."""
        counts, moments = weight > 0, list(self.moments)
        for code, earlier in enumerate(moments):
            if code == self.positive:
                continue
            rows = np.flatnonzero((codes == code) & counts)
            part = weight[rows]
            plain = None if (part == 1.0).all() else part
            fresh = self.model.moments_of(take_rows(X, rows), plain, streaming=True)
            moments[code] = fresh if earlier is None else earlier.weighted(self.forgetting) + fresh
        rows = np.flatnonzero(counts if self.positive is None else counts & (codes == self.positive))
        kept = self.kept
        if len(rows):
            kept += (KeptRows(fetched(take_rows(X, rows)), weight[rows], rows + self.n_seen, codes[rows]),)
        return replace(self, moments=tuple(moments), kept=kept, n_seen=self.n_seen + X.shape[0])

    @property
    def is_ready(self) -> bool:
        """Whether every machine has positives and negatives."""
        if self.positive is not None:
            return bool(self.kept) and self.moments[1 - self.positive].n_samples > 0
        return len({code for part in self.kept for code in np.unique(part.codes)}) == len(self.moments)

    def evidence(self) -> list[Evidence]:
        """Evidence of every machine so far."""
        parts = [(part.X, part.weight, part.rows, part.codes) for part in self.kept]
        X, weight, rows, codes = (stack_rows(each) for each in zip(*parts, strict=True))
        if self.positive is not None:
            negatives = self.moments[1 - self.positive]
            return [Evidence(X, weight, rows, negatives, self.model.build(negatives))]
        found = []
        for code in range(len(self.moments)):
            negatives = reduce(add, [each for other, each in enumerate(self.moments) if other != code])
            mine = np.flatnonzero(codes == code)
            found.append(Evidence(X[mine], weight[mine], rows[mine], negatives, self.model.build(negatives)))
        return found
