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
five times the cost. They are woven into the loop of steps and read spans of whole arrays between unsigned ends: in a
small block, making slices and calling took as long as the arithmetic.

Reference
    Fan, Chen, Lin (2005), Working set selection using second order information, JMLR 6:1889, algorithm 2 (WSS 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload

from askew.compiled import compiled

FAR = 1e30  # added to a gradient to take a variable out of a search

_compile = compiled(fastmath=True, error_model="numpy")
_weave = compiled(fastmath=True, error_model="numpy", inline="always")


# A plain ``max`` in a compiled reduction must respect NaN and signed zero, which keeps LLVM from vectorising the loop.
# These two are a comparison and a select that promise there is neither.


def larger(a: float, b: float) -> float:
    """The larger of two numbers, neither of them NaN."""
    return a if a > b else b


def smaller(a: float, b: float) -> float:
    """The smaller of two numbers, neither of them NaN."""
    return a if a < b else b


def _selecting(comparison: str) -> Any:
    @intrinsic
    def select(typing_context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wins = builder.fcmp_ordered(comparison, args[0], args[1], flags=("fast",))
            return builder.select(wins, args[0], args[1], flags=("fast",))

        return a(a, b), generate

    return select


_select_larger, _select_smaller = _selecting(">"), _selecting("<")


def _same_floats(a: Any, b: Any) -> bool:
    return a == b and isinstance(a, types.Float)


@overload(larger)
def _compile_larger(a, b):  # type: ignore[no-untyped-def]
    if _same_floats(a, b):
        return lambda a, b: _select_larger(a, b)
    return None


@overload(smaller)
def _compile_smaller(a, b):  # type: ignore[no-untyped-def]
    if _same_floats(a, b):
        return lambda a, b: _select_smaller(a, b)
    return None


@_weave
def move_gradient(g, step, K, up, down, can_rise, can_fall, first, end):  # type: ignore[no-untyped-def]
    """g += step (K_up − K_down) on a span; returns the least g that can rise there and the largest that can fall."""
    low, high = g.dtype.type(FAR), g.dtype.type(-FAR)
    for k in range(first, end):
        value = g[k] + step * (K[up, k] - K[down, k])
        g[k] = value
        low = smaller(low, value + can_rise[k])
        high = larger(high, value + can_fall[k])
    return low, high


@_weave
def promise(g, low, K, up, diagonal, can_fall, tiny, gain, first, end):  # type: ignore[no-untyped-def]
    """Fill gain_k = (g_k − low)² / a_k for those of a span that can fall; returns the largest."""
    zero, two = g.dtype.type(0), g.dtype.type(2)
    most, k_up = zero, diagonal[up]
    for k in range(first, end):
        fall = larger(g[k] + can_fall[k] - low, zero)
        value = fall * fall / larger(k_up + diagonal[k] - two * K[up, k], tiny)
        gain[k] = value
        most = larger(most, value)
    return most


@_weave
def place_of(best, values, offsets, first, end):  # type: ignore[no-untyped-def]
    """First k of a span with values_k + offsets_k = best."""
    last = np.int32(end) - np.int32(1)
    where = last
    for k in range(first, end):
        where = min(where, np.int32(k) if values[k] + offsets[k] == best else last)
    return np.uint64(where)


@_weave
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
    """Run SMO on one working set; see the module. ``starts`` holds the first place of each group, and the end."""
    real, q, groups = K.dtype.type, g.shape[0], starts.shape[0] - 1
    tiny = real(1e-12) if K.itemsize == 8 else real(1e-6)
    memory, levels = np.empty((4, q), K.dtype), np.empty((2, groups), K.dtype)
    can_rise, can_fall, gain, nothing = memory[0], memory[1], memory[2], memory[3]
    lows, highs = levels[0], levels[1]
    for k in range(q):
        can_rise[k] = 0 if beta[k] < upper[k] else FAR  # 0 where it can, ±FAR where it cannot
        can_fall[k] = 0 if beta[k] > lower[k] else -FAR
        nothing[k] = 0
    up = down = np.uint64(starts[0])  # a row that is in use: those before it may hold anything, NaN too
    step, steps, least_curvature = real(0), 0, FAR
    while True:
        violation = real(-FAR)
        for j in range(groups):
            first, end = np.uint64(starts[j]), np.uint64(starts[j + 1])
            lows[j], highs[j] = move_gradient(g, step, K, up, down, can_rise, can_fall, first, end)
            violation = larger(violation, highs[j] - lows[j])
        if violation < tol or steps >= max_steps:
            break
        most = real(0)
        for j in range(groups):
            if not highs[j] > lows[j]:
                continue
            first, end = np.uint64(starts[j]), np.uint64(starts[j + 1])
            i = place_of(lows[j], g, can_rise, first, end)
            best = promise(g, lows[j], K, i, diagonal, can_fall, tiny, gain, first, end)
            if best > most:
                most, up = best, i
                down = place_of(best, gain, nothing, first, end)
        if not most > 0:
            break
        curvature = float(diagonal[up] + diagonal[down] - 2 * K[up, down])
        least_curvature = min(least_curvature, curvature)
        move = float(g[down] - g[up]) / max(curvature, float(tiny))
        step = real(move_pair(beta, lower, upper, can_rise, can_fall, up, down, move))
        steps += 1
    return steps, float(violation), least_curvature
