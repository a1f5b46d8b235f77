"""Coordinate descent on a box, compiled: on a stored matrix, on dense points, on sparse points, on features with sums.

Solves
    minimise ½ β'Kβ + p'β over lower ≤ β ≤ upper, one coordinate at a time: β_i ← clip(β_i − g_i / K_ii), g = Kβ + p.
    With sums Σ_{i in g} β_i = total_g, the same of ½ β'Kβ + p'β + Σ_g (σ/2 e_g² − λ_g e_g), the augmented Lagrangian of
    e_g = Σ_{i in g} β_i − total_g.
Given
    A stored K: the gradient is kept, and the coordinate that promises the largest decrease moves (n operations).
    Points with K_ij = z_i'z_j + Σ_k s_k e_ik e_jk, s_k = ±1: the sums v = Σβ_i z_i and u = Σβ_i e_i are kept, and
    coordinates move in random order (operations as many as entries of z_i), those stuck at a bound resting.
    Features with K = Z diag(a) Z': v = a∘Z'β and e are kept, a coordinate costs two operations per feature.
Returns
    β (and g, or v and u, or v and e) moved in place; steps taken, the largest violation seen, and of sweeps how many
    points they looked at. ``sweep_sums`` is one sweep.
Stops when
    every |projected gradient| is at most tol, or after the limit of steps or sweeps.
Reference
    Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), A dual coordinate descent method for large-scale linear SVM;
    Bertsekas (1982), Constrained Optimization and Lagrange Multiplier Methods, chapter 2.
"""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled

_compile = compiled(fastmath=True, error_model="numpy")


@_compile
def descend_stored(K, diagonal, g, beta, lower, upper, tol, max_steps):  # type: ignore[no-untyped-def]
    """Greedy descent with the gradient kept; returns steps and the violation left."""
    n, steps = beta.shape[0], 0
    while True:
        best, chosen, move, violation = 0.0, -1, 0.0, 0.0
        for k in range(n):
            gradient = g[k]
            step = min(max(beta[k] - gradient / diagonal[k], lower[k]), upper[k]) - beta[k]
            if step != 0.0:
                violation = max(violation, abs(gradient))
                gain = -step * (gradient + 0.5 * diagonal[k] * step)
                if gain > best:
                    best, chosen, move = gain, k, step
        if violation <= tol or chosen < 0 or steps >= max_steps:
            return steps, violation
        beta[chosen] = min(max(beta[chosen] - g[chosen] / diagonal[chosen], lower[chosen]), upper[chosen])
        row = K[chosen]
        for k in range(n):
            g[k] += move * row[k]
        steps += 1


@_compile
def shuffle(order, count, seed):  # type: ignore[no-untyped-def]
    """Fisher–Yates on the first ``count`` entries; returns the next seed."""
    for k in range(count - 1, 0, -1):
        seed = (seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)) & np.uint64(2**63 - 1)
        other = np.int64(((seed >> np.uint64(31)) * np.uint64(k + 1)) >> np.uint64(32))  # scaled, not divided
        order[k], order[other] = order[other], order[k]
    return seed


@_compile
def rests(gradient, value, lower, upper, low, high):  # type: ignore[no-untyped-def]
    """Whether a coordinate sits at a bound with a gradient beyond all that moved in the last sweep."""
    return (value <= lower and gradient > high) or (value >= upper and gradient < low)


@_compile
def projected(gradient, value, lower, upper):  # type: ignore[no-untyped-def]
    """The part of the gradient along which the box lets β move."""
    if value <= lower:
        return min(gradient, 0.0)
    return max(gradient, 0.0) if value >= upper else gradient


@_compile
def sweep_dense(Z, p, diagonal, v, beta, lower, upper, tol, max_sweeps):  # type: ignore[no-untyped-def]
    """Sweeps over dense points; returns sweeps, the violation of the last full one, and the points looked at."""
    n, d = Z.shape
    order, active, seed = np.arange(n), n, np.uint64(12345)
    low, high = -np.inf, np.inf
    violation, looks = np.inf, 0
    for sweep in range(max_sweeps):
        seed = shuffle(order, active, seed)
        looks += active
        violation, highest, lowest, at = 0.0, 0.0, 0.0, 0
        while at < active:
            i = order[at]
            gradient = p[i]
            for k in range(d):
                gradient += Z[i, k] * v[k]
            if rests(gradient, beta[i], lower[i], upper[i], low, high):
                active -= 1
                order[at], order[active] = order[active], order[at]
                continue
            slope = projected(gradient, beta[i], lower[i], upper[i])
            highest, lowest = max(highest, slope), min(lowest, slope)
            if slope != 0.0:
                moved = min(max(beta[i] - gradient / diagonal[i], lower[i]), upper[i])
                step = moved - beta[i]
                beta[i] = moved
                for k in range(d):
                    v[k] += step * Z[i, k]
            at += 1
        violation = max(highest, -lowest)
        low, high, active = next_bounds(lowest, highest, violation, tol, active, n)
        if violation <= tol and active < 0:
            return sweep + 1, violation, looks
        active = abs(active)
    return max_sweeps, violation, looks


@_compile
def next_bounds(lowest, highest, violation, tol, active, n):  # type: ignore[no-untyped-def]
    """What may rest in the next sweep, and how many take part: −n says the sweep was full and good."""
    if violation <= tol:
        return -np.inf, np.inf, (-n if active == n else n)
    return (lowest if lowest < 0 else -np.inf), (highest if highest > 0 else np.inf), active


@_compile
def sweep_sparse(data, indices, starts, E, signs, p, diagonal, v, u, beta, lower, upper, tol, max_sweeps):  # type: ignore[no-untyped-def]
    """Sweeps over sparse points with a few signed columns; returns sweeps, the last violation, the points looked at."""
    n, r = E.shape
    order, active, seed = np.arange(n), n, np.uint64(12345)
    low, high = -np.inf, np.inf
    violation, looks = np.inf, 0
    for sweep in range(max_sweeps):
        seed = shuffle(order, active, seed)
        looks += active
        highest, lowest, at = 0.0, 0.0, 0
        while at < active:
            i = order[at]
            gradient = p[i]
            for k in range(starts[i], starts[i + 1]):
                gradient += data[k] * v[indices[k]]
            for k in range(r):
                gradient += signs[k] * E[i, k] * u[k]
            if rests(gradient, beta[i], lower[i], upper[i], low, high):
                active -= 1
                order[at], order[active] = order[active], order[at]
                continue
            slope = projected(gradient, beta[i], lower[i], upper[i])
            highest, lowest = max(highest, slope), min(lowest, slope)
            if slope != 0.0:
                moved = min(max(beta[i] - gradient / diagonal[i], lower[i]), upper[i])
                step = moved - beta[i]
                beta[i] = moved
                for k in range(starts[i], starts[i + 1]):
                    v[indices[k]] += step * data[k]
                for k in range(r):
                    u[k] += step * E[i, k]
            at += 1
        violation = max(highest, -lowest)
        low, high, active = next_bounds(lowest, highest, violation, tol, active, n)
        if violation <= tol and active < 0:
            return sweep + 1, violation, looks
        active = abs(active)
    return max_sweeps, violation, looks


@_compile
def sweep_sums(  # type: ignore[no-untyped-def]
    Z, scales, p, diagonal, v, group, excess, multipliers, sigma, beta, lower, upper, order, active, seed, low, high
):
    """One sweep over order[:active]; returns (active, seed, lowest and highest slope seen, coordinates moved)."""
    r = Z.shape[1]
    seed = shuffle(order, active, seed)
    lowest, highest, at, moves = 0.0, 0.0, 0, 0
    while at < active:
        i = order[at]
        g = group[i]
        gradient = 0.0
        for k in range(r):
            gradient += Z[i, k] * v[k]
        gradient += p[i] + sigma * excess[g] - multipliers[g]
        if rests(gradient, beta[i], lower[i], upper[i], low, high):
            active -= 1
            order[at], order[active] = order[active], order[at]
            continue
        slope = projected(gradient, beta[i], lower[i], upper[i])
        lowest, highest = min(lowest, slope), max(highest, slope)
        if slope != 0.0:
            moved = min(max(beta[i] - gradient / (diagonal[i] + sigma), lower[i]), upper[i])
            step = moved - beta[i]
            beta[i] = moved
            excess[g] += step
            moves += 1
            for k in range(r):
                v[k] += step * scales[k] * Z[i, k]
        at += 1
    return active, seed, lowest, highest, moves
