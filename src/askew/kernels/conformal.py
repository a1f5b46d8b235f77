"""A kernel matrix bent by a positive factor per point.

Solves
    K'_ij = D_i K_ij D_j, for rows, blocks, the diagonal and products, from a matrix that gives those of K.
Given
    Any symmetric matrix K and D ≥ 0 on its points (see ``askew.kernels.bends`` for where D comes from).
Returns
    A symmetric matrix like K: x'K'x = (Dx)'K(Dx), so K' is positive semi-definite where K is.
Reference
    Amari and Wu (1999), Neural Networks 12:783; Maratea and Petrosino, eq. 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError

Array = NDArray[Any]
Vector = NDArray[np.float64]


class Conformal:
    """D K D.

    Parameters
    ----------
    matrix : SymmetricMatrix
        K.
    factor : array of shape (n,)
        D, finite and not negative. A zero takes a point out of the kernel: its row is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.kernels import Gram, Linear
    >>> K = Gram(Linear(), np.array([[1.0], [2.0]]))
    >>> Conformal(K, np.array([1.0, 0.5])).rows(np.arange(2)).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    def __init__(self, matrix: Any, factor: Vector) -> None:
        factor = np.asarray(factor, dtype=np.float64)
        if factor.shape != (matrix.n,) or not np.all(np.isfinite(factor)) or np.any(factor < 0):
            raise ParameterError(
                f"A kernel on {matrix.n} points is bent by one finite factor ≥ 0 per point; "
                f"got shape {factor.shape} with values from {np.min(factor, initial=0.0):g} "
                f"to {np.max(factor, initial=0.0):g}."
            )
        self.matrix, self.factor = matrix, factor
        if hasattr(matrix, "home"):
            self.home = matrix.home
            self._factor_here = self.home.put(factor)
            self.add_product_at = self._add_product_at
        self.n: int = matrix.n
        self.is_psd: bool | None = matrix.is_psd

    def whole(self, dtype: Any) -> Array | None:
        """DKD computed and held, where K is held: a solver then copies no row."""
        base = self.matrix.whole(dtype) if hasattr(self.matrix, "whole") else None
        if base is None:
            return None
        factor = self.factor.astype(dtype)
        bent: Array = base * factor
        bent *= factor[:, None]
        return bent

    def argument_bound(self) -> float:
        """Largest size of the terms summed for one entry: what float32 rounding is relative to."""
        return float(self.matrix.argument_bound()) * max(1.0, float(np.max(self.factor, initial=0.0)) ** 2)

    def diagonal(self) -> Vector:
        return self.factor**2 * self.matrix.diagonal()

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns of m rows are best produced at a time."""
        return int(self.matrix.tile_width(m, itemsize))

    def prepare(self, indices: NDArray[np.int64], dtype: Any) -> Any:
        """The left-hand side of K'[indices, :], for ``tile``."""
        return self.matrix.prepare(indices, dtype), self.factor[indices, None].astype(dtype)

    def tile(self, prepared: Any, columns: slice, out: Array | None = None) -> Array:
        """K'[indices, columns] for prepared indices, into ``out`` when given."""
        left, factor = prepared
        tile: Array = self.matrix.tile(left, columns, out)
        tile *= factor
        tile *= self.factor[columns].astype(tile.dtype)
        return tile

    def rows(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K'[indices, :]."""
        return self.tile(self.prepare(indices, dtype), slice(0, self.n))

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K'[indices][:, indices]."""
        factor = self.factor[indices].astype(dtype)
        block: Array = self.matrix.block(indices, dtype)
        block *= factor[:, None]
        block *= factor
        return block

    def matvec(self, v: Vector) -> Vector:
        """K'v in float64."""
        return np.asarray(self.factor * self.matrix.matvec(self.factor * v))

    def argument_sizes(self) -> Vector:
        """What the rounding of each point's arguments grows with."""
        return np.asarray(self.matrix.argument_sizes())

    def product_rounding(self, v: Vector) -> float:
        """Bound of the error of an entry of K'v as ``matvec`` computes it."""
        return float(np.max(self.factor, initial=0.0)) * float(self.matrix.product_rounding(self.factor * v))

    def careful_product(self, v: Vector, indices: NDArray[np.int64]) -> Vector:
        """(K'v)[indices] in float64, from entries whose argument was computed without cancellation."""
        return np.asarray(self.factor[indices] * self.matrix.careful_product(self.factor * v, indices))

    def block_at(self, indices: Any, dtype: Any) -> Any:
        """K'[indices][:, indices], where K lives."""
        factor = self.home.put(self.home.xp.take(self._factor_here, indices, axis=0), dtype)
        return self.matrix.block_at(indices, dtype) * factor[:, None] * factor

    def matvec_at(self, v: Any) -> Any:
        """K'v in float64, where K lives."""
        return self._factor_here * self.matrix.matvec_at(self._factor_here * v)

    def _add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K'[indices], where K lives."""
        moves = self.home.put(steps, np.float64) * self.home.xp.take(self._factor_here, indices, axis=0)
        nothing = self.home.xp.zeros_like(self._factor_here)
        return g + self._factor_here * self.matrix.add_product_at(nothing, indices, moves, dtype)

    def subset(self, indices: NDArray[np.int64]) -> Conformal:
        """The same bent kernel on some of the points."""
        return Conformal(self.matrix.subset(indices), self.factor[indices])
