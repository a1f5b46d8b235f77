"""One pass over data for its weight, mean and scatter about the mean.

Solves
    n = Σ w_i,   x̄ = Σ w_i x_i / n,   S = Σ w_i (x_i − x̄)(x_i − x̄)'   (or only the diagonal of S).
Given
    X dense or sparse, weights w ≥ 0 or None.
Returns
    (n, x̄, ε, S) in float64: ε is the part of the mean that rounding cuts from x̄, kept so that sets far from the
    origin still merge and separate to the last digits of their scatter.
Why it is stable
    Dense rows are taken in blocks that fit a core's cache; each block is shifted by its own mean before anything is
    multiplied, and blocks are joined by the exact law of total scatter (Chan, Golub, LeVeque 1983), so an offset of
    the data costs no digit. float32 data are multiplied in float32 within one shifted block (about 1e-6 relative to
    the variances) and summed over blocks in float64. Sparse data are never densified: only columns without a single
    zero are shifted, because a column with zeros has mean² ≤ n·variance and cannot lose more than log10(n) digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.threads import spans, workers

Vector = NDArray[np.float64]
Summary = tuple[float, Vector, Vector, Vector]

_BLOCK_ENTRIES = 2**18  # entries of a block: with its shifted copy it stays in a core's cache
_GROUP_BLOCKS = 256  # blocks whose means are joined by one product
_NARROW_FEATURES, _MANY_ROWS = 128, 4096
"""Features up to which, and rows from which, the compiled product is faster than BLAS's."""
_NARROW_BLOCK_ROWS = 2**15  # rows of a block there: the product has tiles of its own
_THREAD_ENTRIES = 2**17  # stored entries from which a second thread pays
_SEGMENTS = 16  # independent parts of the data, fixed so that the result does not depend on the number of threads


def summarise(X: Any, weight: Vector | None, diagonal: bool) -> Summary:
    """Weight, mean and scatter of the rows of X."""
    if sparse.issparse(X):
        return _summarise_sparse(X.tocsr(), weight, diagonal)
    single = X.dtype == np.float32
    with np.errstate(over="ignore", invalid="ignore"):  # judged by the result, once
        summary = _summarise_dense(X, weight, diagonal, np.float32 if single else np.float64)
        if single and not np.isfinite(summary[-1]).all():  # a square may overflow float32 where the datum does not
            summary = _summarise_dense(X, weight, diagonal, np.float64)
    return summary


def join(first: Summary, second: Summary, outer: Any) -> Summary:
    """Summary of two sets together; a negative weight in ``second`` takes a subset away again."""
    (n1, m1, e1, s1), (n2, m2, e2, s2) = first, second
    n = n1 + n2
    if n2 == 0:
        return first
    if n1 == 0:
        return second
    delta = (m2 - m1) + (e2 - e1)
    return n, *split_sum(m1, e1 + delta * (n2 / n)), s1 + s2 + outer(delta) * (n1 * n2 / n)


def split_sum(large: Vector, small: Vector) -> tuple[Vector, Vector]:
    """large + small as the rounded sum and exactly what the rounding cut off (Knuth's two-sum)."""
    total = large + small
    back = total - large
    return total, (large - (total - back)) + (small - back)


def empty_summary(d: int, diagonal: bool) -> Summary:
    """Summary of no points."""
    return 0.0, np.zeros(d), np.zeros(d), np.zeros(d if diagonal else (d, d))


def outer_product(v: Vector) -> Vector:
    """vv', the square that belongs to a full scatter."""
    return np.multiply.outer(v, v)


def _summarise_dense(X: Any, weight: Vector | None, diagonal: bool, dtype: Any) -> Summary:
    n, d = X.shape
    is_narrow = not diagonal and d <= _NARROW_FEATURES and n >= _MANY_ROWS
    height = _NARROW_BLOCK_ROWS if is_narrow else int(np.clip(_BLOCK_ENTRIES // max(1, d), 256, 8192))
    # every segment holds a scatter of its own: few of them where that is large, and BLAS's threads instead of ours
    parts = 1 if not diagonal and d > 2048 else _SEGMENTS
    pieces = spans(n, max(height, -(-n // parts)))
    found: list[Summary | None] = [None] * len(pieces)

    def work(k: int, start: int, stop: int) -> None:
        found[k] = _segment(X, weight, diagonal, is_narrow, dtype, start, stop, height)

    tasks = [(k, *piece) for k, piece in enumerate(pieces)]
    if len(tasks) < 2:
        for task in tasks:
            work(*task)
    else:
        with workers() as pool:
            pool.map(work, tasks)
    total = empty_summary(d, diagonal)
    for part in found:
        total = join(total, part, np.square if diagonal else outer_product)  # type: ignore[arg-type]
    return total


def _segment(
    X: Any, weight: Vector | None, diagonal: bool, is_narrow: bool, dtype: Any, start: int, stop: int, height: int
) -> Summary:
    """Summary of rows start:stop, group by group of blocks."""
    d = X.shape[1]
    outer = np.square if diagonal else outer_product
    order: Any = "F" if X.strides[0] < X.strides[1] else "C"  # columns that stand apart are best left so
    buffer = _tile(d, dtype) if is_narrow else np.empty((height, d), dtype, order)
    product = np.empty(d if diagonal else (d, d), dtype)
    total = empty_summary(d, diagonal)
    for begin, end in spans(stop - start, height * _GROUP_BLOCKS):
        rows = spans(end - begin, height)
        counts, means, rests = np.zeros(len(rows)), np.zeros((len(rows), d)), np.zeros((len(rows), d))
        scatter = np.zeros(product.shape)
        for k, (a, b) in enumerate(rows):
            span = slice(start + begin + a, start + begin + b)
            counts[k], means[k], rests[k] = _block(X[span], weight, span, diagonal, is_narrow, buffer, product)
            scatter += product
        total = join(total, _join_blocks(counts, means, rests, scatter, diagonal), outer)
    return total


def _tile(d: int, dtype: Any) -> Any:
    from askew.moments.narrow_product import empty_tile  # compiled: not for a few rows

    return empty_tile(d, dtype)


def _block(
    rows: Any, weight: Vector | None, span: slice, diagonal: bool, is_narrow: bool, buffer: Any, product: Any
) -> tuple[float, Vector, Vector]:
    """Weight of a block, a shift near its mean, and mean − shift; the scatter about the shift to ``product``."""
    part = None if weight is None else weight[span]
    if part is not None and not part.all():  # rows of weight zero are left out, not multiplied by zero
        kept = part > 0
        rows, part = rows[kept], part[kept]
    if part is not None and (part == 1.0).all():
        part = None
    if len(rows) == 0:
        product[...] = 0
        return 0.0, np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    rows = rows.astype(buffer.dtype, copy=False)
    if part is None:
        count, factor = float(len(rows)), np.ones(len(rows), buffer.dtype)
        shift = factor @ rows / buffer.dtype.type(count)
    else:
        count, factor = float(part.sum()), np.sqrt(part).astype(buffer.dtype)
        shift = (part / count).astype(buffer.dtype) @ rows
    multiply = _multiply_narrow if is_narrow else _multiply
    residual = multiply(rows, shift, factor if is_narrow or part is not None else None, diagonal, buffer, product)
    return count, shift.astype(np.float64), residual.astype(np.float64) / count


def _multiply(rows: Any, shift: Any, factor: Any, diagonal: bool, buffer: Any, product: Any) -> Any:
    """Z'Z for Z = the rows less the shift, times the factor, or its diagonal, to ``product``; returns Z'f."""
    Z = np.subtract(rows, shift, out=buffer[: len(rows)])
    if factor is None:
        factor = np.ones(len(rows), Z.dtype)
    else:
        Z *= factor[:, None]
    if diagonal:
        np.einsum("ij,ij->j", Z, Z, out=product)
    else:
        np.matmul(Z.T, Z, out=product)
    return factor @ Z


def _multiply_narrow(rows: Any, shift: Any, factor: Any, _: bool, buffer: Any, product: Any) -> Any:
    """The same where features are few; ``buffer`` is a tile."""
    from askew.moments.narrow_product import narrow_scatter

    both = narrow_scatter(rows, shift, factor, buffer)
    product[...] = both[:-1, :-1]
    return both[:-1, -1]


def _join_blocks(counts: Vector, shifts: Vector, rests: Vector, scatter: Vector, diagonal: bool) -> Summary:
    """Join blocks: to their scatter about their shifts add that between their means, less that of the shifts."""
    n = float(counts.sum())
    if n == 0.0:
        return empty_summary(shifts.shape[1], diagonal)
    origin = shifts[np.argmax(counts > 0)]
    means = (shifts - origin) + rests
    centre = counts @ means / n
    weight = np.sqrt(counts)[:, None]
    between, within = (means - centre) * weight, rests * weight
    if diagonal:
        scatter += np.einsum("ij,ij->j", between, between) - np.einsum("ij,ij->j", within, within)
    else:
        scatter += between.T @ between - within.T @ within
    return n, *split_sum(origin, centre), scatter


def _summarise_sparse(X: Any, weight: Vector | None, diagonal: bool) -> Summary:
    d = X.shape[1]
    if not diagonal:
        X = without_duplicates(X)
    counts = np.ones(X.shape[0]) if weight is None else weight
    summary, has_duplicates = _sweep(X, counts)
    if has_duplicates:
        X = X.copy()
        X.sum_duplicates()
        summary, _ = _sweep(X, counts)
    n, mean, rest, scatter = summary
    if diagonal:
        return n, *split_sum(mean, rest), scatter
    if n == 0.0:
        return empty_summary(d, diagonal)
    is_full = np.bincount(X.indices, minlength=d) == X.shape[0]
    data = X.data.astype(np.float64, copy=False)
    return n, *split_sum(mean, rest), _full_sparse_scatter(X, data, weight, np.where(is_full, mean, 0.0), n)


def _sweep(X: Any, weight: Vector) -> tuple[Summary, bool]:
    """Summary by column in one sweep over the entries, and whether a row stores a column twice."""
    from askew.moments.sparse_sweeps import add_up, close_up

    # the parts are fixed, so that the result does not depend on the number of threads
    d, parts = X.shape[1], 1 if X.nnz < _THREAD_ENTRIES else 2
    edges = np.searchsorted(X.indptr, np.linspace(0, X.nnz, parts + 1)[1:-1])
    edges = np.concatenate([[0], edges, [X.shape[0]]]).astype(np.int64)
    sums, totals, twice = np.zeros((parts, d, 5)), np.zeros(parts), np.zeros(parts, dtype=bool)

    def work(p: int) -> None:
        span = (int(edges[p]), int(edges[p + 1]))
        entries = (X.data, X.indices, X.indptr)
        totals[p], twice[p] = add_up(*entries, *span, weight, sums[p])

    if parts == 1:
        work(0)
    else:
        with workers() as pool:
            pool.map(work, [(p,) for p in range(parts)])
    n = float(totals.sum())
    if n == 0.0:
        return empty_summary(d, True), bool(twice.any())
    mean, rest, scatter = np.empty((3, d))
    close_up(sums, n, mean, rest, scatter)
    return (n, mean, rest, scatter), bool(twice.any())


def without_duplicates(X: Any) -> Any:
    """X itself, or a copy in which entries stored twice are summed; unsorted columns are left as they are."""
    from askew.moments.sparse_sweeps import has_duplicates

    if X.has_sorted_indices and X.has_canonical_format:
        return X
    if has_duplicates(X.indices, X.indptr, X.shape[1]):
        X = X.copy()
        X.sum_duplicates()
    return X


def _full_sparse_scatter(X: Any, data: Vector, weight: Vector | None, shift: Vector, n: float) -> Vector:
    """X'WX − n x̄x̄' after taking ``shift`` (zero but for columns without a zero) from the stored entries."""
    shifted = sparse.csr_array((data - shift[X.indices], X.indices, X.indptr), shape=X.shape)
    left = shifted if weight is None else shifted.multiply(weight[:, None]).tocsr()
    scatter = np.asarray((left.T @ shifted).toarray(), dtype=np.float64)
    mean = left.T @ np.ones(X.shape[0]) / n
    scatter -= n * np.multiply.outer(mean, mean)
    diagonal = np.einsum("ii->i", scatter)
    np.maximum(diagonal, 0.0, out=diagonal)
    return scatter
