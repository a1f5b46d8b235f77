"""The Gaussian kernel.

Solves
    k(a, b) = exp(−γ‖a − b‖²), with −γ‖a − b‖² = 2γ a'b − γ‖a‖² − γ‖b‖² as one inner product:
    u(a) = (2γa, −γ‖a‖², 1) and v(b) = (b, 1, −γ‖b‖²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askew.kernels.function import Array, KernelFunction


@dataclass(frozen=True)
class RBF(KernelFunction):
    """k(a, b) = exp(−γ‖a − b‖²)."""

    gamma: float = 1.0
    is_translation_invariant: ClassVar[bool] = True

    @property
    def scale(self) -> float:
        return 2.0 * self.gamma

    def left(self, squared_norms: Array) -> list[Array]:
        return [-self.gamma * squared_norms, np.ones_like(squared_norms)]

    def right(self, squared_norms: Array) -> list[Array]:
        return [np.ones_like(squared_norms), -self.gamma * squared_norms]

    def tame(self, products: Array) -> None:
        np.minimum(products, 0, out=products)  # −γ·0 may have come out as a large positive number

    def finish(self, products: Array) -> None:
        np.exp(products, out=products)

    def diagonal(self, squared_norms: Array) -> Array:
        return np.ones_like(squared_norms)
