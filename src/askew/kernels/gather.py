"""Blocks of a stored matrix, compiled: a small copy of scattered rows and columns that NumPy makes in several passes."""

from __future__ import annotations

import numba


@numba.njit(cache=True, nogil=True)
def gather_block(matrix, indices, out):  # type: ignore[no-untyped-def]
    """out[a, b] = matrix[indices[a], indices[b]]."""
    for a in range(indices.shape[0]):
        row, target = matrix[indices[a]], out[a]
        for b in range(indices.shape[0]):
            target[b] = row[indices[b]]
