"""Points a kernel matrix stands on, dense or sparse: what differs between the two is here and nowhere else.

Given
    X of shape (n, d) and a kernel function with its lengthening u, v (see ``function``).
Returns
    Tiles u(a)'v(b) for some points a against a window of points b. Dense: one product of lengthened points, after
    centring where the kernel allows it. Sparse: rows densified a few at a time against a window that stays sparse;
    the whole of X is never densified.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import Home, host, is_elsewhere, namespace
from askew.kernels.device_points import DevicePoints
from askew.kernels.function import KernelFunction
from askew.qp import SignedPoints

Array = NDArray[Any]
DENSISH = 0.1  # share of non-zeros from which multiplying by densified rows is the faster way


def as_points(X: Any, function: KernelFunction, tile_bytes: int) -> DensePoints | SparsePoints | DevicePoints:
    """Wrap an array of any library, a sparse matrix or signed points."""
    if is_elsewhere(X):
        return DevicePoints(X, function, tile_bytes)
    if isinstance(X, SignedPoints):
        return SparseSignedPoints(X, function)
    if sparse.issparse(X):
        return SparsePoints(X, function)
    return DensePoints(np.asarray(X), function)


class DensePoints:
    """Rows of an array; the right-hand operand v(X)' is kept, once per precision asked for."""

    home, cancels = Home(), False

    sum_tile = (128, 256)
    """Rows and columns of a float64 tile of a sum: it stays in a core's cache."""

    def __init__(self, X: Array, function: KernelFunction, shift: Array | None = None) -> None:
        self.X, self.function = X, function
        self.n = len(X)
        if shift is None:
            shift = np.zeros(X.shape[1])
            if function.is_translation_invariant and len(X):
                shift = X.mean(axis=0, dtype=np.float64)
        self.shift = shift
        self._operands: dict[Any, Array] = {}

    @property
    def squared_norms(self) -> NDArray[np.float64]:
        centred = self._centred(self.X)
        return np.einsum("ij,ij->i", centred, centred)

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns keep an (m, width) tile within a core's cache."""
        return int(np.clip(2**19 // max(1, m * itemsize) // 64 * 64, 128, 8192))

    def like(self, Z: Array) -> Array:
        """Other points in the form of these."""
        return Z

    @staticmethod
    def cut(X: Array, first: int, last: int) -> Array:
        """Rows first:last of points in this form."""
        return X[first:last]

    def left(self, rows: Array, dtype: Any) -> Array:
        """u(a) for the given rows of data."""
        rows = self._centred(rows)
        norms = np.einsum("ij,ij->i", rows, rows)
        return self._lengthen(self.function.scale * rows, self.function.left(norms), dtype)

    def rows_left(self, indices: Array, dtype: Any) -> Array:
        """u(a) for some of the points themselves."""
        return self.left(self.X[indices], dtype)

    def products(self, left: Array, window: slice, out: Array | None = None) -> Array:
        """u(a)'v(b) for b in a window of the points, in the precision of the left side."""
        return np.matmul(left, self._operand(left.dtype)[:, window], out=out)

    def pairs(self, indices: Array, dtype: Any) -> tuple[Array, Array]:
        """Operands of the block at the given indices: u(a) and v(b), for ``pair_products``."""
        rows = self.X[indices]
        return self.left(rows, dtype), self._right(rows, dtype).T

    @staticmethod
    def pair_products(pairs: tuple[Array, Array], first: int, last: int) -> Array:
        """u(a)'v(b) for a in a window of the block's rows and all its b."""
        return pairs[0][first:last] @ pairs[1]

    def sum_inner(self, Z: Array, v: Array) -> Array:
        """Σ_j z'x_j v_j for every row z of Z; v may have several columns."""
        return np.asarray(Z @ (self.X.T.astype(np.float64, copy=False) @ v), dtype=np.float64)

    def inner(self) -> SignedPoints:
        """The points themselves, in float64."""
        return SignedPoints(np.ascontiguousarray(self.X, dtype=np.float64))

    def subset(self, indices: Array) -> DensePoints:
        return DensePoints(self.X[indices], self.function, self.shift)

    def _operand(self, dtype: Any) -> Array:
        key = np.dtype(dtype)
        if key not in self._operands:
            self._operands[key] = np.ascontiguousarray(self._right(self.X, dtype).T)
        return self._operands[key]

    def _right(self, rows: Array, dtype: Any) -> Array:
        rows = self._centred(rows)
        norms = np.einsum("ij,ij->i", rows, rows)
        return self._lengthen(rows, self.function.right(norms), dtype)

    def _centred(self, rows: Array) -> Array:
        return np.asarray(rows, dtype=np.float64) - self.shift

    @staticmethod
    def _lengthen(rows: Array, columns: list[Array], dtype: Any) -> Array:
        d = rows.shape[1]
        out = np.empty((len(rows), d + len(columns)), dtype)
        out[:, :d] = rows
        for k, column in enumerate(columns):
            out[:, d + k] = column
        return out


class SparsePoints:
    """Rows of a CSR matrix."""

    home, cancels = Home(), False

    sum_tile = (256, 8192)
    """Rows and columns of a tile of a sum: long enough to hide the cost of cutting a sparse matrix."""

    def __init__(self, X: Any, function: KernelFunction) -> None:
        self.X, self.function = X.tocsr(), function
        self.n = X.shape[0]
        self._cast: dict[Any, Any] = {}

    @property
    def squared_norms(self) -> NDArray[np.float64]:
        return squared_norms_of_sparse(self.X)

    def tile_width(self, m: int, itemsize: int) -> int:
        """A window long enough to hide the cost of cutting a sparse matrix."""
        return 8192

    def like(self, Z: Any) -> Any:
        return Z

    @staticmethod
    def cut(X: Any, first: int, last: int) -> Any:
        return X[first:last]

    def left(self, rows: Any, dtype: Any) -> tuple[Any, list[Array]]:
        rows = rows.tocsr()
        return rows.astype(dtype), [c.astype(dtype) for c in self.function.left(squared_norms_of_sparse(rows))]

    def rows_left(self, indices: Array, dtype: Any) -> tuple[Any, list[Array]]:
        return self.left(self.X[indices], dtype)

    def products(self, left: tuple[Any, list[Array]], window: slice, out: Array | None = None) -> Array:
        dtype = left[0].dtype
        if dtype not in self._cast:
            self._cast[dtype] = self.X.astype(dtype, copy=False)
        return self._against(left, self._cast[dtype][window], out)

    def pairs(self, indices: Array, dtype: Any) -> tuple[Any, list[Array], Any]:
        rows, columns = self.rows_left(indices, dtype)
        return rows, columns, rows

    def pair_products(self, pairs: tuple[Any, list[Array], Any], first: int, last: int) -> Array:
        rows, columns, right = pairs
        return self._against((rows[first:last], [c[first:last] for c in columns]), right)

    def sum_inner(self, Z: Any, v: Array) -> Array:
        return np.asarray(Z @ (self.X.T @ v), dtype=np.float64)

    def inner(self) -> SignedPoints:
        return SignedPoints(self.X.astype(np.float64, copy=False))

    def subset(self, indices: Array) -> SparsePoints:
        return SparsePoints(self.X[indices], self.function)

    def _against(self, left: tuple[Any, list[Array]], right: Any, out: Array | None = None) -> Array:
        """u(a)'v(b): a sparse product where the points are sparse indeed, else a few rows densified at a time."""
        rows, left_columns = left
        right_columns = self.function.right(squared_norms_of_sparse(right))
        if out is None:
            out = np.empty((rows.shape[0], right.shape[0]), rows.dtype)
        if right.nnz <= DENSISH * right.shape[0] * right.shape[1]:
            out[...] = (rows @ right.T).toarray()
        else:
            step = max(1, 2**22 // max(1, rows.shape[1]))
            for start in range(0, rows.shape[0], step):
                dense = rows[start : start + step].toarray()
                out[start : start + step] = (right @ np.ascontiguousarray(dense.T)).T
        out *= rows.dtype.type(self.function.scale)
        for column, other in zip(left_columns, right_columns, strict=True):
            out += np.multiply.outer(column, other.astype(rows.dtype))
        return out


class SparseSignedPoints(SparsePoints):
    """Sparse rows and signed columns that together have the inner products of whitened points."""

    cancels = True  # the signed columns do: rounding may cross zero

    def __init__(self, X: SignedPoints, function: KernelFunction) -> None:
        if not sparse.issparse(X.rows):
            X = SignedPoints(sparse.csr_array(X.rows), X.columns, X.signs)
        self.X, self.function, self.n = X, function, X.shape[0]

    @property
    def squared_norms(self) -> NDArray[np.float64]:
        return _squared_norms_of_signed(self.X)

    def left(self, rows: SignedPoints, dtype: Any) -> Any:
        return rows, self.function.left(_squared_norms_of_signed(rows)), dtype

    def products(self, left: Any, window: slice, out: Array | None = None) -> Array:
        rows, columns, dtype = left
        tile = self._between(rows, columns, self.X[window])
        if out is None:
            return tile.astype(dtype, copy=False)
        out[...] = tile
        return out

    def pairs(self, indices: Array, dtype: Any) -> Any:
        return self.rows_left(indices, dtype)

    def pair_products(self, pairs: Any, first: int, last: int) -> Array:
        rows, columns, dtype = pairs
        tile = self._between(rows[first:last], [column[first:last] for column in columns], rows)
        return tile.astype(dtype, copy=False)

    def sum_inner(self, Z: SignedPoints, v: Array) -> Array:
        along = self.X.columns.T @ v
        return np.asarray(Z.rows @ (self.X.transposed @ v) + Z.columns @ (self.X.signs * along.T).T)

    def inner(self) -> SignedPoints:
        return self.X

    def subset(self, indices: Array) -> SparseSignedPoints:
        return SparseSignedPoints(self.X[indices], self.function)

    def _between(self, rows: SignedPoints, left_columns: list[Array], right: SignedPoints) -> Array:
        """u(a)'v(b) in float64, since the signed columns cancel."""
        out = np.asarray((rows.rows @ right.rows.T).toarray(), dtype=np.float64)
        out += (rows.columns * rows.signs) @ right.columns.T
        out *= self.function.scale
        right_columns = self.function.right(_squared_norms_of_signed(right))
        for column, other in zip(left_columns, right_columns, strict=True):
            out += np.multiply.outer(column, other)
        return out


def _squared_norms_of_signed(z: SignedPoints) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(z.rows.data**2)])
    squares = np.diff(sums[z.rows.indptr])
    return np.maximum(squares + (z.columns**2) @ z.signs, 0.0)


def squared_norms(X: Any) -> NDArray[np.float64]:
    """‖x‖² of every row, of an array of any library or a sparse matrix, on the host."""
    if sparse.issparse(X):
        return squared_norms_of_sparse(X)
    if is_elsewhere(X):
        rows = Home(X).put(X, np.float64)
        return host(namespace(rows).sum(rows * rows, axis=1))
    return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def squared_norms_of_sparse(X: Any) -> NDArray[np.float64]:
    X = X.astype(np.float64, copy=False)  # squares of float32 entries need more digits than float32 has
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
