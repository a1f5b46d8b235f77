"""The linear kernel.

Solves
    k(a, b) = a'b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askew.kernels.function import KernelFunction


@dataclass(frozen=True)
class Linear(KernelFunction):
    """k(a, b) = a'b."""

    is_bilinear: ClassVar[bool] = True

    @property
    def fused(self) -> str | None:
        return "identity"
