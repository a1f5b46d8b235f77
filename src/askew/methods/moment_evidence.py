"""What a fit stands on: for every machine its positives as rows and its negatives as moments.

Solves
    one-vs-rest from one pass: the negatives of class c are the total less class c, and moments subtract.
Given
    X and a membership matrix (rows by machines). With one machine the negatives are summed directly.
Returns
    One ``Evidence`` per machine. ``Stream`` gathers the same from batches: positives are kept, negatives are added to
    moments, old moments may fade.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import Home, host, is_elsewhere, stack_rows, take_rows
from askew.exceptions import DataError
from askew.moments import CovarianceModel
from askew.moments.moments import can_subtract, without_each
from askew.moments.passes import without_duplicates
from askew.moments.structure import Structure

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """One machine's data.

    Attributes
    ----------
    X : array or sparse matrix of shape (n, d)
        Positives of positive weight.
    weight : array of shape (n,)
    rows : array of shape (n,)
        Where they stood in the data.
    moments : Moments, DiagonalMoments or LowRankMoments
        Of the negatives.
    structure : Structure
        Their covariance, without a ridge.
    """

    X: Any
    weight: Vector
    rows: NDArray[np.int64]
    moments: Any
    structure: Structure

    @property
    def n_negatives(self) -> float:
        """Their weight."""
        return float(self.moments.n_samples)


def gather(X: Any, member: NDArray[np.bool_], weight: Vector, model: CovarianceModel) -> list[Evidence]:
    """Evidence of every column of ``member`` in one pass over X, where X lives; the positives come to the host."""
    if member.shape[1] == 1:
        return [_against_rows(X, member[:, 0], weight, model)]
    if sparse.issparse(X):  # once for all that follows
        X = without_duplicates(X)
    plain = None if (weight == 1.0).all() else weight
    total = model.moments_of(X, plain)
    is_shared = model.name == "factor" and total.is_diagonal
    shared = model.build(total, (X, weight)) if is_shared else None
    by_machine = np.ascontiguousarray(member.T) & (weight > 0)
    groups = [np.flatnonzero(mine) for mine in by_machine]
    positives = [take_rows(X, rows) for rows in groups]
    if not is_elsewhere(X) and can_subtract(X, total):
        negatives = without_each(total, X, groups, weight)
    else:
        weights = [None if plain is None else weight[rows] for rows in groups]
        negatives = [total - model.moments_of(*part) for part in zip(positives, weights, strict=True)]
    found = []
    for c, (rows, mine, rest) in enumerate(zip(groups, positives, negatives, strict=True)):
        _check_negatives(rest)
        if shared is None:
            others = (X, weight * ~member[:, c]) if model.shrinkage == "ledoit_wolf" else None
            structure = model.build(rest, others, _home_of(X))
        else:
            structure = _enlarged(shared, rest, total.n_samples / rest.n_samples)
        found.append(Evidence(_on_host(mine), weight[rows], rows, rest, structure))
    return found


def _against_rows(X: Any, positive: NDArray[np.bool_], weight: Vector, model: CovarianceModel) -> Evidence:
    rows = np.flatnonzero(positive & (weight > 0))
    if sparse.issparse(X) and not model.is_lean(X.shape[1]):
        # for products, a copy of the kept rows is cheaper than weighing every entry
        kept = np.flatnonzero(~positive & (weight > 0))
        rest = (X[kept], None if (weight[kept] == 1.0).all() else weight[kept])
    else:
        rest = (X, np.where(positive, 0.0, weight))
    negatives = model.moments_of(*rest)
    _check_negatives(negatives)
    return Evidence(
        _on_host(take_rows(X, rows)), weight[rows], rows, negatives, model.build(negatives, rest, _home_of(X))
    )


def _home_of(X: Any) -> Home:
    return Home(X) if is_elsewhere(X) else Home()


def _on_host(X: Any) -> Any:
    return host(X) if is_elsewhere(X) else X


def _enlarged(shared: Any, negatives: Any, factor: float) -> Structure:
    """The total's factors for one class's negatives.

    The scatter of a part never exceeds that of the whole, so Σ_c ⪯ (N/N_c)Σ ⪯ (N/N_c)(D + FF'): one decomposition
    serves every class, and the certificate stays valid.
    """
    return type(shared)(negatives.mean, shared.diagonal * factor, shared.factors * np.sqrt(factor))


def _check_negatives(moments: Any) -> None:
    if not moments.n_samples > 0:
        raise DataError(
            "A class holds every row of positive weight, so there are no negatives to take moments of. "
            "Give rows of at least two classes."
        )


class Stream:
    """Positives and moments gathered batch by batch.

    Parameters
    ----------
    model : CovarianceModel
    n_groups : int
        Classes; with two, only the rows of ``positive`` are kept.
    positive : int or None
        The class of interest when there are two, None for one-vs-rest.
    forgetting : float
        Factor on all earlier moments when a batch arrives, in (0, 1]; 1 forgets nothing.
    """

    def __init__(self, model: CovarianceModel, n_groups: int, positive: int | None, forgetting: float) -> None:
        self.model, self.positive, self.forgetting = model, positive, forgetting
        self.kept: list[tuple[Any, Vector, NDArray[np.int64]]] = []
        self.codes: list[NDArray[np.int64]] = []
        self.moments: list[Any] = [None] * n_groups
        self.n_seen = 0

    def add(self, X: Any, codes: NDArray[np.int64], weight: Vector) -> None:
        """Take in a batch."""
        counts = weight > 0
        for group in range(len(self.moments)):
            if group == self.positive:
                continue
            rows = np.flatnonzero((codes == group) & counts)
            part = weight[rows]
            plain = None if (part == 1.0).all() else part
            fresh = self.model.moments_of(take_rows(X, rows), plain, streaming=True)
            old = self.moments[group]
            self.moments[group] = fresh if old is None else old.weighted(self.forgetting) + fresh
        wanted = counts if self.positive is None else counts & (codes == self.positive)
        rows = np.flatnonzero(wanted)
        if len(rows):
            self.kept.append((_on_host(take_rows(X, rows)), weight[rows], rows + self.n_seen))
            self.codes.append(codes[rows])
        self.n_seen += X.shape[0]

    @property
    def is_ready(self) -> bool:
        """Whether every machine has positives and negatives."""
        seen = np.unique(np.concatenate(self.codes)) if self.codes else np.empty(0, np.int64)
        if self.positive is not None:
            return len(seen) == 1 and self.moments[1 - self.positive].n_samples > 0
        return len(seen) == len(self.moments)

    def evidence(self) -> list[Evidence]:
        """Evidence of every machine so far."""
        X, weight, rows = (stack_rows([part[k] for part in self.kept]) for k in range(3))
        if self.positive is not None:
            negatives = self.moments[1 - self.positive]
            return [Evidence(X, weight, rows, negatives, self.model.build(negatives))]
        codes = np.concatenate(self.codes)
        found = []
        for group in range(len(self.moments)):
            rest = [m for k, m in enumerate(self.moments) if k != group]
            negatives = rest[0]
            for more in rest[1:]:
                negatives = negatives + more
            mine = np.flatnonzero(codes == group)
            found.append(Evidence(X[mine], weight[mine], rows[mine], negatives, self.model.build(negatives)))
        return found
