"""Sweeps over the rows of a CSR matrix, compiled."""

from __future__ import annotations

import numba
import numpy as np

_compile = numba.njit(cache=True, nogil=True)


@_compile
def has_duplicates(indices, starts, d):  # type: ignore[no-untyped-def]
    """Whether a row stores the same column twice; the columns need not be sorted."""
    last = np.full(d, -1, np.int64)
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            if last[indices[k]] == i:
                return True
            last[indices[k]] = i
    return False


@_compile
def column_moments(data, indices, starts, weight, d):  # type: ignore[no-untyped-def]
    """Weight, mean, what rounding cut from the mean, and scatter of every column, in two sweeps.

    The second sweep sums squares about the mean, so nothing cancels; in columns without a zero it also sums the
    differences themselves, which is what the mean lacks.
    """
    n, mean, rest, scatter, present = 0.0, np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(starts.shape[0] - 1):
        w = weight[i]
        if w == 0.0:
            continue
        n += w
        for k in range(starts[i], starts[i + 1]):
            mean[indices[k]] += w * data[k]
            present[indices[k]] += w
    if n == 0.0:
        return n, mean, rest, scatter
    for j in range(d):
        mean[j] /= n
    for i in range(starts.shape[0] - 1):
        w = weight[i]
        if w == 0.0:
            continue
        for k in range(starts[i], starts[i + 1]):
            j = indices[k]
            away = data[k] - mean[j]
            scatter[j] += w * away * away
            rest[j] += w * away
    for j in range(d):
        absent = max(0.0, n - present[j])
        rest[j] = rest[j] / n if absent <= 1e-12 * n else 0.0
        scatter[j] = max(0.0, scatter[j] + absent * mean[j] * mean[j] - n * rest[j] * rest[j])
    return n, mean, rest, scatter


@_compile
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
