"""Points a kernel matrix stands on, dense, sparse or signed: what differs between them is here and nowhere else.

Given
    X of shape (n, d) and a kernel function with its lengthening u, v (see ``function``).
Returns
    Tiles u(a)'v(b) for some points a against a window of points b. Dense: one product of lengthened points, after
    centring where the kernel allows it: about the mean, or, where one cell may have moved that far out, the median.
    Sparse: rows densified a few at a time against a window that stays sparse; the whole of X is never densified, and
    only columns without zeros are centred, where that is needed.
    Of a kernel of distances, pairs of points that are both too far out for products (see ``rbf``) get −γ‖a − b‖² from
    differences: rarely more than a few rows.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import Home, host, is_elsewhere, namespace, take_rows
from askew.kernels.function import KernelFunction
from askew.qp import SignedPoints

Array = NDArray[Any]
DENSE_SHARE = 0.1  # share of non-zeros from which multiplying by densified rows is the faster way
CENTRE_ROWS = 201  # rows, in even steps, whose median is the centre


@dataclass(frozen=True)
class Left:
    """u(a) for some rows of data, in the form that the points multiply, and the rows that products are no good for."""

    operand: Any
    far: Array
    """Places of the far rows among them."""
    far_rows: Any
    """Those rows of data, as they came."""


class Points:
    """What all points share: far points, and arguments of the kernel without cancellation.

    All have ``home``, where they live; ``X``, the rows as they came; ``function``; ``n``; and ``squared_norms``, about
    the centre.
    """

    home = Home()
    X: Any
    function: KernelFunction
    n: int

    def like(self, Z: Any) -> Any:
        """Other points, brought to where these live."""
        return Z

    @staticmethod
    def cut(X: Any, first: int, last: int) -> Any:
        """Rows first:last of points in this form."""
        return X[first:last]

    @property
    def terms(self) -> int:
        """Most products summed for ‖x‖²."""
        return int(self.X.shape[1])

    @property
    def squared_norms(self) -> Any:
        """‖x − c‖² of every point, where it lives."""
        raise NotImplementedError

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Sums of the sizes of the terms of ‖x − c‖²: what its rounding is relative to."""
        return host(self.squared_norms)

    @cached_property
    def far(self) -> NDArray[np.int64]:
        """The points too far out for products, in rising order."""
        if self.function.distance_factor is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(~(self.sizes <= self.function.far_limit(self.terms)))  # NaN is far, too

    def far_among(self, rows: Any, sizes: Array) -> tuple[Array, Any]:
        """Places of far rows of data, and those rows; none where no point is far."""
        if not len(self.far):
            return self.far, None
        far = np.flatnonzero(~(host(sizes) <= self.function.far_limit(self.terms)))
        return far, take_rows(rows, far)

    def quietly(self) -> AbstractContextManager[Any]:
        """No word about products that overflow: of two far points they are mended, of a far and a near one −∞."""
        return np.errstate(over="ignore", invalid="ignore") if len(self.far) else nullcontext()

    def mend(self, products: Any, left: Left, window: slice) -> Any:
        """The products with −γ‖a − b‖² in place of those of far rows and far points of a window, mended in place."""
        if not len(left.far):
            return products
        first, last, _ = window.indices(self.n)
        far = self.far[np.searchsorted(self.far, first) : np.searchsorted(self.far, last)]
        if not len(far):
            return products
        return self._with_distances(products, left.far, far - first, left.far_rows, take_rows(self.X, far))

    def mend_pairs(self, products: Any, left: Left, first: int, last: int) -> Any:
        """Those of a window of the rows of a block against all of them, mended alike."""
        if not len(left.far):
            return products
        begin, end = np.searchsorted(left.far, [first, last])
        rows = self.cut(left.far_rows, int(begin), int(end))
        return self._with_distances(products, left.far[begin:end] - first, left.far, rows, left.far_rows)

    def careful_arguments(self, rows: Any, others: Any) -> NDArray[np.float64]:
        """u(a)'v(b) in float64 without cancellation, for rows of data as they came."""
        factor = self.function.distance_factor
        if factor is not None:
            return -factor * self.distances(rows, others)
        arguments = self.function.scale * self.inner_products(rows, others)
        nothing = np.zeros(1)
        for column, other in zip(self.function.left(nothing), self.function.right(nothing), strict=True):
            arguments += column[0] * other[0]
        return arguments

    def careful_combination(self, v: NDArray[np.float64], rows: Any) -> NDArray[np.float64]:
        """a'(X'v) for rows of data as they came, both products by compensated sums."""
        raise NotImplementedError

    def distances(self, rows: Any, others: Any) -> NDArray[np.float64]:
        """‖a − b‖² from differences, for rows of data as they came."""
        raise NotImplementedError

    def inner_products(self, rows: Any, others: Any) -> NDArray[np.float64]:
        """a'b by compensated sums, for rows of data as they came."""
        raise NotImplementedError

    def _with_distances(self, products: Any, places: Array, columns: Array, rows: Any, others: Any) -> Any:
        """The products with −γ‖a − b‖² of the rows and the others at the given places and columns."""
        assert self.function.distance_factor is not None
        products[np.ix_(places, columns)] = -self.function.distance_factor * self.distances(rows, others)
        return products


class DensePoints(Points):
    """Rows of an array; the right-hand operand v(X)' is kept, once per precision asked for."""

    sum_tile = (128, 256)
    """Rows and columns of a float64 tile of a sum: it stays in a core's cache."""

    def __init__(self, X: Array, function: KernelFunction, shift: Array | None = None) -> None:
        self.X, self.function = X, function
        self.n = len(X)
        self.shift = np.zeros(X.shape[1]) if shift is None else shift
        if shift is None and function.is_translation_invariant and len(X):
            self._centre()
        self._operands: dict[Any, Array] = {}

    def _centre(self) -> None:
        """Shift by the mean, or by the median where the mean leaves points far out: one cell may have moved it."""
        if self.function.distance_factor is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                self.shift = self.X.mean(axis=0, dtype=np.float64)
                if not len(self.far):
                    return
        self.shift = median(self.X[some_rows(self.n)])
        for name in ("squared_norms", "far"):
            self.__dict__.pop(name, None)

    @property
    def rows(self) -> NDArray[np.float64]:
        """The points about the centre."""
        return self._centred(self.X)

    @cached_property
    def squared_norms(self) -> NDArray[np.float64]:
        centred = self.rows
        return np.asarray(np.einsum("ij,ij->i", centred, centred))

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns keep an (m, width) tile within a core's cache."""
        return int(np.clip(2**19 // max(1, m * itemsize) // 64 * 64, 128, 8192))

    def left(self, rows: Array, dtype: Any) -> Left:
        """u(a) for the given rows of data."""
        centred = self._centred(rows)
        norms = np.einsum("ij,ij->i", centred, centred)
        with self.quietly():
            operand = self._lengthen(self.function.scale * centred, self.function.left(norms), dtype)
        return Left(operand, *self.far_among(rows, norms))

    def rows_left(self, indices: Array, dtype: Any) -> Left:
        """u(a) for some of the points themselves."""
        return self.left(self.X[indices], dtype)

    def products(self, left: Left, window: slice, out: Array | None = None) -> Array:
        """u(a)'v(b) for b in a window of the points, in the precision of the left side."""
        with self.quietly():
            products = np.matmul(left.operand, self._operand(left.operand.dtype)[:, window], out=out)
        return self.mend(products, left, window)

    def pairs(self, indices: Array, dtype: Any) -> tuple[Left, Any]:
        """Operands of the block at the given indices: u(a) and v(b), for ``pair_products``."""
        rows = self.X[indices]
        with self.quietly():
            return self.left(rows, dtype), self._right(rows, dtype).T

    def pair_products(self, pairs: tuple[Left, Any], first: int, last: int) -> Array:
        """u(a)'v(b) for a in a window of the block's rows and all its b."""
        left, right = pairs
        with self.quietly():
            products = left.operand[first:last] @ right
        return self.mend_pairs(products, left, first, last)

    def sum_inner(self, Z: Array, v: Array) -> Array:
        """Σ_j z'x_j v_j for every row z of Z; v may have several columns."""
        return np.asarray(Z @ (self.X.T.astype(np.float64, copy=False) @ v), dtype=np.float64)

    def inner(self) -> SignedPoints:
        """The points themselves, in float64."""
        return SignedPoints(np.ascontiguousarray(self.X, dtype=np.float64))

    def subset(self, indices: Array) -> DensePoints:
        some = DensePoints(self.X[indices], self.function, self.shift)
        some.squared_norms = self.squared_norms[indices]
        return some

    def careful_combination(self, v: NDArray[np.float64], rows: Array) -> NDArray[np.float64]:
        w = self.inner_products(self.X.T, v[None, :])
        return self.inner_products(rows, w.T)[:, 0]

    def distances(self, rows: Array, others: Array) -> NDArray[np.float64]:
        from askew.kernels import careful

        out = np.empty((len(rows), len(others)))
        careful.distances(np.ascontiguousarray(rows), np.ascontiguousarray(others), out)
        return out

    def inner_products(self, rows: Array, others: Array) -> NDArray[np.float64]:
        from askew.kernels import careful

        out = np.empty((len(rows), len(others)))
        careful.products(np.ascontiguousarray(rows), np.ascontiguousarray(others), out)
        return out

    def _operand(self, dtype: Any) -> Array:
        key = np.dtype(dtype)
        if key not in self._operands:
            with self.quietly():
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


class SparsePoints(Points):
    """Rows of a CSR matrix.

    Columns without zeros are centred (``centre`` is a row, or None) where products of the points as they are would be
    no good: that costs a copy, no density.
    """

    sum_tile = (256, 8192)
    """Rows and columns of a tile of a sum: long enough to hide the cost of cutting a sparse matrix."""

    def __init__(self, X: Any, function: KernelFunction) -> None:
        self.X, self.function, self.centre = X.tocsr(), function, None
        self.n = X.shape[0]
        self._cast: dict[Any, Any] = {}
        if function.is_translation_invariant and (len(self.far) or function.distance_factor is None):
            self.centre = centre_of_full_columns(self.X)
            if self.centre is not None:
                for name in ("squared_norms", "far"):
                    self.__dict__.pop(name, None)

    @cached_property
    def rows(self) -> Any:
        """The points about the centre."""
        return self._centred(self.X)

    @property
    def terms(self) -> int:
        return int(np.max(np.diff(self.X.indptr), initial=0))

    @cached_property
    def squared_norms(self) -> NDArray[np.float64]:
        return squared_norms_of_sparse(self.rows if self.centre is not None else self.X)

    def tile_width(self, m: int, itemsize: int) -> int:
        """A window long enough to hide the cost of cutting a sparse matrix."""
        return 8192

    def left(self, rows: Any, dtype: Any) -> Left:
        rows = rows.tocsr()
        centred = self._centred(rows)
        norms = squared_norms_of_sparse(centred)
        with self.quietly():
            operand = centred.astype(dtype), [c.astype(dtype) for c in self.function.left(norms)]
        return Left(operand, *self.far_among(rows, norms))

    def rows_left(self, indices: Array, dtype: Any) -> Left:
        return self.left(self.X[indices], dtype)

    def products(self, left: Left, window: slice, out: Array | None = None) -> Array:
        dtype = left.operand[0].dtype
        if dtype not in self._cast:
            self._cast[dtype] = self.rows.astype(dtype, copy=False)
        with self.quietly():
            products = self._against(left.operand, self._cast[dtype][window], out)
        return self.mend(products, left, window)

    def pairs(self, indices: Array, dtype: Any) -> tuple[Left, Any]:
        left = self.rows_left(indices, dtype)
        return left, left.operand[0]

    def pair_products(self, pairs: tuple[Left, Any], first: int, last: int) -> Array:
        left, right = pairs
        rows, columns = left.operand
        with self.quietly():
            products = self._against((rows[first:last], [c[first:last] for c in columns]), right)
        return self.mend_pairs(products, left, first, last)

    def sum_inner(self, Z: Any, v: Array) -> Array:
        return np.asarray(Z @ (self.X.T @ v), dtype=np.float64)

    def inner(self) -> SignedPoints:
        return SignedPoints(self.X.astype(np.float64, copy=False))

    def subset(self, indices: Array) -> SparsePoints:
        some = copy(self)
        some.X, some.n, some._cast = self.X[indices], len(indices), {}
        for name in ("rows", "far"):
            some.__dict__.pop(name, None)
        some.squared_norms = self.squared_norms[indices]
        return some

    def careful_combination(self, v: NDArray[np.float64], rows: Any) -> NDArray[np.float64]:
        w = self.inner_products(self.X.T.tocsr(), sparse.csr_array(v[None, :]))
        return self.inner_products(rows, sparse.csr_array(w.T))[:, 0]

    def distances(self, rows: Any, others: Any) -> NDArray[np.float64]:
        from askew.kernels import careful

        out = np.empty((rows.shape[0], others.shape[0]))
        careful.distances_of_sparse(*_parts(rows), *_parts(others), rows.shape[1], out)
        return out

    def inner_products(self, rows: Any, others: Any) -> NDArray[np.float64]:
        from askew.kernels import careful

        out = np.empty((rows.shape[0], others.shape[0]))
        careful.products_of_sparse(*_parts(rows), *_parts(others), rows.shape[1], out)
        return out

    def _centred(self, rows: Any) -> Any:
        """Rows of data about the centre."""
        if self.centre is None:
            return rows
        m, full = rows.shape[0], self.centre.indices
        centres = sparse.csr_array(
            (np.tile(self.centre.data, m), np.tile(full, m), np.arange(m + 1) * len(full)), shape=rows.shape
        )
        return (sparse.csr_array(rows, dtype=np.float64) - centres).tocsr()

    def _against(self, left: tuple[Any, list[Array]], right: Any, out: Array | None = None) -> Array:
        """u(a)'v(b): a sparse product where the points are sparse indeed, else a few rows densified at a time."""
        rows, left_columns = left
        right_columns = self.function.right(squared_norms_of_sparse(right))
        if out is None:
            out = np.empty((rows.shape[0], right.shape[0]), rows.dtype)
        if right.nnz <= DENSE_SHARE * right.shape[0] * right.shape[1]:
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

    def __init__(self, X: SignedPoints, function: KernelFunction) -> None:
        if not sparse.issparse(X.rows):
            X = SignedPoints(sparse.csr_array(X.rows), X.columns, X.signs)
        self.X, self.function, self.n = X, function, X.shape[0]

    @property
    def terms(self) -> int:
        return int(np.max(np.diff(self.X.rows.indptr), initial=0)) + self.X.columns.shape[1]

    @cached_property
    def squared_norms(self) -> NDArray[np.float64]:
        return _squared_norms_of_signed(self.X)[0]

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        return _squared_norms_of_signed(self.X)[1]

    def left(self, rows: SignedPoints, dtype: Any) -> Left:
        norms, sizes = _squared_norms_of_signed(rows)
        return Left((rows, self.function.left(norms), dtype), *self.far_among(rows, sizes))

    def products(self, left: Left, window: slice, out: Array | None = None) -> Array:
        rows, columns, dtype = left.operand
        tile = self.mend(self._between(rows, columns, self.X[window]), left, window)
        if out is None:
            return tile.astype(dtype, copy=False)
        out[...] = tile
        return out

    def pair_products(self, pairs: tuple[Left, Any], first: int, last: int) -> Array:
        left, right = pairs
        rows, columns, dtype = left.operand
        tile = self._between(rows[first:last], [column[first:last] for column in columns], right)
        return self.mend_pairs(tile, left, first, last).astype(dtype, copy=False)

    def sum_inner(self, Z: SignedPoints, v: Array) -> Array:
        along = self.X.columns.T @ v
        return np.asarray(Z.rows @ (self.X.transposed @ v) + Z.columns @ (self.X.signs * along.T).T)

    def inner(self) -> SignedPoints:
        return self.X

    def subset(self, indices: Array) -> SparseSignedPoints:
        return SparseSignedPoints(self.X[indices], self.function)

    def careful_combination(self, v: NDArray[np.float64], rows: SignedPoints) -> NDArray[np.float64]:
        w = SparsePoints.inner_products(self, self.X.rows.T.tocsr(), sparse.csr_array(v[None, :]))
        own = SparsePoints.inner_products(self, rows.rows, sparse.csr_array(w.T))[:, 0]
        return np.asarray(own + rows.columns @ (rows.signs * (self.X.columns.T @ v)))

    def distances(self, rows: SignedPoints, others: SignedPoints) -> NDArray[np.float64]:
        out = super().distances(rows.rows, others.rows)
        for k, sign in enumerate(rows.signs):
            out += sign * np.square(np.subtract.outer(rows.columns[:, k], others.columns[:, k]))
        return np.maximum(out, 0.0, out=out)

    def inner_products(self, rows: SignedPoints, others: SignedPoints) -> NDArray[np.float64]:
        out = super().inner_products(rows.rows, others.rows)
        out += (rows.columns * rows.signs) @ others.columns.T
        return out

    def _between(self, rows: SignedPoints, left_columns: list[Array], right: SignedPoints) -> Array:
        """u(a)'v(b) in float64, since the signed columns cancel."""
        out = np.asarray((rows.rows @ right.rows.T).toarray(), dtype=np.float64)
        out += (rows.columns * rows.signs) @ right.columns.T
        out *= self.function.scale
        right_columns = self.function.right(_squared_norms_of_signed(right)[0])
        for column, other in zip(left_columns, right_columns, strict=True):
            out += np.multiply.outer(column, other)
        return out


def _squared_norms_of_signed(z: SignedPoints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """‖z‖² = ‖r‖² + Σ_k signs_k e_k² of every row, and ‖r‖² + ‖e‖², what its rounding is relative to."""
    sums = np.concatenate([[0.0], np.cumsum(z.rows.data**2)])
    squares, columns = np.diff(sums[z.rows.indptr]), np.square(z.columns)
    return np.maximum(squares + columns @ z.signs, 0.0), squares + columns.sum(axis=1)


def some_rows(n: int) -> slice:
    """Rows in even steps, as many as make a centre."""
    return slice(None, None, max(1, -(-n // CENTRE_ROWS)))


def median(rows: Array) -> NDArray[np.float64]:
    """The upper median of every column, which no single cell moves."""
    middle = len(rows) // 2
    return np.partition(rows, middle, axis=0)[middle].astype(np.float64)


def centre_of_full_columns(X: Any) -> Any:
    """Medians of the columns that have an entry in every row, as one sparse row; None where there are none."""
    X = without_duplicates(X)
    full = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])
    if not len(full):
        return None
    medians = median(X[some_rows(X.shape[0])][:, full].toarray())
    return sparse.csr_array((medians, full, np.array([0, len(full)])), shape=(1, X.shape[1]))


def without_duplicates(X: Any) -> Any:
    """A CSR matrix whose duplicate entries are summed."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _parts(rows: Any) -> tuple[Array, Array, Array]:
    rows = without_duplicates(rows)
    return rows.data, rows.indices, rows.indptr


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
