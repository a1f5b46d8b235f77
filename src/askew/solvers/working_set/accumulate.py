"""Sums of kernel rows, compiled.

Solves
    target[first:last] += Σ_r steps[r] · rows[slots[r], first:last] for rows in the cache, and the same for a tile of
    new rows on its way into the cache.
Given
    Rows in their own precision at scattered slots; partial sums are kept in that precision for a stretch that stays
    in the innermost cache, and enter the float64 target once.
"""

from __future__ import annotations

import numpy as np

from askew.compiled import compiled

STRETCH = 2048


@compiled(fastmath=True)
def add_rows(target, rows, slots, steps, first, last):  # type: ignore[no-untyped-def]
    """Add the weighted rows to one window of the target."""
    real, m = rows.dtype.type, slots.shape[0]
    sums = np.empty(STRETCH, rows.dtype)
    for begin in range(first, last, STRETCH):
        end = min(last, begin + STRETCH)
        width = end - begin
        for k in range(width):
            sums[k] = 0
        r = 0
        while r + 4 <= m:  # four rows per pass: one load and one store of the sums serve four
            s0, s1, s2, s3 = real(steps[r]), real(steps[r + 1]), real(steps[r + 2]), real(steps[r + 3])
            a0, a1 = rows[slots[r], begin:end], rows[slots[r + 1], begin:end]
            a2, a3 = rows[slots[r + 2], begin:end], rows[slots[r + 3], begin:end]
            for k in range(width):
                sums[k] += s0 * a0[k] + s1 * a1[k] + s2 * a2[k] + s3 * a3[k]
            r += 4
        while r < m:
            s0, a0 = real(steps[r]), rows[slots[r], begin:end]
            for k in range(width):
                sums[k] += s0 * a0[k]
            r += 1
        for k in range(width):
            target[begin + k] += sums[k]


@compiled(fastmath=True)
def absorb_tile(target, rows, slots, tile, steps, first):  # type: ignore[no-untyped-def]
    """Add a weighted tile to the target from column ``first`` on, and keep its leading rows at their slots."""
    width = tile.shape[1]
    sums = np.empty(width, tile.dtype)
    for k in range(width):
        sums[k] = 0
    for r in range(tile.shape[0]):
        step, row = steps[r], tile[r]
        if r < slots.shape[0]:
            kept = rows[slots[r], first : first + width]
            for k in range(width):
                kept[k] = row[k]
        for k in range(width):
            sums[k] += step * row[k]
    for k in range(width):
        target[first + k] += sums[k]
