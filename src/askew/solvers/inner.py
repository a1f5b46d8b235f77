"""The small problem inside a working set: SMO with second-order choice, compiled.

Solves
    minimise ½ δ'Kδ + g'δ over the q variables of a working set, β + δ within its box, the sum of each group kept.
Given
    K (q×q) and the gradient g in the working precision, β and its box in float64. Variables of one group stand
    together.
Returns
    β and g moved in place; the number of steps taken, the violation that is left, and the least curvature met.
Stops when
    in every group, max{g_i : β_i > lower_i} − min{g_i : β_i < upper_i} < tol, or after max_steps.

One step moves a pair (up, down) of one group. ``up`` has the least gradient among those that can rise; ``down`` is
the one whose pair promises the largest decrease (g_down − g_up)² / 2a with a = K_uu + K_dd − 2K_ud. Each search is a
reduction to the best value, then a reduction to the first place where it stands: two loops that vectorise where one
argmax does not. They must stay flat: nested in blocks, the compiler vectorises across the blocks with gathers, at
five times the cost.

Reference
    Fan, Chen, Lin (2005), Working set selection using second order information, JMLR 6:1889, algorithm 2 (WSS 2).
"""

from __future__ import annotations

import numba
import numpy as np

from askew.solvers.lanes import larger, smaller

FAR = 1e30  # added to a gradient to take a variable out of a search

_compile = numba.njit(cache=True, fastmath=True, error_model="numpy", nogil=True)


@_compile
def move_gradient(g, step, row_up, row_down, can_rise, can_fall):  # type: ignore[no-untyped-def]
    """g += step (K_up − K_down); returns the least g that can rise and the largest that can fall."""
    low, high = g.dtype.type(FAR), g.dtype.type(-FAR)
    for k in range(g.shape[0]):
        value = g[k] + step * (row_up[k] - row_down[k])
        g[k] = value
        low = smaller(low, value + can_rise[k])
        high = larger(high, value + can_fall[k])
    return low, high


@_compile
def promise(g, low, row_up, k_up, diagonal, can_fall, tiny, gain):  # type: ignore[no-untyped-def]
    """Fill gain_k = (g_k − low)² / a_k for those that can fall; returns the largest."""
    zero, two = g.dtype.type(0), g.dtype.type(2)
    most = zero
    for k in range(g.shape[0]):
        fall = larger(g[k] + can_fall[k] - low, zero)
        value = fall * fall / larger(k_up + diagonal[k] - two * row_up[k], tiny)
        gain[k] = value
        most = larger(most, value)
    return most


@_compile
def place_of(best, values, offsets):  # type: ignore[no-untyped-def]
    """First k with values_k + offsets_k = best."""
    last = np.int32(values.shape[0] - 1)
    where = last
    for k in range(values.shape[0]):
        where = min(where, np.int32(k) if values[k] + offsets[k] == best else last)
    return where


@_compile
def move_pair(beta, lower, upper, can_rise, can_fall, up, down, move):  # type: ignore[no-untyped-def]
    """β_up += move and β_down −= move, cut at the box (bounds are met exactly); returns the step taken."""
    room_up, room_down = upper[up] - beta[up], beta[down] - lower[down]
    move = min(move, room_up, room_down)
    beta[up] = upper[up] if move >= room_up else beta[up] + move
    beta[down] = lower[down] if move >= room_down else beta[down] - move
    can_rise[up] = 0 if beta[up] < upper[up] else FAR
    can_fall[up] = 0
    can_rise[down] = 0
    can_fall[down] = 0 if beta[down] > lower[down] else -FAR
    return move


@_compile
def solve_block(K, diagonal, g, beta, lower, upper, starts, tol, max_steps):  # type: ignore[no-untyped-def]
    """Run SMO on one working set; see the module. ``starts`` holds the first index of each group, and q at its end."""
    real, q, groups = K.dtype.type, g.shape[0], starts.shape[0] - 1
    tiny = real(1e-12) if K.itemsize == 8 else real(1e-6)
    can_rise, can_fall = np.zeros(q, K.dtype), np.zeros(q, K.dtype)  # 0 where it can, ±FAR where it cannot
    for k in range(q):
        if not beta[k] < upper[k]:
            can_rise[k] = FAR
        if not beta[k] > lower[k]:
            can_fall[k] = -FAR
    gain, nothing = np.empty(q, K.dtype), np.zeros(q, K.dtype)
    lows, highs = np.empty(groups, K.dtype), np.empty(groups, K.dtype)
    up, down, step, steps, least_curvature = 0, 0, real(0), 0, FAR
    while True:
        violation = real(-FAR)
        for j in range(groups):
            a, z = starts[j], starts[j + 1]
            lows[j], highs[j] = move_gradient(g[a:z], step, K[up, a:z], K[down, a:z], can_rise[a:z], can_fall[a:z])
            violation = larger(violation, highs[j] - lows[j])
        if violation < tol or steps >= max_steps:
            break
        most = real(0)
        for j in range(groups):
            a, z = starts[j], starts[j + 1]
            if not highs[j] > lows[j]:
                continue
            i = a + place_of(lows[j], g[a:z], can_rise[a:z])
            best = promise(g[a:z], lows[j], K[i, a:z], diagonal[i], diagonal[a:z], can_fall[a:z], tiny, gain[a:z])
            if best > most:
                most, up = best, i
                down = a + place_of(best, gain[a:z], nothing[a:z])
        if not most > 0:
            break
        curvature = float(diagonal[up] + diagonal[down] - 2 * K[up, down])
        least_curvature = min(least_curvature, curvature)
        move = float(g[down] - g[up]) / max(curvature, float(tiny))
        step = real(move_pair(beta, lower, upper, can_rise, can_fall, up, down, move))
        steps += 1
    return steps, float(violation), least_curvature
