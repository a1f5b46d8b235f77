"""Scattered rows and columns of a stored matrix, compiled: what NumPy does in several passes over copies."""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled

TILE = 16  # float32 entries of a cache line


@compiled()
def gather_block(matrix, indices, out):  # type: ignore[no-untyped-def]
    """out[a, b] = matrix[indices[a], indices[b]] of a symmetric matrix: entries up to the diagonal, then mirrored."""
    places = indices.astype(np.uint32)  # unsigned: no check for negative ones in the loop that counts
    q = places.shape[0]
    for first in range(0, q, TILE):
        last = min(q, first + TILE)
        for a in range(first, last):
            row, target = matrix[places[a]], out[a]
            for b in range(last):
                target[b] = row[places[b]]
        for b in range(first):  # while the tile is hot: whole cache lines at a time
            target = out[b]
            for a in range(first, last):
                target[a] = out[a, b]


@compiled(fastmath=True)
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
