"""A box and a stored matrix, compiled: coordinate descent that Newton steps finish.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper.
    Rounds of greedy coordinate descent (``descent``) find which variables sit at a bound; between rounds one Newton
    step over the variables strictly inside, cut where it meets the box, does what coordinates do slowly when K is
    badly conditioned.
Given
    K whole, and β within the box to start from.
Returns
    β and g = Kβ + p moved in place; the steps, the rounds and how it ended.
Stops when
    the KKT violation is at most tol on a gradient computed anew, after the limit of steps, or when neither kind of step
    moves any more.
Reference
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints.
"""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled
from askew.solvers.coordinate.sweeps import descend_stored

GOOD, LIMITED, STUCK = 0, 1, 2
_POLISH = 1e-6  # the last Newton step costs little and leaves an error this far below the tolerance
_ROUNDS = 1000  # far more than any problem has needed; a bound on time, not a tuning knob

_compile = compiled(fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy")


@_compile
def solve_box(K, p, lower, upper, beta, g, tol, max_steps):  # type: ignore[no-untyped-def]
    """Solve one programme; returns (steps, rounds, ending)."""
    n = beta.shape[0]
    diagonal = curvatures(K)
    evaluate(K, p, beta, g)
    steps, last, aim = 0, np.inf, 0.5 * tol
    for rounds in range(1, _ROUNDS + 1):
        # rounds of coordinates are short: where they are slow, the Newton step between them is not
        pace = min(2 * n + 20, max_steps - steps)
        done, left = descend_stored(K, diagonal, g, beta, lower, upper, aim, pace)
        steps += done
        if left > aim * _POLISH:
            step_inside(K, g, beta, lower, upper)
        evaluate(K, p, beta, g)
        now = violation(g, beta, lower, upper)
        if now <= tol:
            return steps, rounds, GOOD
        if steps >= max_steps:
            return steps, rounds, LIMITED
        if done == 0 and not now < last:
            return steps, rounds, STUCK
        last = now
    return steps, _ROUNDS, LIMITED


@_compile
def solve_boxes(K, first, p, lower, upper, beta, g, tols, max_steps, begin, end, endings):  # type: ignore[no-untyped-def]
    """Programmes begin, …, end − 1 of many; their variables stand one after the other, and so do their matrices."""
    at = 0
    for k in range(begin):
        at += (first[k + 1] - first[k]) ** 2
    for k in range(begin, end):
        a, z = first[k], first[k + 1]
        n = z - a
        matrix = K[at : at + n * n].reshape(n, n)
        at += n * n
        endings[k, 0], endings[k, 1], endings[k, 2] = solve_box(
            matrix, p[a:z], lower[a:z], upper[a:z], beta[a:z], g[a:z], tols[k], max_steps
        )


@_compile
def curvatures(K):  # type: ignore[no-untyped-def]
    """The diagonal; a row of zeros (a positive at the mean) is given the least curvature that sends it to its bound."""
    n = K.shape[0]
    diagonal, largest = np.empty(n), 0.0
    for i in range(n):
        diagonal[i] = K[i, i]
        largest = max(largest, K[i, i])
    for i in range(n):
        diagonal[i] = max(diagonal[i], 1e-15 * max(1e-300, largest))
    return diagonal


@_compile
def evaluate(K, p, beta, g):  # type: ignore[no-untyped-def]
    """g = Kβ + p."""
    n = beta.shape[0]
    g[:] = p
    for i in range(n):
        if beta[i] != 0.0:
            for k in range(n):
                g[k] += beta[i] * K[i, k]


@_compile
def violation(g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """The largest gradient of a variable that can fall less the smallest of one that can rise, each beyond 0."""
    high, low = 0.0, 0.0
    for i in range(beta.shape[0]):
        if beta[i] > lower[i]:
            high = max(high, g[i])
        if beta[i] < upper[i]:
            low = min(low, g[i])
    return high - low


@_compile
def step_inside(K, g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """Newton step over the variables strictly inside their box, as far as the box allows."""
    inside = np.flatnonzero((beta > lower) & (beta < upper))
    m = inside.shape[0]
    if m == 0:
        return
    block, trace = np.empty((m, m)), 0.0
    for i in range(m):
        trace += K[inside[i], inside[i]]
        for k in range(m):
            block[i, k] = K[inside[i], inside[k]]
    move_inside(block, trace, inside, g, beta, lower, upper)


@_compile
def move_inside(block, trace, inside, g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """The step itself; ``block`` is K among the variables inside, and is overwritten."""
    m = inside.shape[0]
    for i in range(m):
        block[i, i] += 1e-13 * trace / m
    direction = np.empty(m)
    for i in range(m):
        direction[i] = -g[inside[i]]
    if not solve_in_place(block, direction):  # an indefinite kernel: coordinates alone go on
        return
    length = 1.0
    for i in range(m):
        k = inside[i]
        if direction[i] > 0.0:
            length = min(length, (upper[k] - beta[k]) / direction[i])
        elif direction[i] < 0.0:
            length = min(length, (lower[k] - beta[k]) / direction[i])
    for i in range(m):
        k = inside[i]
        beta[k] = min(max(beta[k] + length * direction[i], lower[k]), upper[k])


@_compile
def solve_in_place(A, b):  # type: ignore[no-untyped-def]
    """b ← A⁻¹b by Cholesky, A overwritten; False where A is not positive definite."""
    try:
        L = np.linalg.cholesky(A)
    except Exception:
        return False
    n = b.shape[0]
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]
    return np.isfinite(b).all()
