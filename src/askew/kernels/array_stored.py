"""A kernel matrix kept whole where its points live, for many programmes on the same points.

Solves
    What ``Stored`` solves, where the points of a ``Gram`` live in another array library: K is computed once, and rows,
    blocks and sums of rows are read from it, however many programmes and folds share it. There are two of them, as no
    line of one serves the other: the host keeps two precisions in memory it writes over, and gathers by compiled loops;
    a device keeps one, and moves a gradient by a product with the rows it takes.
Given
    Such a ``Gram`` and room for n² numbers of the given precision on its device. The matrix that programmes are solved
    and judged on is the one that is stored, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home, answer, dtype_name, host
from askew.kernels.gram import Gram, fetched_into
from askew.qp import Ability
from askew.qp.matrix import RowsOfTiles
from askew.threads import spans

Vector = NDArray[np.float64]
_ROWS_RAISED = 1024  # rows whose entries are turned into float64 at a time


class ArrayStored(RowsOfTiles):
    """The whole matrix of a ``Gram`` of such points.

    Parameters
    ----------
    gram : Gram
    dtype : float32 or float64
    """

    abilities = frozenset({Ability.ROWS, Ability.UPDATES, Ability.DEVICE})

    def __init__(self, gram: Gram, dtype: Any) -> None:
        xp, n = gram.home.xp, gram.n
        K = xp.empty((n, n), dtype=gram.home.dtype(dtype), device=gram.home.device)
        for first, last in spans(n, 4 * _ROWS_RAISED):
            K[first:last, :] = gram.tile_here(gram.prepare(np.arange(first, last), dtype), slice(0, n))
        self._hold(K, gram.home, gram.is_psd, gram.argument_bound())

    def _hold(self, K: Any, home: Home, is_psd: bool | None, bound: float) -> None:
        self.K, self.home, self.is_psd, self._bound = K, home, is_psd, bound
        self.n = int(K.shape[0])

    def subset(self, indices: NDArray[np.int64]) -> ArrayStored:
        """The same kernel on some of the points."""
        some = object.__new__(ArrayStored)
        some._hold(self.block(self.home.put(indices), dtype_name(self.K)), self.home, self.is_psd, self._bound)
        return some

    @staticmethod
    def bytes_needed(n: int, dtype: Any) -> int:
        """Memory that the matrix of n points takes."""
        return int(np.dtype(dtype).itemsize) * n * n

    def argument_bound(self) -> float:
        """Size of the terms summed for one entry, of a typical point: what float32 rounding is relative to."""
        return self._bound

    def diagonal(self) -> Vector:
        return host(self.home.put(self.home.xp.linalg.diagonal(self.K), np.float64))

    def block(self, indices: Any, dtype: Any = np.float64) -> Any:
        """K[indices][:, indices], where the indices live."""
        xp, here = self.home.xp, self.home.put(indices)
        return answer(self.home.put(xp.take(xp.take(self.K, here, axis=0), here, axis=1), dtype), indices)

    def prepare(self, indices: Any, dtype: Any) -> Any:
        """The left-hand side of K[indices, :], for ``tile``."""
        return self.home.xp.take(self.K, self.home.put(indices), axis=0), dtype

    def tile(self, prepared: Any, columns: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        rows, dtype = prepared
        return fetched_into(out, self.home.put(rows[:, columns], dtype))

    def tile_width(self, m: int, itemsize: int) -> int:
        """Stored rows are read whole."""
        return max(1, self.n)

    def add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K[indices], with products in the precision of K and sums in float64."""
        rows = self.home.xp.take(self.K, indices, axis=0)
        return g + self.home.put(self.home.put(steps, dtype_name(self.K)) @ rows, np.float64)

    def matvec(self, v: Any) -> Any:
        """Kv in float64, where v lives."""
        here = self.home.put(v, np.float64)
        xp = self.home.xp
        (support,) = xp.nonzero(here)
        total = xp.zeros_like(here)
        for first, last in spans(support.shape[0], _ROWS_RAISED):
            some = support[first:last]
            rows = self.home.put(xp.take(self.K, some, axis=0), np.float64)
            total = total + xp.take(here, some, axis=0) @ rows
        return answer(total, v)
