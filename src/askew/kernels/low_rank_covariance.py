"""The kernel covariance of features: an r×r matrix.

Solves
    With Q = ZZ' the covariance-guided kernel of n points is
        P = ηQ + (1−η)sQCQ = Z(ηI + (1−η)sS)Z',   S = Z'CZ,   C = diag(w) − ww'/Σw.
    Features turned into the eigenvectors of S make P = Z diag(η + (1−η)s σ) Z' for every η: a matrix of low rank like
    Q itself, exact in the space of the features. One n×r×r product serves all η.
Given
    Q as ``LowRank``, whose features are turned in place, and w > 0.
Returns
    What ``CovarianceGuided`` and its scales ask of Δ (trace, centring), and P at given η and share as ``LowRank``.
Reference
    Khan, Ksantini, Ahmad, Guan, Incorporating covariance information in one class SVC, eqs. 8 and 9.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.low_rank import ROWS_RAISED
from askew.threads import spans, workers

Vector = NDArray[np.float64]


class LowRankCovariance:
    """Δ = Q(diag(w) − ww'/Σw)Q for Q of low rank.

    Parameters
    ----------
    matrix : LowRank or Recomputed
        Q, with scales of 1.
    weight : array of shape (n,)
        w, all positive.
    """

    is_formed = False

    def __init__(self, matrix: Any, weight: Vector) -> None:
        self.matrix, self.weight = matrix, weight
        self.n, self.total = matrix.n, float(weight.sum())
        mean = matrix.combine(weight) / self.total
        values, rotation = np.linalg.eigh(self._scatter(mean))
        matrix.rotate(rotation)
        self.variances: Vector = np.maximum(values, 0.0)
        self._second_moments: Vector = self.variances + self.total * np.square(rotation.T @ mean)

    def _scatter(self, mean: Vector) -> Vector:
        """Σ w (z − mean)(z − mean)', blocks in the precision of the features, their sum in float64."""
        total, lock = np.zeros((self.matrix.rank, self.matrix.rank)), threading.Lock()

        def work(features: Any, root: Any, first: int, last: int) -> None:
            centred = (features[first:last] - mean.astype(features.dtype)) * root[first:last, None]
            part = centred.T @ centred
            with lock:
                np.add(total, part, out=total)

        with workers() as pool:
            for start, features in self.matrix.feature_blocks():
                root = np.sqrt(self.weight[start : start + len(features)]).astype(features.dtype)
                pool.map(work, [(features, root, *span) for span in spans(len(features), ROWS_RAISED)])
        return total

    def centre(self, v: Any) -> Any:
        """Cv."""
        return (v - v @ self.weight / self.total) * self.weight

    def matvec(self, v: Vector) -> Vector:
        """Δv in float64."""
        return self.spread(self.matrix.matvec(v))

    def spread(self, plain: Vector, dtype: Any = np.float64) -> Vector:
        """Δv from Qv."""
        return self.matrix.matvec(self.centre(plain))

    def diagonal(self) -> Vector:
        """Δ_ii."""
        return self.matrix.scaled(self.variances).diagonal()

    def trace(self) -> float:
        """Σ w_i Δ_ii."""
        return float(self.variances @ self._second_moments)

    def guided(self, eta: float, share: float) -> Any:
        """P = ηQ + share·Δ."""
        return self.matrix.scaled(eta + share * self.variances)
