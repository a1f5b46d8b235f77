"""Scattered rows and columns of a stored matrix, compiled: what NumPy does in several passes over copies."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def gather_block(matrix, indices, out):  # type: ignore[no-untyped-def]
    """out[a, b] = matrix[indices[a], indices[b]]."""
    places = indices.astype(np.uint32)  # unsigned: no check for negative ones in the loop that counts
    for a in range(places.shape[0]):
        row, target = matrix[places[a]], out[a]
        for b in range(places.shape[0]):
            target[b] = row[places[b]]


@numba.njit(cache=True, fastmath=True, nogil=True)
def sum_rows(matrix, indices, weights, out):  # type: ignore[no-untyped-def]
    """out += Σ_r weights[r] · matrix[indices[r]], accumulated in the precision of ``out``."""
    m, r = indices.shape[0], 0
    while r + 4 <= m:  # four rows per pass over the sums
        a, b, c, d = matrix[indices[r]], matrix[indices[r + 1]], matrix[indices[r + 2]], matrix[indices[r + 3]]
        u, v, w, x = weights[r], weights[r + 1], weights[r + 2], weights[r + 3]
        for k in range(out.shape[0]):
            out[k] += u * a[k] + v * b[k] + w * c[k] + x * d[k]
        r += 4
    while r < m:
        a, u = matrix[indices[r]], weights[r]
        for k in range(out.shape[0]):
            out[k] += u * a[k]
        r += 1
