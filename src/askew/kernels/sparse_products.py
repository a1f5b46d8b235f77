"""Inner products of all pairs of a few sparse rows, compiled.

Solves
    G_ij = s_i's_j for the rows of a CSR matrix: row i is spread over a dense line, every row j ≤ i is summed against
    it, and the line is wiped where it was written. For a few hundred rows this costs less than a sparse product.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, fastmath=True, nogil=True)
def gram_of_rows(data, indices, starts, width):  # type: ignore[no-untyped-def]
    """The n×n array of inner products."""
    n = starts.shape[0] - 1
    out = np.empty((n, n))
    line = np.zeros(width)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            line[indices[k]] += data[k]
        for j in range(i + 1):
            total = 0.0
            for k in range(starts[j], starts[j + 1]):
                total += data[k] * line[indices[k]]
            out[i, j] = total
            out[j, i] = total
        for k in range(starts[i], starts[i + 1]):
            line[indices[k]] = 0.0
    return out
