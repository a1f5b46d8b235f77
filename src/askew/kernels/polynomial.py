"""The polynomial kernel.

Solves
    k(a, b) = (γ a'b + c)^degree, with u(a) = (γa, c) and v(b) = (b, 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askew.arrays import namespace, transform
from askew.kernels.function import Array, KernelFunction


@dataclass(frozen=True)
class Polynomial(KernelFunction):
    """k(a, b) = (γ a'b + coef0)^degree; positive semi-definite for coef0 ≥ 0 and a whole degree."""

    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    @property
    def is_psd(self) -> bool:  # type: ignore[override]
        return self.coef0 >= 0 and float(self.degree).is_integer()

    @property
    def whole_degree(self) -> int:
        """The degree, where it is a whole number."""
        return int(self.degree)

    @property
    def fused(self) -> str | None:
        return "power" if float(self.degree).is_integer() and 1 <= self.degree <= 8 else None

    @property
    def scale(self) -> float:
        return self.gamma

    def left(self, squared_norms: Array) -> list[Array]:
        return [namespace(squared_norms).full_like(squared_norms, self.coef0)]

    def right(self, squared_norms: Array) -> list[Array]:
        return [namespace(squared_norms).ones_like(squared_norms)]

    def finish(self, products: Array) -> None:
        transform("pow", products, int(self.degree) if float(self.degree).is_integer() else self.degree)

    def diagonal(self, squared_norms: Array) -> Array:
        values = self.gamma * squared_norms + self.coef0
        with np.errstate(over="ignore"):  # a solver refuses infinite entries with a remedy
            self.finish(values)
        return values

    def argument_bound(self, squared_norms: Array) -> float:
        largest = self.gamma * float(np.max(squared_norms, initial=0.0)) + abs(self.coef0)
        with np.errstate(over="ignore"):
            return float(max(1.0, self.degree) * np.power(max(largest, 1.0), self.degree))

    def entry_size(self, squared_norms: Array, largest: float) -> Array:
        with np.errstate(over="ignore"):
            return np.power(self.gamma * np.sqrt(squared_norms * largest) + abs(self.coef0), self.degree)

    def entry_rounding(self, squared_norms: Array, largest: float, terms: int) -> Array:
        return max(1.0, self.degree) * super().entry_rounding(squared_norms, largest, terms)
