"""The matrix of a kernel function on given points, produced tile by tile and never held whole.

Solves
    K_ij = k(x_i, x_j) for rows, blocks, the diagonal, products Kv, and against new points.
Given
    A kernel function and X: dense, sparse, signed points, or an array of another library, on a GPU say.
Returns
    Rows and blocks in float32 or float64 as asked; products and scores always in float64. Rows and scores are NumPy's.
    Blocks and products live where the indices or the vector lives: the loop of a solver keeps those on the device.
    On a device no row is kept, since computing it again costs less than storing it: memory is that of the points and of
    one tile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import Home, answer, host, is_elsewhere, take_rows
from askew.kernels.device_points import TILE_BYTES, DevicePoints
from askew.kernels.function import EPSILON, KernelFunction
from askew.kernels.points import DensePoints, Points, SparsePoints, SparseSignedPoints
from askew.qp import Ability, SignedPoints
from askew.qp.matrix import RowsOfTiles
from askew.threads import spans, workers

Array = NDArray[Any]
_ON_HOST = frozenset({Ability.ROWS, Ability.CAREFUL})
_INNER_PRODUCTS = _ON_HOST | {Ability.POINTS}
_ON_DEVICE = _ON_HOST | {Ability.UPDATES, Ability.DEVICE}


class Gram(RowsOfTiles):
    """Kernel matrix of ``function`` on the rows of ``X``.

    Parameters
    ----------
    function : KernelFunction
    X : array of any library, sparse matrix or SignedPoints, of shape (n, d)
    tile_bytes : int
        Most memory of a tile of kernel values on a device.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.kernels import RBF
    >>> Gram(RBF(0.5), np.array([[0.0], [1.0]])).block(np.arange(2)).round(3).tolist()
    [[1.0, 0.607], [0.607, 1.0]]
    """

    def __init__(self, function: KernelFunction, X: Any, tile_bytes: int = TILE_BYTES) -> None:
        self._stand_on(as_points(X, function, min(tile_bytes, TILE_BYTES)))

    def _stand_on(self, points: Any) -> None:
        self.points, self.function, self.n = points, points.function, points.n
        self.is_psd: bool | None = self.function.is_psd

    @property
    def _home(self) -> Home:
        home: Home = self.points.home
        return home

    @property
    def abilities(self) -> frozenset[Ability]:
        """``POINTS`` where a kernel value is an inner product of points at hand."""
        if not self._home.is_host:
            return _ON_DEVICE
        return _INNER_PRODUCTS if self.function.is_bilinear else _ON_HOST

    @property
    def home(self) -> Home:
        """The library and device of the points, where they are not NumPy's."""
        return self._on_device().home

    def argument_bound(self) -> float:
        """Size of the terms summed for one entry, of a typical point: what float32 rounding is relative to."""
        norms = self.points.squared_norms
        return self.function.argument_bound(np.array([float(self._home.xp.mean(norms)) if self.n else 0.0]))

    def diagonal(self) -> NDArray[np.float64]:
        return host(self.function.diagonal(self.points.squared_norms))

    def tile_width(self, m: int, itemsize: int) -> int:
        """How many columns of m rows are best produced at a time."""
        return self.points.tile_width(m, itemsize)

    def prepare(self, indices: NDArray[np.int64], dtype: Any) -> Any:
        """The left-hand side of K[indices, :], for ``tile``."""
        return self.points.rows_left(self._home.put(indices), dtype)

    def tile(self, prepared: Any, columns: slice, out: Array | None = None) -> Array:
        """K[indices, columns] for prepared indices, into ``out`` when given."""
        if self._home.is_host:
            return self._finish(self.points.products(prepared, columns, out))
        return fetched_into(out, self.tile_here(prepared, columns))

    def tile_here(self, prepared: Any, columns: slice) -> Any:
        """K[indices, columns] for prepared indices, where the points live."""
        return self._finish(self.points.products(prepared, columns))

    def block(self, indices: Any, dtype: Any = np.float64) -> Any:
        """K[indices][:, indices], where the indices live."""
        pairs = self.points.pairs(self._home.put(indices), dtype)
        if not self._home.is_host:
            return answer(self._finish(self.points.pair_products(pairs, 0, indices.shape[0])), indices)
        out = np.empty((len(indices), len(indices)), dtype)

        def work(first: int, last: int) -> None:
            out[first:last] = self._finish(self.points.pair_products(pairs, first, last))

        with workers() as pool:
            pool.map(work, spans(len(indices), 256))
        return out

    def matvec(self, v: Any) -> Any:
        """Kv in float64, where v lives."""
        xp, here = self._home.xp, self._home.put(v, np.float64)
        if self.function.is_bilinear:
            product = self.points.sum_inner(self.points.X, here)
        else:
            (support,) = xp.nonzero(here)
            some = self.subset(support)
            product = some._sum(self.points.X, xp.take(here, support, axis=0)[:, None])[:, 0]
        return answer(product, v)

    def add_product_at(self, g: Any, indices: Any, steps: Any, dtype: Any) -> Any:
        """g + steps @ K[indices] on a device, rows in the given precision and sums in float64; g may be changed."""
        points = self._on_device()
        left, steps = points.rows_left(indices, dtype), self._home.put(steps, dtype)
        if points.can_fuse(left.operand) and dtype == np.float32:
            return points.add_rows(g, points.right_operand(slice(0, self.n), dtype), left.operand, steps)
        for first, last in spans(self.n, points.height(left.operand.shape[0], dtype)):
            tile = self._finish(points.products(left, slice(first, last)))
            g[first:last] = g[first:last] + self._home.put(steps @ tile, np.float64)
        return g

    def weighted_sum(self, Z: Any, coefficients: Any) -> NDArray[np.float64]:
        """Σ_j k(z, x_j) coefficients[j] for every row z of Z; coefficients may have several columns."""
        Z = self.points.like(Z)
        here = self._home.put(coefficients, np.float64)
        columns = here if here.ndim == 2 else here[:, None]
        if self.function.is_bilinear:
            scores = self.points.sum_inner(Z, columns)
        else:
            scores = self._sum(Z, columns)
        return host(scores).reshape(Z.shape[0], *coefficients.shape[1:])

    def cross(self, Z: Any, dtype: Any = np.float64) -> Array:
        """k(z, x_j) as a (len(Z), n) array."""
        left = self.points.left(self.points.like(Z), dtype)
        return host(self._finish(self.points.products(left, slice(0, self.n))))

    def inner_points(self) -> SignedPoints:
        """Points z in float64 with K_ij = z_i'z_j."""
        if Ability.POINTS not in self.abilities:
            raise TypeError(f"Entries of {self.function} are no inner products of points in the memory of the host.")
        return self.points.inner()

    def filled(self, dtype: Any = np.float64) -> Array:
        """All of K, for those few enough to store it."""
        if not (Ability.POINTS in self.abilities and sparse.issparse(self.points.inner().rows)):
            return self.rows(np.arange(self.n), dtype)
        from askew.kernels.sparse_products import gram_of_rows

        z = self.inner_points()
        matrix: Array = gram_of_rows(z.rows.data, z.rows.indices, z.rows.indptr, z.rows.shape[1])
        matrix += (z.columns * z.signs) @ z.columns.T
        return matrix.astype(dtype, copy=False)

    def subset(self, indices: NDArray[np.int64]) -> Gram:
        """The same kernel on some of the points."""
        some = object.__new__(Gram)
        some._stand_on(self.points.subset(self._home.put(indices)))
        return some

    def argument_sizes(self) -> NDArray[np.float64]:
        """What the rounding of each point's arguments grows with."""
        sizes: NDArray[np.float64] = self.points.sizes
        return sizes

    def product_rounding(self, v: NDArray[np.float64]) -> float:
        """Bound of the error of an entry of Kv as ``matvec`` computes it: of the entries, and of their sum."""
        support, sizes, terms = np.flatnonzero(v), self.points.sizes, self.points.terms
        largest, own = float(np.max(sizes, initial=0.0)), sizes[support]
        entries = self.function.entry_rounding(own, largest, terms)
        sums = 0.5 * EPSILON * len(support) * self.function.entry_size(own, largest)
        return float(np.abs(v[support]) @ (entries + sums))

    def careful_product(self, v: NDArray[np.float64], indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """(Kv)[indices] in float64, from arguments computed without cancellation, on the host."""
        if not self._home.is_host:
            rows = np.concatenate([np.flatnonzero(v), indices])
            held = Gram(self.function, host(take_rows(self.points.X, rows)))
            count = len(rows) - len(indices)
            own = np.concatenate([v[rows[:count]], np.zeros(len(indices))])
            return held.careful_product(own, np.arange(count, len(rows)))
        if self.function.is_bilinear:
            return self.points.careful_combination(v, self.points.X[indices])
        support, out = np.flatnonzero(v), np.empty(len(indices))
        others, weights = self.points.X[support], v[support]

        def work(first: int, last: int) -> None:
            entries = self.points.careful_arguments(self.points.X[indices[first:last]], others)
            out[first:last] = self._finish(entries) @ weights

        with workers() as pool:
            pool.map(work, spans(len(indices), max(1, 2**20 // max(1, len(support)))))
        return out

    def _on_device(self) -> DevicePoints:
        if self._home.is_host:
            raise AttributeError("The points of this matrix are NumPy's or SciPy's: it does not offer DEVICE.")
        points: DevicePoints = self.points
        return points

    def _finish(self, products: Any) -> Any:
        self.function.finish(products)
        return products

    def _sum(self, Z: Any, coefficients: Any) -> Any:
        """Σ_j k(z, x_j) coefficients[j], tiles of Z by tiles of the points: in threads, or one after the other."""
        points = self.points
        if not self._home.is_host and points.can_fuse(coefficients):
            return points.fused_sum(Z, coefficients)
        scores = self._home.put(np.zeros((Z.shape[0], coefficients.shape[1])))
        height, width = points.sum_tile

        def work(start: int, stop: int) -> None:
            left = points.left(points.cut(Z, start, stop), np.float64)
            for begin, end in spans(self.n, width):
                tile = self._finish(points.products(left, slice(begin, end)))
                scores[start:stop, :] += tile @ coefficients[begin:end, :]

        if self._home.is_host:
            with workers() as pool:
                pool.map(work, spans(Z.shape[0], height))
        else:
            for start, stop in spans(Z.shape[0], height):
                work(start, stop)
        return scores


def as_points(X: Any, function: KernelFunction, tile_bytes: int = TILE_BYTES) -> Points:
    """The points of an array of any library, of a sparse matrix, or of signed points."""
    if isinstance(X, SignedPoints):
        return SparseSignedPoints(X, function)
    if is_elsewhere(X):
        return DevicePoints(X, function, tile_bytes)
    return SparsePoints(X, function) if sparse.issparse(X) else DensePoints(np.asarray(X), function)


def fetched_into(out: Array | None, tile: Any) -> Array:
    """A tile from a device: in ``out`` when given, else in memory of its own."""
    if out is None:
        return host(tile).copy()
    out[...] = host(tile)
    return out
