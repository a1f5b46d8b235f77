"""The sigmoid kernel: not positive semi-definite, so its programmes have stationary points, not a proven minimum.

Solves
    k(a, b) = tanh(γ a'b + c), with u(a) = (γa, c) and v(b) = (b, 1).
Reference
    Lin and Lin (2003), A study on sigmoid kernels for SVM and the training of non-PSD kernels by SMO-type methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askew.arrays import namespace, transform
from askew.kernels.function import EPSILON, Array, KernelFunction


@dataclass(frozen=True)
class Sigmoid(KernelFunction):
    """k(a, b) = tanh(γ a'b + coef0)."""

    gamma: float = 1.0
    coef0: float = 0.0
    is_psd: ClassVar[bool] = False

    @property
    def scale(self) -> float:
        return self.gamma

    def left(self, squared_norms: Array) -> list[Array]:
        return [namespace(squared_norms).full_like(squared_norms, self.coef0)]

    def right(self, squared_norms: Array) -> list[Array]:
        return [namespace(squared_norms).ones_like(squared_norms)]

    def finish(self, products: Array) -> None:
        transform("tanh", products)

    def diagonal(self, squared_norms: Array) -> Array:
        return namespace(squared_norms).tanh(self.gamma * squared_norms + self.coef0)

    def entry_size(self, squared_norms: Array, largest: float) -> Array:
        return np.ones_like(squared_norms)

    def entry_rounding(self, squared_norms: Array, largest: float, terms: int) -> Array:
        argument = abs(self.gamma) * np.sqrt(squared_norms * largest) + abs(self.coef0)
        return np.minimum(2.0, (terms + 4) * EPSILON * (argument + 1.0))  # the slope of tanh is at most 1
