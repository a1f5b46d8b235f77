"""Sweeps over sparse rows, compiled."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def remove_rows(data, indices, starts, rows, weight, n, mean, scatter):  # type: ignore[no-untyped-def]
    """Weight, mean and per-feature scatter of all rows but the given ones; see ``grouped`` for the algebra."""
    d = mean.shape[0]
    s, q, taken = np.zeros(d), np.zeros(d), 0.0
    for i in rows:
        taken += weight[i]
        for k in range(starts[i], starts[i + 1]):
            value = weight[i] * data[k]
            s[indices[k]] += value
            q[indices[k]] += value * data[k]
    rest = n - taken
    if taken == 0.0 or rest <= 0.0:
        return rest, mean.copy(), scatter.copy()
    away, between, share = taken / rest, n * taken / rest, 1.0 / taken
    for j in range(d):
        own = s[j] * share
        delta = own - mean[j]
        q[j] = max(0.0, scatter[j] - max(0.0, q[j] - s[j] * own) - between * delta * delta)
        s[j] = mean[j] - away * delta
    return rest, s, q
