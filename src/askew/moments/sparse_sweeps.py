"""Sweeps over the rows of a CSR matrix, compiled."""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled

_compile = compiled()
_compile_fast = compiled(fastmath=True, error_model="numpy")  # sums in any order


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
def add_up(data, indices, starts, first, last, weight, sums):  # type: ignore[no-untyped-def]
    """Sums of some rows by column: their weight, and those of w(x − a) and w(x − a)², with a the first entry met.

    A column's entries are compared with one of themselves, so nothing cancels that was not already lost. ``sums`` has a
    line of five for each column: the three sums, a, and the row that last had an entry there, counted from 1. Returns
    the weight of the rows, and whether one of them stores a column twice.
    """
    total, twice = 0.0, False
    for i in range(first, last):
        w, row = weight[i], float(i + 1)
        if w == 0.0:
            continue
        total += w
        for k in range(starts[i], starts[i + 1]):
            j, x = indices[k], data[k]
            seen = sums[j, 4]
            if seen == 0.0:
                sums[j, 3] = x
            elif seen == row:
                twice = True
            sums[j, 4] = row
            away = x - sums[j, 3]
            sums[j, 0] += w
            sums[j, 1] += w * away
            sums[j, 2] += w * away * away
    return total, twice


@_compile
def close_up(sums, n, mean, rest, scatter):  # type: ignore[no-untyped-def]
    """Put mean, what rounding cut from it, and scatter of every column, from the sums of several parts of the rows.

    Parts are joined by the law of total scatter, and last of all with the zeros that are not stored.
    """
    parts = sums.shape[0]
    for j in range(sums.shape[1]):
        count, base, shift, square = 0.0, 0.0, 0.0, 0.0  # the mean of the stored entries is base + shift
        for p in range(parts):
            own = sums[p, j, 0]
            if own == 0.0:
                continue
            beside = sums[p, j, 1] / own
            within = sums[p, j, 2] - own * beside * beside
            within = within if within > 0.0 else 0.0
            if count == 0.0:
                count, base, shift, square = own, sums[p, j, 3], beside, within
                continue
            apart = (sums[p, j, 3] - base) + (beside - shift)
            square += within + apart * apart * (count * own / (count + own))
            shift += apart * (own / (count + own))
            count += own
        absent = n - count
        if absent <= 1e-12 * n:  # no zeros: keep what the sum of base and shift cannot hold
            whole = base + shift
            back = whole - base
            mean[j], rest[j], scatter[j] = whole, (base - (whole - back)) + (shift - back), square
        else:
            inside = base + shift
            mean[j], rest[j] = inside * (count / n), 0.0
            scatter[j] = square + inside * inside * (count * absent / n)


@_compile
def remove_rows(data, indices, starts, rows, weight, n, mean, scatter, s, q):  # type: ignore[no-untyped-def]
    """Mean and per-feature scatter of all rows but the given ones, to s and q; returns the weight of those left.

    See ``moments.without_each`` for the algebra.
    """
    d = mean.shape[0]
    s[:], q[:], taken = 0.0, 0.0, 0.0
    for i in rows:
        taken += weight[i]
        for k in range(starts[i], starts[i + 1]):
            value = weight[i] * data[k]
            s[indices[k]] += value
            q[indices[k]] += value * data[k]
    rest = n - taken
    if taken == 0.0 or rest <= 0.0:
        s[:], q[:] = mean, scatter
        return rest
    away, between, share = taken / rest, n * taken / rest, 1.0 / taken
    for j in range(d):
        own = s[j] * share
        delta = own - mean[j]
        q[j] = max(0.0, scatter[j] - max(0.0, q[j] - s[j] * own) - between * delta * delta)
        s[j] = mean[j] - away * delta
    return rest


@_compile_fast
def invert_variances(scatter, n, ridge, out):  # type: ignore[no-untyped-def]
    """a = 1/(scatter/n + ridge) to ``out``; returns the smallest ridged variance, which must be positive."""
    least = np.inf
    for j in range(scatter.shape[0]):
        variance = scatter[j] / n + ridge
        least = min(least, variance)
        out[j] = 1.0 / variance
    return least


@_compile_fast
def whiten_rows(data, indices, starts, mean, inverse):  # type: ignore[no-untyped-def]
    """Entries x√a of the rows, with a the inverse variances; x'diag(a)m of every row; m'diag(a)m."""
    square = 0.0
    for j in range(mean.shape[0]):
        square += mean[j] * mean[j] * inverse[j]
    n = starts.shape[0] - 1
    entries, along = np.empty(data.shape[0]), np.zeros(n)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            a = inverse[indices[k]]
            entries[k] = data[k] * np.sqrt(a)
            along[i] += data[k] * a * mean[indices[k]]
    return entries, along, square


@_compile_fast
def directions_of_rows(data, indices, starts, coefficients, mean, inverse, out):  # type: ignore[no-untyped-def]
    """out_r = a∘Σ_i c_ir(x_i − m) for each column c_r; the rows touch few features, their mean all of them."""
    n, count = coefficients.shape
    for r in range(count):
        total = 0.0
        for i in range(n):
            total += coefficients[i, r]
        for j in range(mean.shape[0]):
            out[r, j] = -total * mean[j] * inverse[j]
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            value = inverse[indices[k]] * data[k]
            for r in range(count):
                out[r, indices[k]] += coefficients[i, r] * value


@_compile_fast
def sum_of_deviations(w, scatter):  # type: ignore[no-untyped-def]
    """Σ_j |w_j| √scatter_j."""
    total = 0.0
    for j in range(w.shape[0]):
        total += np.abs(w[j]) * np.sqrt(scatter[j])
    return total
