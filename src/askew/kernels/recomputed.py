"""A kernel matrix of low rank whose factor is never held: features are made anew whenever they are asked for.

Solves
    K = Z diag(a) Z' with Z = K_nm P (``nystroem``). A product Kv needs no features at all: Z'v = P'(K_mn v), and Zw =
    K_nm(Pw), both sums of kernel values over blocks of rows; only rows that a solver wants to work on are projected.
Given
    The map, and rows that offer ``n``, ``blocks()`` (first row and block, in order) and ``take(indices)``: an array in
    memory, or a file that is read again.
Returns
    Products in float64, and the features of chosen rows as ``LowRank``. Memory is that of a block and of what is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.arrays import row_precision
from askew.kernels.low_rank import LowRank
from askew.kernels.nystroem import Nystroem
from askew.qp import Ability
from askew.threads import spans

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK_ROWS = 65_536
LEAST_HELD = 4096  # rows whose features are held however little memory there is


def rows_held(memory: float, rank: int, tol: float) -> int:
    """How many rows of so many features have room in ``memory`` bytes, in the precision that ``tol`` allows."""
    size = np.dtype(row_precision(LEAST_HELD, tol, 1.0)).itemsize
    return max(LEAST_HELD, int(memory / (size * max(1, rank))))


class Rows(Protocol):
    """Rows that can be passed over again and again."""

    n: int

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """The number of each block's first row, and the block."""
        ...

    def take(self, indices: Indices) -> Any:
        """Some rows, in the order of the indices."""
        ...

    def subset(self, indices: Indices) -> Rows:
        """Some rows as rows of their own; the indices rise."""
        ...


class HeldRows:
    """Rows of an array or CSR matrix in memory."""

    def __init__(self, X: Any, block: int = BLOCK_ROWS) -> None:
        self.X, self.n, self._block = X, int(X.shape[0]), block

    def blocks(self) -> Iterator[tuple[int, Any]]:
        for first, last in spans(self.n, self._block):
            yield first, self.X[first:last]

    def take(self, indices: Indices) -> Any:
        return self.X[indices]

    def subset(self, indices: Indices) -> HeldRows:
        return HeldRows(self.X[indices], self._block)


class Recomputed:
    """K = Z diag(a) Z', without Z.

    Parameters
    ----------
    origin : Nystroem
    rows : Rows
    scales : array of shape (r,), optional
        a; ones by default.
    """

    is_psd = True
    abilities = frozenset({Ability.FACTOR})

    def __init__(self, origin: Nystroem, rows: Rows, scales: Vector | None = None) -> None:
        self.origin, self.points = origin, rows
        self.n, self.rank = rows.n, origin.rank
        self.scales = np.ones(self.rank) if scales is None else np.asarray(scales, dtype=np.float64)

    @cached_property
    def _diagonal(self) -> Vector:
        squares = np.empty(self.n)
        for first, X in self.points.blocks():
            squares[first : first + X.shape[0]] = np.square(self.origin.features(X)) @ self.scales
        return squares

    def diagonal(self) -> Vector:
        return self._diagonal

    def argument_bound(self) -> float:
        """Largest size of the terms summed for one entry."""
        return float(np.max(self._diagonal, initial=0.0))

    def scaled(self, scales: Vector) -> Recomputed:
        """The matrix of the same features with other scales."""
        return Recomputed(self.origin, self.points, scales)

    def rotate(self, rotation: Vector) -> None:
        """Turn the features by an orthogonal matrix."""
        self.origin = self.origin.rotated(rotation)

    def subset(self, indices: Indices) -> Recomputed:
        """The same kernel on some of the points."""
        return Recomputed(self.origin, self.points.subset(indices), self.scales)

    def feature_blocks(self) -> Iterator[tuple[int, Vector]]:
        """The number of each block's first row, and the features of the block."""
        for first, X in self.points.blocks():
            yield first, self.origin.features(X)

    def combine(self, v: Vector) -> Vector:
        """Z'v in float64, from the rows where v is not zero; v may have several columns."""
        total = np.zeros((self.rank, *v.shape[1:]))
        for first, X in self.points.blocks():
            part = v[first : first + X.shape[0]]
            support = np.flatnonzero(part if part.ndim == 1 else part.any(axis=1))
            if len(support):
                total += self.origin.combine(X[support], part[support])
        return total

    def landmark_weights(self, v: Vector) -> Vector:
        """c with Σ_i v_i φ(x_i)'φ(x) = Σ_j c_j k(landmark_j, x); v may have several columns."""
        return self.origin.landmark_weights(self.combine(v))

    def scores(self, weights: Vector) -> Vector:
        """Zw in float64."""
        out, coefficients = np.empty(self.n), self.origin.landmark_weights(weights)
        for first, X in self.points.blocks():
            out[first : first + X.shape[0]] = self.origin.gram.weighted_sum(X, coefficients)
        return out

    def matvec(self, v: Vector) -> Vector:
        """Kv in float64."""
        return self.scores(self.scales * self.combine(v))

    def gather(self, indices: Indices, dtype: Any = np.float64) -> LowRank:
        """The same kernel on some of the points, with their features held."""
        return LowRank(self.origin.features(self.points.take(indices), dtype), self.scales, self.origin)

    def block(self, indices: Indices, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices][:, indices]."""
        return self.gather(indices).block(np.arange(len(indices)), dtype)
