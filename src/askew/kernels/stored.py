"""A kernel matrix computed once and kept whole, for many programmes on the same points.

Solves
    K_ij in float32 where a solver will want rows in that precision, else in float64; nothing is computed twice however
    many programmes share the points. Float32 entries are rounded from float64 ones and summed in float64, which is good
    enough to judge most solutions by. Whoever needs more asks for it, and K is computed once more in float64.
Given
    A ``Gram`` and room for 8 n² bytes, or 4 to 12 n².
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.gram import Gram
from askew.qp import Ability, Precomputed
from askew.threads import spans, workers

Array = NDArray[Any]
_ROWS_FILLED = 128  # computed at a time


class Stored(Precomputed):
    """The whole matrix of a ``Gram``.

    Parameters
    ----------
    gram : Gram
    with_float32 : bool
        Keep the matrix in float32, and in float64 only when that is asked for.
    instead_of : Stored, optional
        A matrix of the same points that is no longer needed: its memory is written over, which is cheaper than asking
        for new memory.
    """

    abilities = frozenset({Ability.ROWS, Ability.WHOLE, Ability.CAREFUL})

    def __init__(self, gram: Gram, with_float32: bool, instead_of: Stored | None = None) -> None:
        self._gram, self._lock = gram, threading.Lock()
        self._memory: dict[Any, Array] = {}
        if instead_of is not None and instead_of.n == gram.n:
            self._memory = instead_of._memory
        self._single = self._filled(np.dtype(np.float32)) if with_float32 else None
        self._double = None if with_float32 else self._filled(np.dtype(np.float64))
        super().__init__(self._double if self._single is None else self._single, is_psd=gram.is_psd)  # type: ignore[arg-type]

    @staticmethod
    def bytes_needed(n: int, with_float32: bool) -> int:
        """Memory that the matrix of n points takes, at most."""
        return (12 if with_float32 else 8) * n * n

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """How far an entry may be from K_ij, in units of K_ij."""
        return 0.5 * float(np.finfo(self._matrix.dtype).eps)

    def argument_sizes(self) -> NDArray[np.float64]:
        """What the rounding of each point's arguments grows with."""
        return self._gram.argument_sizes()

    def product_rounding(self, v: NDArray[np.float64]) -> float:
        """Bound of what the rounding of arguments in float64 makes of an entry of Kv."""
        return self._gram.product_rounding(v)

    def careful_product(self, v: NDArray[np.float64], indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """(Kv)[indices] in float64, from entries whose argument was computed without cancellation."""
        return self._gram.careful_product(v, indices)

    def sharpen(self) -> None:
        """Go over to float64 entries."""
        with self._lock:
            if self._double is None:
                self._double = self._filled(np.dtype(np.float64))
                self._matrix = self._double

    def whole(self, dtype: Any) -> Array | None:
        """All of K in a precision, where it is kept in that; in float64 always."""
        if dtype == np.float64:
            self.sharpen()
            return self._double
        return self._single if dtype == np.float32 else None

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K[indices][:, indices], from the copy in that precision, or the finest there is."""
        if self._single is not None and dtype == np.float32:
            return Precomputed(self._single).block(indices, dtype)
        return super().block(indices, dtype)

    def matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Kv summed in float64, from the rows where v is not zero."""
        from askew.qp.gather import sum_rows

        support, total = np.flatnonzero(v), np.zeros(self.n)
        sum_rows(self._matrix, support, v[support], total)
        return total

    def _filled(self, dtype: np.dtype[Any]) -> Array:
        """All of K, computed in float64 and kept in ``dtype``."""
        gram, n, scratch = self._gram, self._gram.n, threading.local()
        matrix = self._memory.get(dtype)
        if matrix is None:
            matrix = self._memory[dtype] = np.empty((n, n), dtype)

        def work(first: int, last: int) -> None:
            prepared = gram.prepare(np.arange(first, last), np.float64)
            if dtype == np.float64:
                gram.tile(prepared, slice(0, n), matrix[first:last])
                return
            if not hasattr(scratch, "rows"):
                scratch.rows = np.empty((_ROWS_FILLED, n))
            matrix[first:last] = gram.tile(prepared, slice(0, n), scratch.rows[: last - first])

        gram.tile(gram.prepare(np.arange(min(n, 1)), np.float64), slice(0, n))  # operands are made once, not per thread
        with workers() as pool:
            pool.map(work, spans(n, _ROWS_FILLED))
        return matrix
