"""Maximum and minimum that the compiler turns into vector instructions.

A plain ``max`` in a compiled reduction must respect NaN and signed zero, which keeps LLVM from vectorising the loop.
``larger`` and ``smaller`` are a comparison and a select that promise there is neither, so a reduction over them runs
in full vector lanes. Called from uncompiled Python they are ordinary functions.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic, overload


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
