"""The Gaussian kernel.

Solves
    k(a, b) = exp(−γ‖a − b‖²), with −γ‖a − b‖² = 2γ a'b − γ‖a‖² − γ‖b‖² as one inner product:
    u(a) = (2γa, −γ‖a‖², 1) and v(b) = (b, 1, −γ‖b‖²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from askew.arrays import namespace, transform
from askew.kernels.function import Array, KernelFunction


@dataclass(frozen=True)
class RBF(KernelFunction):
    """k(a, b) = exp(−γ‖a − b‖²)."""

    gamma: float = 1.0
    is_translation_invariant: ClassVar[bool] = True

    @property
    def fused(self) -> str | None:
        return "exp"

    @property
    def scale(self) -> float:
        return 2.0 * self.gamma

    def left(self, squared_norms: Array) -> list[Array]:
        return [-self.gamma * squared_norms, namespace(squared_norms).ones_like(squared_norms)]

    def right(self, squared_norms: Array) -> list[Array]:
        return [namespace(squared_norms).ones_like(squared_norms), -self.gamma * squared_norms]

    def tame(self, products: Array) -> None:
        transform("minimum", products, 0)  # −γ·0 may have come out as a large positive number

    def finish(self, products: Array) -> None:
        transform("exp", products)

    def diagonal(self, squared_norms: Array) -> Array:
        return namespace(squared_norms).ones_like(squared_norms)
