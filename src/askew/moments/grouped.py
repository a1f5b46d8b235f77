"""Per-feature moments of many overlapping groups of sparse rows, in one product.

Solves
    n_c = Σ_{i∈c} w_i,  s_c = Σ_{i∈c} w_i(x_i − a),  q_c = Σ_{i∈c} w_i(x_i − a)²  for all groups c at once, as two
    sparse products; then mean a + s_c/n_c and scatter q_c − s_c²/n_c.
Given
    Sparse X and a membership matrix. The shift a is the mean in columns without a zero and 0 elsewhere, which keeps
    the differences safe for the reason given in ``passes``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.moments.moments import DiagonalMoments
from askew.moments.passes import split_sum

Vector = NDArray[np.float64]


def diagonal_moments_of_groups(
    X: Any, member: NDArray[np.bool_], weight: Vector, mean: Vector
) -> Iterator[DiagonalMoments]:
    """Moments of every column of ``member``; ``mean`` is that of all rows."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    is_full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    shift = np.where(is_full, mean, 0.0)
    data = X.data.astype(np.float64, copy=False)
    if is_full.any():
        data = data - shift[X.indices]
    groups = sparse.csr_array(member.T.astype(np.float64) * weight)
    sums = (groups @ sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)).tocsr()
    squares = (groups @ sparse.csr_array((data * data, X.indices, X.indptr), shape=X.shape)).tocsr()
    counts = np.asarray(groups.sum(axis=1)).ravel()
    for c, n in enumerate(counts):
        if n == 0.0:
            yield DiagonalMoments.empty(X.shape[1])
            continue
        s, q = _row(sums, c), _row(squares, c)
        mean = split_sum(shift, s / n) if is_full.any() else (s / n, shift)  # the shift is then zero
        yield DiagonalMoments(float(n), *mean, np.maximum(q - s * s / n, 0.0))


def _row(matrix: Any, c: int) -> Vector:
    """One row of a CSR matrix as a dense vector."""
    row = np.zeros(matrix.shape[1])
    span = slice(matrix.indptr[c], matrix.indptr[c + 1])
    row[matrix.indices[span]] = matrix.data[span]
    return row
