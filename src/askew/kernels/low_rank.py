"""A kernel matrix of low rank, held as its factor.

Solves
    K = Z diag(a) Z' for features Z (n×r) and scales a > 0, without any n×n array: a product Kv is Z(a∘Z'v), two passes
    over Z; a block of q rows is q²r operations; and the gradient of a solver moves by one pass over Z, however many
    variables moved.
Given
    Z in float32 or float64 and, where they are not 1, the scales.
Returns
    A symmetric matrix for ``askew.qp``. The entries are those of Z as it is stored: a certificate in float64 judges
    exactly the programme that the stored features pose.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.nystroem import Nystroem
from askew.qp import Ability
from askew.qp.matrix import RowsOfTiles
from askew.threads import spans, workers

Array = NDArray[Any]
Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

ROWS_RAISED = 2048  # rows that are raised to float64 at a time
ROWS_PASSED = 8192  # rows of a pass in the features' own precision


class LowRank(RowsOfTiles):
    """K = Z diag(a) Z'.

    Parameters
    ----------
    features : array of shape (n, r)
        Z.
    scales : array of shape (r,), optional
        a; ones by default.
    origin : Nystroem, optional
        The map that made the features.
    """

    is_psd = True
    abilities = frozenset({Ability.ROWS, Ability.FACTOR, Ability.HELD, Ability.UPDATES})

    def __init__(self, features: Array, scales: Vector | None = None, origin: Nystroem | None = None) -> None:
        self.features, self.origin = features, origin
        self.n, self.rank = features.shape
        self.scales = np.ones(self.rank) if scales is None else np.asarray(scales, dtype=np.float64)

    @classmethod
    def of(cls, origin: Nystroem, rows: Any, dtype: Any) -> LowRank:
        """The kernel of a map on rows that come in blocks."""
        features = np.empty((rows.n, origin.rank), dtype)
        for first, X in rows.blocks():
            origin.features(X, out=features[first : first + X.shape[0]])
        return cls(features, origin=origin)

    @cached_property
    def _diagonal(self) -> Vector:
        squares = np.empty(self.n)

        def work(first: int, last: int) -> None:
            squares[first:last] = np.square(self.features[first:last].astype(np.float64)) @ self.scales

        with workers() as pool:
            pool.map(work, spans(self.n, ROWS_RAISED))
        return squares

    def diagonal(self) -> Vector:
        return self._diagonal

    def argument_bound(self) -> float:
        """Largest size of the terms summed for one entry."""
        return float(np.max(self._diagonal, initial=0.0))

    def scaled(self, scales: Vector) -> LowRank:
        """The matrix of the same features with other scales."""
        return LowRank(self.features, scales, self.origin)

    def rotate(self, rotation: Vector) -> None:
        """Turn the features, and the map they come from, by an orthogonal matrix, in place."""
        turn = rotation.astype(self.features.dtype)

        def work(first: int, last: int) -> None:
            self.features[first:last] = self.features[first:last] @ turn

        with workers() as pool:
            pool.map(work, spans(self.n, ROWS_RAISED))
        self.origin = None if self.origin is None else self.origin.rotated(rotation)

    def subset(self, indices: Indices) -> LowRank:
        """The same kernel on some of the points."""
        return self.gather(indices, self.features.dtype)

    def gather(self, indices: Indices, dtype: Any = np.float64) -> LowRank:
        """The same kernel on some of the points, with features in the given precision."""
        return LowRank(self.features[indices].astype(dtype, copy=False), self.scales, self.origin)

    def feature_blocks(self) -> Iterator[tuple[int, Array]]:
        """The number of each block's first row, and the features of the block: all at once, since they are held."""
        yield 0, self.features

    def combine(self, v: Vector) -> Vector:
        """Z'v in float64, from the rows where v is not zero; v may have several columns."""
        support = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
        total = np.zeros((self.rank, *v.shape[1:]))
        for first, last in spans(len(support), ROWS_RAISED):
            some = support[first:last]
            total += self.features[some].T.astype(np.float64) @ v[some]
        return total

    def landmark_weights(self, v: Vector) -> Vector:
        """c with Σ_i v_i φ(x_i)'φ(x) = Σ_j c_j k(landmark_j, x); v may have several columns."""
        assert self.origin is not None
        return self.origin.landmark_weights(self.combine(v))

    def scores(self, weights: Vector) -> Vector:
        """Zw in float64."""
        out = np.empty(self.n)

        def work(first: int, last: int) -> None:
            out[first:last] = self.features[first:last].astype(np.float64, copy=False) @ weights

        with workers() as pool:
            pool.map(work, spans(self.n, ROWS_RAISED))
        return out

    def matvec(self, v: Vector) -> Vector:
        """Kv in float64."""
        return self.scores(self.scales * self.combine(v))

    def add_product_at(self, g: Vector, indices: Indices, steps: Array, dtype: Any) -> Vector:
        """g + steps @ K[indices], in place: one pass over the features in the given precision."""
        weights = (self.scales * (steps @ self.features[indices].astype(np.float64))).astype(dtype)

        def work(first: int, last: int) -> None:
            g[first:last] += self.features[first:last].astype(dtype, copy=False) @ weights

        with workers() as pool:
            pool.map(work, spans(self.n, ROWS_PASSED))
        return g

    def prepare(self, indices: Indices, dtype: Any) -> Array:
        """The left-hand side of K[indices, :], for ``tile``."""
        return (self.features[indices] * self.scales.astype(dtype)).astype(dtype, copy=False)

    def tile(self, prepared: Array, columns: slice, out: Array | None = None) -> Array:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        return np.matmul(prepared, self.features[columns].T.astype(prepared.dtype, copy=False), out=out)

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns of m rows are best produced at a time."""
        return int(np.clip(2**19 // max(1, m * itemsize) // 64 * 64, 128, ROWS_PASSED))

    def block(self, indices: Indices, dtype: Any = np.float64) -> Array:
        """K[indices][:, indices]."""
        out = np.empty((len(indices), len(indices)), dtype)
        right = self.features[indices].astype(dtype, copy=False)
        left = right * self.scales.astype(dtype)

        def work(first: int, last: int) -> None:
            np.matmul(left[first:last], right.T, out=out[first:last])

        with workers() as pool:
            pool.map(work, spans(len(indices), 256))
        return out
