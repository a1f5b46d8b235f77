"""What a fit stands on: for every machine its positives as rows and its negatives as moments.

Solves
    one-vs-rest from one pass: the negatives of class c are the total less class c, and moments subtract.
Given
    X and a membership matrix (rows by machines). With one machine the negatives are summed directly.
Returns
    One ``Evidence`` per machine. ``askew.summaries.stream`` gathers it from batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import Home, fetched, is_elsewhere, take_rows
from askew.exceptions import DataError
from askew.moments import CovarianceModel, DiagonalMoments, diagonal_moments, divide_moments, divide_rows
from askew.moments.moments import can_subtract, without_each
from askew.moments.passes import without_duplicates
from askew.moments.structure import Structure
from askew.summaries.sample import row_keys

Vector = NDArray[np.float64]

MOST_ORDERED = 2**18  # positives beyond which putting them in order would cost more than the fit


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
        """Weight of the negatives."""
        return float(self.moments.n_samples)

    @property
    def spread(self) -> DiagonalMoments:
        """Moments, feature by feature, of all rows that the machine stands on: its positives and its negatives."""
        return diagonal_moments(self.moments) + DiagonalMoments.of(self.X, self.weight)

    def divided(self, scale: Vector, model: CovarianceModel) -> Evidence:
        """The evidence of rows divided by ``scale``."""
        moments = divide_moments(self.moments, scale)
        return replace(self, X=divide_rows(self.X, scale), moments=moments, structure=model.build(moments))

    def in_order(self) -> Evidence:
        """Dense positives in an order that only their content decides.

        A solver ends somewhere within its tolerance, and where depends on the order of its variables. With this, rows
        that arrive shuffled, in chunks or from many machines lead to the same model to the last digits.
        """
        if sparse.issparse(self.X) or not 1 < len(self.weight) <= MOST_ORDERED:
            return self
        order = np.lexsort((self.weight, row_keys(self.X)))
        return replace(self, X=self.X[order], weight=self.weight[order], rows=self.rows[order])


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
        found.append(Evidence(fetched(mine), weight[rows], rows, rest, structure))
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
        fetched(take_rows(X, rows)), weight[rows], rows, negatives, model.build(negatives, rest, _home_of(X))
    )


def _home_of(X: Any) -> Home:
    return Home(X) if is_elsewhere(X) else Home()


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
