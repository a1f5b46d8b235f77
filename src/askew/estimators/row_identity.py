"""Which rows are the same row: numbers that depend on what a row holds and not on where it stands.

Folds dealt out by these numbers keep repetitions of a row together, so that cross-validation does not test on what
it was trained on, and a weight of two stays equal to the row given twice. Their order is as good as random, and the
same for the same rows in any order, dense or sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BLOCK = 2**20  # entries mixed at a time


def row_identity(X: Any) -> NDArray[np.int64]:
    """0, 1, 2, … by row: equal for equal rows, ranked by a 64-bit hash of their entries.

    Two different rows share a number with probability 2⁻⁶⁴; they would be kept in one fold, no more.

    Examples
    --------
    >>> import numpy as np
    >>> a, b, c = row_identity(np.array([[1.0, 0.0], [2.0, 5.0], [1.0, -0.0]]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    return np.unique(row_keys(X), return_inverse=True)[1].astype(np.int64)


def row_keys(X: Any) -> NDArray[np.uint64]:
    """A 64-bit hash of each row's entries."""
    if sparse.issparse(X):
        rows = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        column_keys = _mix(np.arange(1, rows.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
        entries = _mix(_mix((rows.data + 0.0).view(np.uint64)) * column_keys[rows.indices])
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]  # wraps around, as the sums do
    column_keys = _mix(np.arange(1, X.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    keys = np.empty(len(X), np.uint64)
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], dtype=np.float64) + 0.0  # −0 becomes 0
        keys[start : start + step] = _mix(_mix(block.view(np.uint64)) * column_keys).sum(axis=1, dtype=np.uint64)
    return keys


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea and Flood's finaliser: every bit of the result depends on every bit given; 0 stays 0."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
