"""Sums of kernel rows on a CUDA device without the rows.

Solves
    g += Σ_j steps_j finish(V u_j): a tile of V U' is computed by the matrix units, turned into kernel values in
    registers, multiplied by the steps and reduced. The m×n block of kernel values is never written to memory.
Given
    The operands of ``DevicePoints`` (V of shape (n, D) for all points, U of shape (m, D) for the rows that moved) in
    float32 or float64, on a CUDA device, as PyTorch or CuPy arrays; g in float64.
Returns
    g, changed in place. Products keep the precision of the operands (for float32 three TF32 products for each); sums of
    a tile's row enter float64 at once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from askew.arrays import dtype_name, is_cupy_array, is_torch_array
from askew.kernels.function import KernelFunction

COLUMNS_HELD = 64
"""Columns of the operands that are held at a time."""
_SHAPES = {"float32": (128, 64, 4, 2), "float64": (64, 32, 4, 1)}  # rows, columns, warps, stages


def can_fuse(function: KernelFunction, operand: Any) -> bool:
    """Whether the update of this kernel on these operands has a fused form here."""
    if function.fused is None or not (is_torch_array(operand) or is_cupy_array(operand)):
        return False
    if is_torch_array(operand) and not operand.is_cuda:
        return False
    return dtype_name(operand) in _SHAPES and _compiled() is not None


def add_rows(function: KernelFunction, g: Any, V: Any, U: Any, steps: Any) -> Any:
    """g += Σ_j steps_j finish(V u_j), in place."""
    import torch

    kernel = _compiled()
    V, U, steps, target = (x if is_torch_array(x) else torch.from_dlpack(x) for x in (V, U, steps, g))
    V, U, steps = V.contiguous(), U.contiguous(), steps.contiguous()  # the kernel counts places, not strides
    n, width = V.shape
    rows, columns, warps, stages = _SHAPES[dtype_name(V)]
    is_single = V.dtype == torch.float32
    depth = min(COLUMNS_HELD, 1 << (width - 1).bit_length())
    with torch.cuda.device(target.device):
        kernel[(-(-n // rows),)](
            V, U, steps, target, n, U.shape[0], width,
            FORM=function.fused, DEGREE=function.whole_degree, IS_SHORT=width <= depth,
            PRECISION="tf32x3" if is_single else "ieee", IS_SINGLE=is_single,
            DEPTH=depth, ROWS=rows, COLUMNS=columns, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    return g


@cache
def _compiled() -> Any:
    """The Triton kernel, or None where there is no Triton."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit
    def update(  # type: ignore[no-untyped-def]
        V, U, S, G, n, m, width,
        FORM: tl.constexpr, DEGREE: tl.constexpr, IS_SHORT: tl.constexpr,
        PRECISION: tl.constexpr, IS_SINGLE: tl.constexpr,
        DEPTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    ):  # fmt: skip
        rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        depth = tl.arange(0, DEPTH)
        kind: tl.constexpr = tl.float32 if IS_SINGLE else tl.float64
        here = rows < n
        total = tl.zeros((ROWS,), tl.float64)
        v = tl.load(V + rows[:, None] * width + depth[None, :], here[:, None] & (depth[None, :] < width), 0.0)
        for first in range(0, m, COLUMNS):
            columns = first + tl.arange(0, COLUMNS)
            there = columns < m
            u = tl.load(U + columns[:, None] * width + depth[None, :], there[:, None] & (depth[None, :] < width), 0.0)
            tile = tl.dot(v, tl.trans(u), input_precision=PRECISION, out_dtype=kind)
            if not IS_SHORT:
                for begin in range(DEPTH, width, DEPTH):
                    part = begin + depth
                    is_part = part[None, :] < width
                    more = tl.load(V + rows[:, None] * width + part[None, :], here[:, None] & is_part, 0.0)
                    u = tl.load(U + columns[:, None] * width + part[None, :], there[:, None] & is_part, 0.0)
                    tile = tl.dot(more, tl.trans(u), tile, input_precision=PRECISION, out_dtype=kind)
            if FORM == "exp":
                tile = tl.exp(tl.minimum(tile, 0.0))
            elif FORM == "power":
                base = tile
                for _ in tl.static_range(DEGREE - 1):
                    tile = tile * base
            step = tl.load(S + columns, there, 0.0)
            total += tl.sum(tile * step[None, :], axis=1).to(tl.float64)
        tl.store(G + rows, tl.load(G + rows, here, 0.0) + total, here)

    return update
