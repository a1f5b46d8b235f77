"""The rounds of the working-set method on a matrix that is stored whole, compiled from end to end.

Solves
    The rounds of ``working_set``: take the worst violators of each group, more of a group that has more (and from the
    last set what there is room for), solve among them (``inner``), move the gradient by the rows of those that changed.
    With every row at hand a round of a few thousand variables takes under a millisecond, and interpreted code between
    its parts would cost as much again.
Given
    K whole in the working precision; g, β and its box in float64; the group of each variable. With a factor D, the
    matrix of the programme is DKD, and only what a round reads of it is ever multiplied out.
Returns
    β and g moved in place; the steps, the rounds, the violation that is left on this g, and the least curvature met.
Stops when
    the violation is at most goal, nothing moves, or max_steps are spent.
Reference
    Zanni, Serafini, Zanghirati (2006), JMLR 7:1467; Fan, Chen, Lin (2005), JMLR 6:1889.
"""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled
from askew.qp.gather import gather_block
from askew.solvers.working_set.accumulate import add_rows
from askew.solvers.working_set.smo import solve_block

FEWEST = 16.0  # of a group, either way

_compile = compiled()


@_compile
def measure(g, beta, lower, upper, labels, lows, highs):  # type: ignore[no-untyped-def]
    """Least g that can rise and largest that can fall, of each group; returns the largest difference."""
    for j in range(lows.shape[0]):
        lows[j], highs[j] = np.inf, -np.inf
    for i in range(g.shape[0]):
        j = labels[i]
        if beta[i] < upper[i] and g[i] < lows[j]:
            lows[j] = g[i]
        if beta[i] > lower[i] and g[i] > highs[j]:
            highs[j] = g[i]
    violation = 0.0
    for j in range(lows.shape[0]):
        violation = max(violation, highs[j] - lows[j])
    return violation


@_compile
def kth_smallest(values, m, k):  # type: ignore[no-untyped-def]
    """The k-th smallest (from 0) of the first m values, which are reordered (Hoare's selection)."""
    left, right = 0, m - 1
    while left < right:
        pivot, i, j = values[(left + right) // 2], left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if k <= j:
            right = j
        elif k >= i:
            left = i
        else:
            break
    return values[k]


@_compile
def pick(g, beta, lower, upper, labels, group, sign, count, is_taken, values):  # type: ignore[no-untyped-def]
    """Mark the ``count`` variables of a group with the least sign·g among those that can move that way."""
    m = 0
    for i in range(g.shape[0]):
        if labels[i] == group and (beta[i] < upper[i] if sign > 0 else beta[i] > lower[i]):
            values[m] = sign * g[i]
            m += 1
    if m == 0:
        return
    count = min(count, m)
    limit = kth_smallest(values, m, count - 1)
    for k in range(m):  # ties at the limit must not take the places of those below it
        count -= values[k] < limit
    for i in range(g.shape[0]):
        value = sign * g[i]
        if value <= limit and labels[i] == group and (beta[i] < upper[i] if sign > 0 else beta[i] > lower[i]):
            if value < limit:
                is_taken[i] = True
            elif count > 0:
                is_taken[i] = True
                count -= 1


@_compile
def set_shares(g, beta, lower, upper, labels, lows, highs, size, shares):  # type: ignore[no-untyped-def]
    """How many of each group to pick either way, by the root of how many of it would move."""
    shares[:] = 0.0
    for i in range(g.shape[0]):
        j = labels[i]
        if (beta[i] < upper[i] and g[i] < highs[j]) or (beta[i] > lower[i] and g[i] > lows[j]):
            shares[j] += 1.0
    total = np.sqrt(shares).sum()
    for j in range(shares.shape[0]):
        shares[j] = max(FEWEST, 0.5 * size * np.sqrt(shares[j]) / total) if total > 0 else FEWEST


@_compile
def choose(g, beta, lower, upper, labels, groups, size, chosen, q, is_taken, values, starts, shares):  # type: ignore[no-untyped-def]
    """Put the next working set into ``chosen``, whose first q entries are the last one; returns its size."""
    n, room = g.shape[0], size
    is_taken[:] = False
    for j in range(groups):
        pick(g, beta, lower, upper, labels, j, 1.0, int(shares[j]), is_taken, values)
        pick(g, beta, lower, upper, labels, j, -1.0, int(shares[j]), is_taken, values)
    for i in range(n):
        room -= is_taken[i]
    for k in range(q):
        if room > 0 and not is_taken[chosen[k]]:
            is_taken[chosen[k]] = True
            room -= 1
    m = 0
    for j in range(groups):
        starts[j] = m
        for i in range(n):
            if is_taken[i] and labels[i] == j and m < size:
                chosen[m] = i
                m += 1
    starts[groups] = m
    return m


@_compile
def bend_block(block, indices, factor):  # type: ignore[no-untyped-def]
    """block[a, b] *= D_a D_b."""
    for a in range(indices.shape[0]):
        left, row = factor[indices[a]], block[a]
        for b in range(indices.shape[0]):
            row[b] *= left * factor[indices[b]]


@_compile
def move_gradient(g, K, factor, changed, delta):  # type: ignore[no-untyped-def]
    """g += K[:, changed] δ, or DKD[:, changed] δ where there is a factor."""
    n = g.shape[0]
    if factor.shape[0] == 0:
        add_rows(g, K, changed, delta, 0, n)
        return
    sums = np.zeros(n)
    add_rows(sums, K, changed, delta * factor[changed], 0, n)
    for i in range(n):
        g[i] += factor[i] * sums[i]


@_compile
def run_rounds(K, factor, diagonal, g, beta, lower, upper, labels, groups, goal, size, max_steps):  # type: ignore[no-untyped-def]
    """Rounds until the violation of g is at most ``goal``; ``factor`` is D, or empty; see the module."""
    n = g.shape[0]
    lows, highs, shares, starts = np.empty(groups), np.empty(groups), np.empty(groups), np.empty(groups + 1, np.int64)
    is_taken, values, chosen = np.empty(n, np.bool_), np.empty(n), np.empty(size, np.int64)
    flat, small, curved = np.empty(size * size, K.dtype), np.empty(size, K.dtype), np.empty(size, K.dtype)
    inside, low, high = np.empty(size), np.empty(size), np.empty(size)
    changed, delta = np.empty(size, np.int64), np.empty(size)
    q, steps, rounds, least_curvature = 0, 0, 0, np.inf
    while True:
        violation = measure(g, beta, lower, upper, labels, lows, highs)
        if violation <= goal or steps >= max_steps:
            break
        set_shares(g, beta, lower, upper, labels, lows, highs, size, shares)
        q = choose(g, beta, lower, upper, labels, groups, size, chosen, q, is_taken, values, starts, shares)
        block = flat[: q * q].reshape(q, q)  # a slice of a matrix would be strided, and its rows not vectorise
        gather_block(K, chosen[:q], block)
        if factor.shape[0]:
            bend_block(block, chosen[:q], factor)
        for a in range(q):
            i = chosen[a]
            centre = 0.5 * (lows[labels[i]] + highs[labels[i]])
            small[a] = (
                g[i] - centre if abs(centre) < np.inf else g[i]
            )  # only differences count; small numbers round less
            curved[a], inside[a], low[a], high[a] = diagonal[i], beta[i], lower[i], upper[i]
        done, _, curvature = solve_block(
            block, curved[:q], small[:q], inside[:q], low[:q], high[:q], starts,
            max(0.1 * violation, 0.3 * goal), min(20 * q, max_steps - steps),
        )  # fmt: skip
        steps, rounds, least_curvature = steps + done, rounds + 1, min(least_curvature, curvature)
        m = 0
        for a in range(q):
            if inside[a] != beta[chosen[a]]:
                changed[m], delta[m] = chosen[a], inside[a] - beta[chosen[a]]
                beta[chosen[a]] = inside[a]
                m += 1
        if m == 0:
            break
        move_gradient(g, K, factor, changed[:m], delta[:m])
    return steps, rounds, violation, least_curvature
