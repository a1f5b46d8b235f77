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
from scipy.linalg.lapack import dposv

from askew.compiled import compiled
from askew.solvers.coordinate.sweeps import descend_stored
from askew.threads import workers

GOOD, LIMITED, STUCK, WIDE = 0, 1, 2, 3
_POLISH = 1e-6  # the last Newton step costs little and leaves an error this far below the tolerance
_ROUNDS = 1000  # far more than any problem has needed; a bound on time, not a tuning knob
_NARROW = 64  # variables inside: up to here the compiled Cholesky is as quick as a call of LAPACK

_compile = compiled(fastmath={"reassoc", "contract", "nsz", "arcp"}, error_model="numpy")


def solve_box(K, p, lower, upper, beta, g, tol, max_steps, diagonal=None):  # type: ignore[no-untyped-def]
    """Solve one programme; returns (steps, rounds, ending). ``diagonal`` is what ``curvatures`` makes of K."""
    if diagonal is None:
        diagonal = curvatures(K)
    steps, rounds, done, last = 0, 0, 0, np.inf
    while True:
        steps, rounds, done, last, ending = run_rounds(
            K, diagonal, p, lower, upper, beta, g, tol, max_steps, steps, rounds, done, last
        )
        if ending != WIDE:
            return steps, rounds, ending
        inside = np.flatnonzero((beta > lower) & (beta < upper))
        block = K[np.ix_(inside, inside)]
        with workers():  # BLAS on one thread: two were seen to wait for each other
            move_inside(block, np.trace(block), inside, g, beta, lower, upper)


def curvatures(K):  # type: ignore[no-untyped-def]
    """The diagonal; a row of zeros (a positive at the mean) is given the least curvature that sends it to its bound."""
    diagonal = np.diagonal(K)
    return np.maximum(diagonal, 1e-15 * max(1e-300, np.max(diagonal, initial=0.0)))


def move_inside(block, trace, inside, g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """Newton step over the variables inside, by LAPACK; ``block`` is K among them, and is overwritten."""
    block[np.diag_indices_from(block)] += 1e-13 * trace / len(inside)
    _, direction, info = dposv(block.T, -g[inside], lower=1, overwrite_a=1)
    if info != 0 or not np.isfinite(direction).all():  # an indefinite kernel: coordinates alone go on
        return
    at, low, high = beta[inside], lower[inside], upper[inside]
    room = np.where(direction > 0.0, high - at, low - at)[direction != 0.0]
    length = np.min(room / direction[direction != 0.0], initial=1.0)
    beta[inside] = np.clip(at + length * direction, low, high)


@_compile
def run_rounds(K, diagonal, p, lower, upper, beta, g, tol, max_steps, steps, rounds, done, last):  # type: ignore[no-untyped-def]
    """Judge, descend and step until the programme ends, or until a step over more than ``_NARROW`` variables is due.

    ``done`` and ``last`` are the coordinate steps of the last round and the violation before it.
    """
    n, aim = beta.shape[0], 0.5 * tol
    block, direction, inside = np.empty((_NARROW, _NARROW)), np.empty(_NARROW), np.empty(_NARROW, np.int64)
    while True:
        for k in range(n):
            g[k] = p[k]
        for i in range(n):
            weight = beta[i]
            if weight != 0.0:
                for k in range(n):
                    g[k] += weight * K[i, k]
        high, low = 0.0, 0.0  # the largest gradient of a variable that can fall, the smallest of one that can rise
        for i in range(n):
            if beta[i] > lower[i] and g[i] > high:
                high = g[i]
            if beta[i] < upper[i] and g[i] < low:
                low = g[i]
        now = high - low
        if rounds > 0:
            if now <= tol:
                return steps, rounds, done, last, GOOD
            if steps >= max_steps or rounds >= _ROUNDS:
                return steps, rounds, done, last, LIMITED
            if done == 0 and not now < last:
                return steps, rounds, done, last, STUCK
            last = now
        rounds += 1
        # rounds of coordinates are short: where they are slow, the Newton step between them is not
        pace = min(2 * n + 20, max_steps - steps)
        done, left = descend_stored(K, diagonal, g, beta, lower, upper, aim, pace)
        steps += done
        if left > aim * _POLISH:
            m = np.int64(0)  # not a literal, for which the step would be compiled once more
            for i in range(n):
                if beta[i] > lower[i] and beta[i] < upper[i]:
                    if m < _NARROW:
                        inside[m] = i
                    m += 1
            if m > _NARROW:
                return steps, rounds, done, last, WIDE
            if m > 0:
                step_inside(K, m, block, direction, inside, g, beta, lower, upper)


@_compile
def step_inside(K, m, block, direction, inside, g, beta, lower, upper):  # type: ignore[no-untyped-def]
    """Newton step over the first m variables of ``inside``, as far as the box allows; the rest is memory to work in."""
    trace = 0.0
    for i in range(m):
        trace += K[inside[i], inside[i]]
        direction[i] = -g[inside[i]]
        for k in range(i + 1):
            block[i, k] = K[inside[i], inside[k]]
    shift = 1e-13 * trace / m
    for i in range(m):  # Cholesky, and the first of two substitutions
        for k in range(i):
            total = block[i, k]
            for j in range(k):
                total -= block[i, j] * block[k, j]
            block[i, k] = total / block[k, k]
        square, total = block[i, i] + shift, direction[i]
        for k in range(i):
            square -= block[i, k] * block[i, k]
            total -= block[i, k] * direction[k]
        if not square > 0.0:  # an indefinite kernel: coordinates alone go on
            return
        block[i, i] = np.sqrt(square)
        direction[i] = total / block[i, i]
    for i in range(m - 1, -1, -1):
        direction[i] /= block[i, i]
        if not np.isfinite(direction[i]):
            return
        for k in range(i):
            direction[k] -= block[i, k] * direction[i]
    length = 1.0
    for i in range(m):
        k, step = inside[i], direction[i]
        if step != 0.0:
            room = upper[k] - beta[k] if step > 0.0 else lower[k] - beta[k]
            length = min(length, room / step)
    for i in range(m):
        k = inside[i]
        beta[k] = min(max(beta[k] + length * direction[i], lower[k]), upper[k])
