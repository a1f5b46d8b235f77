"""Inner products of a few sparse rows under a diagonal covariance and each of many ridges.

Solves
    for every ridge ρ, with a = 1/(D + ρ) and rows x_i:
        K_ij = (x_i − m)'diag(a)(x_j − m),   V_ij = (x_i − m)'diag(Da²)(x_j − m),   f = Σ Da.
    Two rows meet in few columns, and every meeting serves all ridges; the mean enters as x'diag(a)m and m'diag(a)m.
    The meetings are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.compiled import compiled

Vector = NDArray[np.float64]
_compile = compiled(fastmath=True, error_model="numpy")


def products_by_ridge(
    data: Vector, indices: NDArray[Any], starts: NDArray[Any], mean: Vector, diagonal: Vector, ridges: Vector
) -> tuple[Vector, Vector, Vector]:
    """K and V of shape (n_ridges, n, n), and f of shape (n_ridges,)."""
    n, count = starts.shape[0] - 1, ridges.shape[0]
    out, centre, free = np.empty((2 * count, n, n)), np.empty(2 * count), np.empty(count)
    sum_means(mean, diagonal, ridges, centre, free)
    meet_rows(
        data, indices, starts, _scaled_entries(data, indices, diagonal, ridges), mean, centre,
        np.zeros((n, 2 * count)), np.zeros(mean.shape[0]), np.empty(2 * count), out,
    )  # fmt: skip
    return out[:count], out[count:], free


def _scaled_entries(data: Vector, indices: NDArray[Any], diagonal: Vector, ridges: Vector) -> Vector:
    """Every stored entry times its a of every ridge, followed by times its Da²."""
    count, variance = ridges.shape[0], diagonal[indices][:, None]
    scaled = np.empty((data.shape[0], 2 * count))
    inverse = 1.0 / (variance + ridges)
    np.multiply(data[:, None], inverse, out=scaled[:, :count])
    inverse *= variance
    np.multiply(scaled[:, :count], inverse, out=scaled[:, count:])
    return scaled


@_compile
def sum_means(mean, diagonal, ridges, centre, free):  # type: ignore[no-untyped-def]
    """Put m'diag(a)m of every ridge followed by m'diag(Da²)m of every ridge, and Σ Da."""
    count = ridges.shape[0]
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


@_compile
def meet_rows(data, indices, starts, scaled, mean, centre, along, line, met, out):  # type: ignore[no-untyped-def]
    """Fill ``out``, of shape (2·n_ridges, n, n), with all K and then all V; ``along`` and ``line`` come as zeros."""
    n, width = starts.shape[0] - 1, centre.shape[0]
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            column = indices[k]
            line[column] += data[k]
            for r in range(width):
                along[i, r] += scaled[k, r] * mean[column]
        for j in range(i + 1):
            for r in range(width):
                met[r] = centre[r] - along[i, r] - along[j, r]
            for k in range(starts[j], starts[j + 1]):
                value = line[indices[k]]
                if value != 0.0:
                    for r in range(width):
                        met[r] += value * scaled[k, r]
            for r in range(width):
                out[r, i, j] = met[r]
                out[r, j, i] = met[r]
        for k in range(starts[i], starts[i + 1]):
            line[indices[k]] = 0.0
