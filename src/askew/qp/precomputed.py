"""A matrix that stands in memory: the kernel matrix a user computed.

Solves
    K given as an n×n array; nothing is known of its sign, so whether it is positive semi-definite is left to
    what the solver sees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.qp.matrix import Ability, RowsOfTiles

Array = NDArray[Any]
_WHOLE, _ROWS = frozenset({Ability.ROWS, Ability.WHOLE}), frozenset({Ability.ROWS})


class Precomputed(RowsOfTiles):
    """A stored symmetric matrix.

    Parameters
    ----------
    matrix : array of shape (n, n)
    indices : array of int, optional
        Keep this subset of the points.
    is_psd : bool, optional
        Whether it is known to be positive semi-definite, or not to be.
    """

    bend = np.empty(0)
    rounding = 0.0

    def __init__(self, matrix: Array, indices: NDArray[np.int64] | None = None, is_psd: bool | None = None) -> None:
        self._matrix = matrix
        self._indices = indices
        self.n = len(matrix) if indices is None else len(indices)
        self.is_psd = is_psd

    @property
    def abilities(self) -> frozenset[Ability]:
        """``WHOLE`` where all points are in use and the array is one of float64 rows."""
        is_whole = self._indices is None and self._matrix.flags.c_contiguous and self._matrix.dtype == np.float64
        return _WHOLE if is_whole else _ROWS

    def whole(self, dtype: Any) -> Array | None:
        """The matrix as it is stored, in float64; None in another precision."""
        if Ability.WHOLE not in self.abilities:
            raise TypeError("This matrix does not offer WHOLE: it is a subset, or not one array of float64 rows.")
        return self._matrix if dtype == np.float64 else None

    def sharpen(self) -> None:
        """Entries are what they are."""

    def argument_bound(self) -> float:
        """Largest size of the terms summed for one entry: nothing is summed here."""
        return float(np.max(np.abs(self.diagonal()), initial=0.0))

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

    def block(self, indices: NDArray[np.int64], dtype: Any = np.float64) -> Array:
        from askew.qp.gather import gather_block

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


def as_precomputed(matrix: Array) -> Precomputed:
    """The matrix of a programme from an array, which must be square, finite and symmetric."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"The matrix of a programme must be square, n×n; got an array of shape {matrix.shape}.")
    matrix = np.ascontiguousarray(matrix, dtype=None if matrix.dtype == np.float32 else np.float64)
    if not np.isfinite(matrix).all():
        raise DataError("The matrix of a programme must be finite; got NaN or infinity. Remove those rows and columns.")
    if not np.allclose(matrix, matrix.T, rtol=1e-4, atol=1e-6 * max(1.0, float(np.abs(matrix).max(initial=0.0)))):
        raise DataError(
            "The matrix of a programme must be symmetric; the one given differs from its transpose by "
            f"{float(np.abs(matrix - matrix.T).max()):.3g}. Pass (K + K.T) / 2 if that is rounding."
        )
    return Precomputed(matrix)
