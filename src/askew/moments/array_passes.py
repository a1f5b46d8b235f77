"""One pass over rows of another array library, on a GPU say, for their weight, mean and scatter.

Solves
    What ``passes`` solves, where the rows are. There are two ways, as the host's is made of what a device does badly:
    blocks as large as a core's cache, each with a shift of its own and in a thread of its own. On a device a block
    like that is not worth a call; stretches of rows are products of their own there, fused on CUDA, about one shift.
Given
    X of shape (n, d), weights w ≥ 0 or None.
Returns
    (n, x̄, ε, S) in float64 on the host.
Why it is stable
    Rows are taken less the mean s of the first of them. Sums over a stretch of 4096 rows are float32 where the data are
    (on CUDA in one fused pass), and enter float64 sums; only float64 data are multiplied in float64. Then
    S = Σ w(x − s)(x − s)' − n(x̄ − s)(x̄ − s)'.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from askew.arrays import Home, dtype_name, host, is_torch_array
from askew.moments.passes import Summary, empty_summary, split_sum
from askew.threads import spans

_SHIFT_ROWS = 4096  # rows whose mean is taken as the shift
_STRETCH_ROWS = 4096  # rows summed in float32
_CHUNK_ENTRIES = 2**26  # entries of a chunk where there is no fused form
_FUSED_FEATURES = 128  # features of the fused form


def summarise_elsewhere(X: Any, weight: Any, diagonal: bool) -> Summary:
    """Weight, mean and scatter of the rows of X; ``weight`` is on the host, or None."""
    n, d = X.shape
    if n == 0:
        return empty_summary(d, diagonal)
    home = Home(X)
    xp = home.xp
    shift = xp.mean(home.put(X[: min(n, _SHIFT_ROWS), :], np.float64), axis=0)
    shift = home.put(home.put(shift, dtype_name(X)), np.float64)  # what the rows' own precision holds
    weight_here = None if weight is None else home.put(weight, np.float64)
    total = float(n) if weight is None else float(np.sum(weight))
    if total == 0.0:
        return empty_summary(d, diagonal)
    if _can_fuse(X) and not diagonal:
        sums, scatter = _fused_sums(home, X, shift, weight_here)
    else:
        sums, scatter = _plain_sums(home, X, shift, weight_here, diagonal)
    sums, scatter, origin = host(sums), host(scatter), host(shift)
    rest = sums / total
    scatter = scatter - total * (rest * rest if diagonal else np.multiply.outer(rest, rest))
    if not diagonal:
        scatter = 0.5 * (scatter + scatter.T)
        np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
    return total, *split_sum(origin, rest), np.maximum(scatter, 0.0) if diagonal else scatter


def _plain_sums(home: Home, X: Any, shift: Any, weight: Any, diagonal: bool) -> tuple[Any, Any]:
    """Σ w(x − s) and Σ w(x − s)(x − s)', a chunk at a time; products in the precision of the data."""
    xp, (n, d) = home.xp, X.shape
    is_single = X.dtype == xp.float32
    height = max(1, _CHUNK_ENTRIES // max(1, d)) // _STRETCH_ROWS * _STRETCH_ROWS or _STRETCH_ROWS
    sums = xp.zeros(d, dtype=xp.float64, device=home.device)
    scatter = xp.zeros(d if diagonal else (d, d), dtype=xp.float64, device=home.device)
    for first, last in spans(n, height):
        Z = X[first:last, :] - home.put(shift, np.float32 if is_single else np.float64)
        W = Z if weight is None else Z * home.put(weight[first:last], np.float32 if is_single else np.float64)[:, None]
        sums = sums + xp.sum(home.put(W, np.float64), axis=0)
        if diagonal:
            scatter = scatter + xp.sum(home.put(W, np.float64) * home.put(Z, np.float64), axis=0)
            continue
        for a, z in spans(last - first, _STRETCH_ROWS if is_single else height):
            scatter = scatter + home.put(W[a:z, :].T @ Z[a:z, :], np.float64)
    return sums, scatter


def _can_fuse(X: Any) -> bool:
    return (
        is_torch_array(X)
        and bool(X.is_cuda)
        and str(X.dtype) == "torch.float32"
        and X.shape[1] <= _FUSED_FEATURES
        and X.shape[0] >= _STRETCH_ROWS
        and bool(X.is_contiguous())
        and _compiled() is not None
    )


def _fused_sums(home: Home, X: Any, shift: Any, weight: Any) -> tuple[Any, Any]:
    """The same from whole stretches, each the work of one program; what is left over is summed plainly."""
    import torch

    n, d = X.shape
    width = max(16, 1 << (d - 1).bit_length())
    programs = n // _STRETCH_ROWS
    sums = torch.empty((programs, width), dtype=torch.float32, device=X.device)
    scatter = torch.empty((programs, width, width), dtype=torch.float32, device=X.device)
    weights = X if weight is None else weight.float()
    with torch.cuda.device(X.device):
        _compiled()[(programs,)](
            X, weights, shift.float(), sums, scatter, d,
            IS_WEIGHTED=weight is not None, IS_EVEN=width == d, WIDTH=width, ROWS=64, STRETCH=_STRETCH_ROWS,
            num_warps=4 if width <= 64 else 8, num_stages=2,
        )  # fmt: skip
    total, square = sums.sum(0, dtype=torch.float64)[:d], scatter.sum(0, dtype=torch.float64)[:d, :d]
    done = programs * _STRETCH_ROWS
    if done < n:
        rest = None if weight is None else weight[done:]
        more, more_square = _plain_sums(home, X[done:], shift, rest, diagonal=False)
        total, square = total + more, square + more_square
    return total, square


@cache
def _compiled() -> Any:
    """The Triton kernel, or None where there is no Triton."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit
    def moments(  # type: ignore[no-untyped-def]
        X, W, SHIFT, SUMS, SCATTER, d,
        IS_WEIGHTED: tl.constexpr, IS_EVEN: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
        STRETCH: tl.constexpr,
    ):  # fmt: skip
        program = tl.program_id(0).to(tl.int64)
        column = tl.arange(0, WIDTH)
        is_column = column < d
        shift = tl.load(SHIFT + column, is_column, 0.0)
        sums = tl.zeros((WIDTH,), tl.float32)
        scatter = tl.zeros((WIDTH, WIDTH), tl.float32)
        for offset in range(0, STRETCH, ROWS):
            row = program * STRETCH + offset + tl.arange(0, ROWS)
            if IS_EVEN:
                x = tl.load(X + row[:, None] * WIDTH + column[None, :]) - shift[None, :]
            else:
                x = tl.load(X + row[:, None] * d + column[None, :], is_column[None, :], 0.0) - shift[None, :]
            if IS_WEIGHTED:
                weighted = x * tl.load(W + row)[:, None]
            else:
                weighted = x
            sums += tl.sum(weighted, axis=0)
            scatter = tl.dot(tl.trans(weighted), x, scatter, input_precision="ieee")
        tl.store(SUMS + program * WIDTH + column, sums)
        tl.store(SCATTER + program * WIDTH * WIDTH + column[:, None] * WIDTH + column[None, :], scatter)

    return moments
