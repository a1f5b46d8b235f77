"""A kernel matrix kept whole where its points live, for many programmes on the same points.

Solves
    What ``Stored`` solves, in the array library of an ``ArrayGram``: K is computed once, and rows, blocks and sums of
    rows are read from it, however many programmes and folds share it.
Given
    An ``ArrayGram`` and room for n² numbers of the given precision on its device. The matrix that programmes are solved
    and judged on is the one that is stored, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home, host
from askew.kernels.array_gram import ArrayGram
from askew.threads import spans

Vector = NDArray[np.float64]
_CHUNK = 1024  # rows whose entries are turned into float64 at a time


class ArrayStored:
    """The whole matrix of an ``ArrayGram``.

    Parameters
    ----------
    gram : ArrayGram
    dtype : float32 or float64
    """

    def __init__(self, gram: ArrayGram, dtype: Any) -> None:
        xp, n = gram.home.xp, gram.n
        K = xp.empty((n, n), dtype=gram.home.dtype(dtype), device=gram.home.device)
        for first, last in spans(n, 4 * _CHUNK):
            K[first:last, :] = gram.rows_at(first, last, dtype)
        self._hold(K, gram.home, gram.is_psd, gram.argument_bound())

    def _hold(self, K: Any, home: Home, is_psd: bool | None, bound: float) -> None:
        self.K, self.home, self.is_psd, self._bound = K, home, is_psd, bound
        self.n = int(K.shape[0])

    def subset(self, indices: NDArray[np.int64]) -> ArrayStored:
        """The same kernel on some of the points."""
        some = object.__new__(ArrayStored)
        some._hold(self.block_at(self.home.put(indices), _numpy_name(self.K)), self.home, self.is_psd, self._bound)
        return some

    @staticmethod
    def bytes_needed(n: int, dtype: Any) -> int:
        """Memory that the matrix of n points takes."""
        return int(np.dtype(dtype).itemsize) * n * n

    def argument_bound(self) -> float:
        """Size of the terms summed for one entry, of a typical point: what float32 rounding is relative to."""
        return self._bound

    def product_rounding(self, v: Vector) -> float:
        """Bound of what the arguments of the kernel cost an entry of Kv: nothing, the entries are held."""
        return 0.0

    def diagonal(self) -> Vector:
        return host(self.home.put(self.home.xp.linalg.diagonal(self.K), np.float64))

    def block(self, indices: Any, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices][:, indices]."""
        return host(self.block_at(self.home.put(indices), dtype))

    def block_at(self, indices: Any, dtype: Any) -> Any:
        """K[indices][:, indices], here."""
        xp = self.home.xp
        return self.home.put(xp.take(xp.take(self.K, indices, axis=0), indices, axis=1), dtype)

    def rows(self, indices: Any, dtype: Any = np.float64) -> NDArray[Any]:
        """K[indices, :]."""
        return self.tile(self.prepare(indices, dtype), slice(0, self.n))

    def prepare(self, indices: Any, dtype: Any) -> Any:
        """The left-hand side of K[indices, :], for ``tile``."""
        return self.home.xp.take(self.K, self.home.put(indices), axis=0), dtype

    def tile(self, prepared: Any, columns: slice, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        rows, dtype = prepared
        tile = host(rows[:, columns]).astype(dtype, copy=False)
        if out is None:
            return tile
        out[...] = tile
        return out

    def tile_width(self, m: int, itemsize: int) -> int:
        """Stored rows are read whole."""
        return max(1, self.n)

    def add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K[indices], with products in the precision of K and sums in float64."""
        rows = self.home.xp.take(self.K, indices, axis=0)
        return g + self.home.put(self.home.put(steps, _numpy_name(self.K)) @ rows, np.float64)

    def matvec(self, v: Vector) -> Vector:
        """Kv in float64."""
        return host(self.matvec_at(self.home.put(v, np.float64)))

    def matvec_at(self, v: Any) -> Any:
        """Kv in float64, here."""
        xp = self.home.xp
        (support,) = xp.nonzero(v)
        total = xp.zeros_like(v)
        for first, last in spans(support.shape[0], _CHUNK):
            some = support[first:last]
            rows = self.home.put(xp.take(self.K, some, axis=0), np.float64)
            total = total + xp.take(v, some, axis=0) @ rows
        return total


def _numpy_name(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]
