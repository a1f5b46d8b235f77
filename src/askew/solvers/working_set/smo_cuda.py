"""The small problem inside a working set, solved on a CUDA device.

Solves
    What ``inner`` solves, by the same steps: one program of the device holds the gradient of the q variables in its
    registers and reads two rows of K a step. It pays where the block would have to cross to the host: on an H200 a step
    takes 1.1 µs at q = 1024 (1.2 on its host), 1.4 at 2048 (1.8) and 2.2 at 4096 (5.1), and nothing is transferred
    (``python -m benchmarks.gpu inner``). At q = 512 the host would be faster, 0.6 against 1.1, but for the transfer.
Given
    K (q×q), its diagonal and g in float32 as PyTorch tensors on the device, β and its box in float64; one group, or two
    of which the first has ``split`` variables.
Returns
    β moved in place, and the number of steps, on the device.
Stops when
    as ``inner`` does.
Reference
    Fan, Chen, Lin (2005), JMLR 6:1889, algorithm 2 (WSS 2).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from askew.arrays import is_torch_array

LARGEST = 8192
"""Variables whose state one program can hold."""


def can_solve_on_device(block: Any, groups: int) -> bool:
    """Whether a block can be solved where it is."""
    return (
        is_torch_array(block)
        and bool(block.is_cuda)
        and str(block.dtype) == "torch.float32"
        and groups <= 2
        and block.shape[0] <= LARGEST
        and _compiled() is not None
    )


def solve_on_device(
    K: Any, diagonal: Any, g: Any, beta: Any, lower: Any, upper: Any, split: int, tol: float, max_steps: int
) -> Any:
    """Run SMO on one working set; β is moved in place. ``split`` is q where there is one group."""
    import torch

    q = K.shape[0]
    steps = torch.empty(1, dtype=torch.int64, device=K.device)
    width = 1 << max(6, (q - 1).bit_length())
    with torch.cuda.device(K.device):
        _compiled()[(1,)](
            K, diagonal, g, beta, lower, upper, steps, q, split, float(tol), int(min(max_steps, 2**31 - 1)),
            IS_SPLIT=split < q, WIDTH=width, num_warps=8 if width <= 1024 else 16,
        )  # fmt: skip
    return steps


@cache
def _compiled() -> Any:
    """The Triton kernel, or None where there is no Triton."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    globals()["tl"] = tl  # where Triton looks up the names of the functions a reduction calls

    @triton.jit
    def lowest_and_highest(a, i, h, b, j, k):  # type: ignore[no-untyped-def]
        is_lower = b < a
        return tl.where(is_lower, b, a), tl.where(is_lower, j, i), tl.maximum(h, k)

    @triton.jit
    def largest(a, i, b, j):  # type: ignore[no-untyped-def]
        is_larger = b > a
        return tl.where(is_larger, b, a), tl.where(is_larger, j, i)

    @triton.jit
    def smo(  # type: ignore[no-untyped-def]
        K, DIAGONAL, G, BETA, LOWER, UPPER, STEPS, q, split, tol, max_steps,
        IS_SPLIT: tl.constexpr, WIDTH: tl.constexpr,
    ):  # fmt: skip
        far: tl.constexpr = 1e30
        tiny: tl.constexpr = 1e-6
        at = tl.arange(0, WIDTH)
        here = at < q
        is_first = at < split
        g = tl.load(G + at, here, 0.0)
        diagonal = tl.load(DIAGONAL + at, here, 1.0)
        beta = tl.load(BETA + at, here, 0.0)
        can_rise = tl.where(here & (beta < tl.load(UPPER + at, here, 0.0)), 0.0, far)
        can_fall = tl.where(here & (beta > tl.load(LOWER + at, here, 0.0)), 0.0, -far)
        steps = 0
        goes_on = True
        while goes_on:
            if IS_SPLIT:
                low, up, high = tl.reduce(
                    (tl.where(is_first, g + can_rise, far), at, tl.where(is_first, g + can_fall, -far)),
                    0, lowest_and_highest,
                )  # fmt: skip
                low_2, up_2, high_2 = tl.reduce(
                    (tl.where(is_first, far, g + can_rise), at, tl.where(is_first, -far, g + can_fall)),
                    0, lowest_and_highest,
                )  # fmt: skip
                violation = tl.maximum(high - low, high_2 - low_2)
            else:
                low, up, high = tl.reduce((g + can_rise, at, g + can_fall), 0, lowest_and_highest)
                violation = high - low
            goes_on = (violation >= tol) & (steps < max_steps)
            if goes_on:
                if IS_SPLIT:
                    ups, lows = tl.where(is_first, up, up_2), tl.where(is_first, low, low_2)
                    row_up = tl.load(K + ups * q + at, here, 0.0)
                    k_up = tl.load(DIAGONAL + ups)
                    fall = tl.maximum(g + can_fall - lows, 0.0)
                else:
                    row_up = tl.load(K + up * q + at, here, 0.0)
                    k_up = tl.load(DIAGONAL + up)
                    fall = tl.maximum(g + can_fall - low, 0.0)
                gain = fall * fall / tl.maximum(k_up + diagonal - 2.0 * row_up, tiny)
                most, down = tl.reduce((gain, at), 0, largest)
                if IS_SPLIT:
                    up = tl.where(down < split, up, up_2)
                    row_up = tl.load(K + up * q + at, here, 0.0)
                row_down = tl.load(K + down * q + at, here, 0.0)
                curvature = tl.load(DIAGONAL + up) + tl.load(DIAGONAL + down) - 2.0 * tl.load(K + up * q + down)
                old_up, old_down = tl.load(BETA + up), tl.load(BETA + down)
                top, bottom = tl.load(UPPER + up), tl.load(LOWER + down)
                move = tl.sqrt(most / tl.maximum(curvature, tiny)).to(tl.float64)  # (g_down − g_up)/a, from its gain
                move = tl.minimum(move, tl.minimum(top - old_up, old_down - bottom))
                new_up = tl.where(move >= top - old_up, top, old_up + move)
                new_down = tl.where(move >= old_down - bottom, bottom, old_down - move)
                tl.debug_barrier()  # every thread has read β before one writes it, and reads it again after
                tl.store(BETA + up, new_up)
                tl.store(BETA + down, new_down)
                tl.debug_barrier()
                is_up, is_down = at == up, at == down
                rise_of_up = tl.where(new_up < top, 0.0, far)
                fall_of_down = tl.where(new_down > bottom, 0.0, -far)
                can_rise = tl.where(is_up, rise_of_up, tl.where(is_down, 0.0, can_rise))
                can_fall = tl.where(is_down, fall_of_down, tl.where(is_up, 0.0, can_fall))
                g += move.to(tl.float32) * (row_up - row_down)
                steps += 1
                goes_on = most > 0.0
        tl.store(STEPS, steps)

    return smo
