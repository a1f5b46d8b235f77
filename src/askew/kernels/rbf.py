"""The Gaussian kernel.

Solves
    k(a, b) = exp(−γ‖a − b‖²), with −γ‖a − b‖² = 2γ a'b − γ‖a‖² − γ‖b‖² as one inner product:
    u(a) = (2γa, −γ‖a‖², 1) and v(b) = (b, 1, −γ‖b‖²).
Rounding
    Let t = −γ‖a − b‖² and m = min(‖a‖, ‖b‖), norms about the centre of the points. The centring moves ‖a − b‖² by at
    most 2ε(‖a‖ + ‖b‖)², norms and product of d terms by (d + 3)ε(‖a‖ + ‖b‖)², so t errs by at most
        (d + 5)ε γ(‖a‖ + ‖b‖)² ≤ (d + 5)ε γ(2m + ‖a − b‖)² ≤ (d + 5)ε (8γm² + 2|t|),
    and since |t|e^t ≤ 0.37 and an error e of t below 1 makes at most 1.72|e|e^t of exp(t),
        |error of k(a, b)| ≤ 2(d + 6)ε (8γm² + 1).
    It is the smaller norm that counts: a far point is exactly 0 to all that are near, and only two far points together
    have lost their distance. Those pairs, both beyond ``far_limit``, are computed from differences
    (``points``, ``careful``), where t errs by (d + 3)ε|t| and k by no more than dε.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askew.arrays import namespace, transform
from askew.kernels.function import EPSILON, Array, KernelFunction

ROUGH = 1e-7
"""Largest error of an entry that products may make; beyond it, differences are taken."""


@dataclass(frozen=True)
class RBF(KernelFunction):
    """k(a, b) = exp(−γ‖a − b‖²)."""

    gamma: float = 1.0
    is_translation_invariant: ClassVar[bool] = True

    @property
    def distance_factor(self) -> float | None:
        return self.gamma

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

    def finish(self, products: Array) -> None:
        transform("exp", products)

    def diagonal(self, squared_norms: Array) -> Array:
        return namespace(squared_norms).ones_like(squared_norms)

    def far_limit(self, terms: int) -> float:
        return ROUGH / (16.0 * (terms + 6) * EPSILON * self.gamma) if self.gamma > 0 else np.inf

    def entry_size(self, squared_norms: Array, largest: float) -> Array:
        return np.ones_like(squared_norms)

    def entry_rounding(self, squared_norms: Array, largest: float, terms: int) -> Array:
        smaller = np.minimum(squared_norms, min(largest, self.far_limit(terms)))
        return 2.0 * (terms + 6) * EPSILON * (8.0 * self.gamma * smaller + 1.0)
