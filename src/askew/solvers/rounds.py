"""The rounds of the working-set method on a matrix that is stored whole, compiled from end to end.

Solves
    The same rounds as ``working_set``: take the worst violators of each group and half of the last set, solve among them
    (``inner``), move the gradient by the rows of those that changed. With every row at hand a round of a few thousand
    variables takes under a millisecond, and interpreted code between its parts would cost as much again.
Given
    K whole in the working precision; g, β and its box in float64; the group of each variable.
Returns
    β and g moved in place; the steps, the rounds, the violation that is left on this g, and the least curvature met.
Stops when
    the violation is at most goal, nothing moves, or max_steps are spent.
Reference
    Zanni, Serafini, Zanghirati (2006), JMLR 7:1467; Fan, Chen, Lin (2005), JMLR 6:1889.
"""

from __future__ import annotations

import numba
import numpy as np

from askew.solvers.accumulate import add_rows
from askew.solvers.inner import solve_block

_compile = numba.njit(cache=True, nogil=True)


@_compile
def measure(g, beta, lower, upper, labels, lows, highs):  # type: ignore[no-untyped-def]
    """Least g that can rise and largest that can fall, of each group; returns the largest difference."""
    lows[:], highs[:] = np.inf, -np.inf
    for i in range(g.shape[0]):
        j = labels[i]
        if beta[i] < upper[i] and g[i] < lows[j]:
            lows[j] = g[i]
        if beta[i] > lower[i] and g[i] > highs[j]:
            highs[j] = g[i]
    return max(0.0, (highs - lows).max())


@_compile
def pick(g, beta, lower, upper, labels, group, sign, count, is_taken):  # type: ignore[no-untyped-def]
    """Mark the ``count`` variables of a group with the least sign·g among those that can move that way."""
    values = np.empty(g.shape[0])
    m = 0
    for i in range(g.shape[0]):
        if labels[i] == group and (beta[i] < upper[i] if sign > 0 else beta[i] > lower[i]):
            values[m] = sign * g[i]
            m += 1
    if m == 0:
        return
    limit = np.partition(values[:m], min(count, m) - 1)[min(count, m) - 1]
    left = count
    for i in range(g.shape[0]):
        can_move = labels[i] == group and (beta[i] < upper[i] if sign > 0 else beta[i] > lower[i])
        if can_move and sign * g[i] <= limit and left > 0:
            is_taken[i] = True
            left -= 1


@_compile
def choose(g, beta, lower, upper, labels, groups, size, last):  # type: ignore[no-untyped-def]
    """The next working set, sorted by group, and where each group starts in it."""
    n = g.shape[0]
    is_taken = np.zeros(n, np.bool_)
    share = max(1, (size if last.shape[0] == 0 else size // 2) // (2 * groups))
    for j in range(groups):
        pick(g, beta, lower, upper, labels, j, 1.0, share, is_taken)
        pick(g, beta, lower, upper, labels, j, -1.0, share, is_taken)
    room = size - is_taken.sum()
    for k in range(last.shape[0]):
        if room > 0 and not is_taken[last[k]]:
            is_taken[last[k]] = True
            room -= 1
    chosen, starts, m = np.empty(is_taken.sum(), np.int64), np.empty(groups + 1, np.int64), 0
    for j in range(groups):
        starts[j] = m
        for i in range(n):
            if is_taken[i] and labels[i] == j:
                chosen[m] = i
                m += 1
    starts[groups] = m
    return chosen, starts


@_compile
def run_rounds(K, diagonal, g, beta, lower, upper, labels, groups, goal, size, max_steps):  # type: ignore[no-untyped-def]
    """Rounds until the violation of g is at most ``goal``; see the module."""
    lows, highs = np.empty(groups), np.empty(groups)
    last, block = np.empty(0, np.int64), np.empty((size, size), K.dtype)
    steps, rounds, least_curvature = 0, 0, np.inf
    while True:
        violation = measure(g, beta, lower, upper, labels, lows, highs)
        if violation <= goal or steps >= max_steps:
            break
        chosen, starts = choose(g, beta, lower, upper, labels, groups, size, last)
        q = chosen.shape[0]
        some, small, before = block[:q, :q], np.empty(q, K.dtype), beta[chosen]
        for a in range(q):
            row, j = K[chosen[a]], labels[chosen[a]]
            for b in range(q):
                some[a, b] = row[chosen[b]]
            centre = 0.5 * (lows[j] + highs[j])
            small[a] = g[chosen[a]] - (centre if np.isfinite(centre) else 0.0)
        moved = before.copy()
        done, _, curvature = solve_block(
            some, diagonal[chosen], small, moved, lower[chosen], upper[chosen], starts,
            max(0.1 * violation, 0.3 * goal), min(20 * q, max_steps - steps),
        )  # fmt: skip
        steps, rounds, least_curvature = steps + done, rounds + 1, min(least_curvature, curvature)
        changed = np.flatnonzero(moved != before)
        if changed.shape[0] == 0:
            break
        add_rows(g, K, chosen[changed], (moved - before)[changed], 0, g.shape[0])
        beta[chosen] = moved
        last = chosen
    return steps, rounds, violation, least_curvature
