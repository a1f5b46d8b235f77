"""A kernel matrix computed once and kept whole, for many programmes on the same points.

Solves
    K_ij in float64, and a float32 copy where a solver will want rows in that precision: its rows are then views, its
    judgement stays in float64, and nothing is computed twice however many programmes share the points.
Given
    A ``Gram`` and room for 8 (or 12) n² bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.gram import Gram
from askew.kernels.precomputed import Precomputed
from askew.threads import spans, workers

Array = NDArray[Any]


class Stored(Precomputed):
    """The whole matrix of a ``Gram``.

    Parameters
    ----------
    gram : Gram
    with_float32 : bool
        Keep a float32 copy beside the float64 matrix.
    instead_of : Stored, optional
        A matrix of the same points that is no longer needed: its memory is written over, which is cheaper than asking
        for new memory.
    """

    def __init__(self, gram: Gram, with_float32: bool, instead_of: Stored | None = None) -> None:
        n = gram.n
        if instead_of is not None and instead_of.n == n and (instead_of._single is not None) == with_float32:
            matrix, self._single = instead_of._matrix, instead_of._single
        else:
            matrix, self._single = np.empty((n, n)), np.empty((n, n), np.float32) if with_float32 else None

        def work(first: int, last: int) -> None:
            prepared = gram.prepare(np.arange(first, last), np.float64)
            gram.tile(prepared, slice(0, n), matrix[first:last])
            if self._single is not None:
                self._single[first:last] = matrix[first:last]

        gram.tile(gram.prepare(np.arange(min(n, 1)), np.float64), slice(0, n))  # operands are made once, not per thread
        with workers() as pool:
            pool.map(work, spans(n, 128))
        super().__init__(matrix, is_psd=gram.is_psd)

    @staticmethod
    def bytes_needed(n: int, with_float32: bool) -> int:
        """Memory that the matrix of n points takes."""
        return (12 if with_float32 else 8) * n * n

    def whole(self, dtype: Any) -> Array | None:
        if self._single is not None and dtype == np.float32:
            return self._single
        return super().whole(dtype)

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K[indices][:, indices], from the copy in that precision."""
        if self._single is None or dtype != np.float32:
            return super().block(indices, dtype)
        return Precomputed(self._single).block(indices, dtype)

    def matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Kv in float64, from the rows where v is not zero."""
        from askew.kernels.gather import sum_rows

        support, total = np.flatnonzero(v), np.zeros(self.n)
        sum_rows(self._matrix, support, v[support], total)
        return total
