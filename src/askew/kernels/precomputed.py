"""A kernel matrix the user computed.

Solves
    K given as an n×n array; nothing is known of its sign, so whether it is positive semi-definite is left to
    what the solver sees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Precomputed:
    """Rows of a stored symmetric matrix.

    Parameters
    ----------
    matrix : array of shape (n, n)
    indices : array of int, optional
        Keep this subset of the points.
    """

    def __init__(self, matrix: Array, indices: NDArray[np.int64] | None = None, is_psd: bool | None = None) -> None:
        self._matrix = matrix
        self._indices = indices
        self.n = len(matrix) if indices is None else len(indices)
        self.is_psd = is_psd

    def whole(self, dtype: Any) -> Array | None:
        """The matrix as it is stored, where all of its points are in use and the precision is right; else None."""
        is_whole = self._indices is None and self._matrix.flags.c_contiguous
        return self._matrix if is_whole and self._matrix.dtype == dtype else None

    def argument_bound(self) -> float:
        """Largest size of the terms summed for one entry: nothing is summed here."""
        return float(np.max(np.abs(self.diagonal()), initial=0.0))

    def product_rounding(self, v: NDArray[np.float64]) -> float:
        """Bound of what the arguments of the kernel cost an entry of Kv: nothing, the entries are given."""
        return 0.0

    def diagonal(self) -> NDArray[np.float64]:
        diagonal = np.diagonal(self._matrix)
        return np.array(diagonal if self._indices is None else diagonal[self._indices], dtype=np.float64)

    def tile_width(self, m: int, itemsize: int) -> int:
        """Stored rows are read whole."""
        return max(1, self.n)

    def prepare(self, indices: NDArray[np.int64], dtype: Any) -> Any:
        """The left-hand side of K[indices, :], for ``tile``."""
        return indices if self._indices is None else self._indices[indices], dtype

    def tile(self, prepared: Any, columns: slice, out: Array | None = None) -> Array:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        indices, dtype = prepared
        if self._indices is None:
            tile = self._matrix[indices, columns]
        else:
            tile = self._matrix[np.ix_(indices, self._indices[columns])]
        if out is None:
            return np.ascontiguousarray(tile, dtype=dtype)
        out[...] = tile
        return out

    def rows(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        """K[indices, :]."""
        return self.tile(self.prepare(indices, dtype), slice(0, self.n))

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        from askew.kernels.gather import gather_block

        kept = indices if self._indices is None else self._indices[indices]
        out = np.empty((len(kept), len(kept)), dtype)
        gather_block(self._matrix, kept, out)
        return out

    def matvec(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        support = np.flatnonzero(v)
        total = np.zeros(self.n)
        for start in range(0, len(support), 256):
            some = support[start : start + 256]
            total += v[some] @ self.rows(some)
        return total

    def weighted_sum(self, Z: Array, coefficients: Array) -> NDArray[np.float64]:
        """Σ_j Z[:, j] coefficients[j], where Z holds the kernel of new points with every stored one."""
        columns = Z if self._indices is None else Z[:, self._indices]
        return np.asarray(columns @ coefficients, dtype=np.float64)

    def subset(self, indices: NDArray[np.int64]) -> Precomputed:
        """The same kernel on some of the points."""
        kept = indices if self._indices is None else self._indices[indices]
        return Precomputed(self._matrix, kept, self.is_psd)
