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

from askew.arrays import Home, is_numpy_array, take_rows
from askew.exceptions import ParameterError
from askew.qp import Ability
from askew.qp.matrix import RowsOfTiles

Array = NDArray[Any]
Vector = NDArray[np.float64]
_PASSED_ON = frozenset({Ability.ROWS, Ability.WHOLE, Ability.UPDATES, Ability.DEVICE, Ability.CAREFUL})


class Conformal(RowsOfTiles):
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
        self.abilities: frozenset[Ability] = matrix.abilities & _PASSED_ON
        self._home = Home()
        if Ability.DEVICE in self.abilities:
            self._home = self.home = matrix.home
        self._factor_here = self._home.put(factor)
        self.n: int = matrix.n
        self.is_psd: bool | None = matrix.is_psd

    @property
    def bend(self) -> Vector:
        """D, times the factors by which K itself is bent."""
        return np.asarray(self.factor * self.matrix.bend if len(self.matrix.bend) else self.factor)

    @property
    def rounding(self) -> float:
        """How far an entry of the stored matrix may be from what it stands for, in units of the entry."""
        return float(self.matrix.rounding)

    def whole(self, dtype: Any) -> Array | None:
        """The stored matrix, not bent: a solver bends what it reads, and no second n×n array is made."""
        return self.matrix.whole(dtype)

    def sharpen(self) -> None:
        """Go over to float64 entries."""
        self.matrix.sharpen()

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

    def block(self, indices: Any, dtype: Any = np.float64) -> Any:
        """K'[indices][:, indices], where the indices live."""
        factor = Home(indices).put(take_rows(self._factor_of(indices), indices), dtype)
        block = self.matrix.block(indices, dtype)
        block *= factor[:, None]
        block *= factor
        return block

    def matvec(self, v: Any) -> Any:
        """K'v in float64, where v lives."""
        factor = self._factor_of(v)
        return factor * self.matrix.matvec(factor * v)

    def argument_sizes(self) -> Vector:
        """What the rounding of each point's arguments grows with."""
        return np.asarray(self.matrix.argument_sizes())

    def product_rounding(self, v: Vector) -> float:
        """Bound of the error of an entry of K'v as ``matvec`` computes it."""
        return float(np.max(self.factor, initial=0.0)) * float(self.matrix.product_rounding(self.factor * v))

    def careful_product(self, v: Vector, indices: NDArray[np.int64]) -> Vector:
        """(K'v)[indices] in float64, from entries whose argument was computed without cancellation."""
        return np.asarray(self.factor[indices] * self.matrix.careful_product(self.factor * v, indices))

    def add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K'[indices], where K lives."""
        moves = self._home.put(steps, np.float64) * self._home.xp.take(self._factor_here, indices, axis=0)
        nothing = self._home.xp.zeros_like(self._factor_here)
        return g + self._factor_here * self.matrix.add_product_at(nothing, indices, moves, dtype)

    def _factor_of(self, x: Any) -> Any:
        """D where x lives: on the host, or where K does."""
        return self.factor if is_numpy_array(x) else self._factor_here

    def subset(self, indices: NDArray[np.int64]) -> Conformal:
        """The same bent kernel on some of the points."""
        return Conformal(self.matrix.subset(indices), self.factor[indices])
