"""Inner products of a few sparse rows under a diagonal covariance and each of many ridges, compiled.

Solves
    for every ridge ρ, with a = 1/(D + ρ) and rows x_i:
        K_ij = (x_i − m)'diag(a)(x_j − m),   V_ij = (x_i − m)'diag(Da²)(x_j − m),   f = Σ Da.
    Two rows meet in few columns, and every meeting serves all ridges; the mean enters as x'diag(a)m and m'diag(a)m.
"""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled

_compile = compiled(fastmath=True, error_model="numpy")


@_compile
def products_by_ridge(data, indices, starts, mean, diagonal, ridges):  # type: ignore[no-untyped-def]
    """K and V of shape (n_ridges, n, n), and f of shape (n_ridges,)."""
    n, count = starts.shape[0] - 1, ridges.shape[0]
    centre, free = means_by_ridge(mean, diagonal, ridges)
    scaled = scaled_entries(data, indices, diagonal, ridges)
    along = np.zeros((n, 2 * count))
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            for r in range(2 * count):
                along[i, r] += scaled[k, r] * mean[indices[k]]
    out = np.empty((2, count, n, n))
    line, met = np.zeros(mean.shape[0]), np.empty(2 * count)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            line[indices[k]] += data[k]
        for j in range(i + 1):
            for r in range(2 * count):
                met[r] = centre[r] - along[i, r] - along[j, r]
            for k in range(starts[j], starts[j + 1]):
                value = line[indices[k]]
                if value != 0.0:
                    for r in range(2 * count):
                        met[r] += value * scaled[k, r]
            for r in range(count):
                out[0, r, i, j] = out[0, r, j, i] = met[r]
                out[1, r, i, j] = out[1, r, j, i] = met[count + r]
        for k in range(starts[i], starts[i + 1]):
            line[indices[k]] = 0.0
    return out[0], out[1], free


@_compile
def means_by_ridge(mean, diagonal, ridges):  # type: ignore[no-untyped-def]
    """m'diag(a)m of every ridge followed by m'diag(Da²)m of every ridge, and Σ Da."""
    count = ridges.shape[0]
    centre, free = np.zeros(2 * count), np.zeros(count)
    for r in range(count):
        plain, spread, sum_free = 0.0, 0.0, 0.0
        for j in range(mean.shape[0]):
            a = 1.0 / (diagonal[j] + ridges[r])
            share = diagonal[j] * a
            weighted = mean[j] * mean[j] * a
            plain += weighted
            spread += weighted * share
            sum_free += share
        centre[r], centre[count + r], free[r] = plain, spread, sum_free
    return centre, free


@_compile
def scaled_entries(data, indices, diagonal, ridges):  # type: ignore[no-untyped-def]
    """Every stored entry times its a of every ridge, followed by times its Da²."""
    count = ridges.shape[0]
    scaled = np.empty((data.shape[0], 2 * count))
    for k in range(data.shape[0]):
        variance = diagonal[indices[k]]
        for r in range(count):
            a = 1.0 / (variance + ridges[r])
            scaled[k, r] = data[k] * a
            scaled[k, count + r] = data[k] * a * a * variance
    return scaled
