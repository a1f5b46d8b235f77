"""Kernels as scalar functions of one inner product.

Solves
    k(a, b) = finish(u(a)'v(b)), where u and v lengthen a point by a few columns made from its squared norm.
    A whole tile of the kernel is then one matrix product and one vectorised function, whatever the kernel:

    ===========  ==================  =====================  =================  ===========
    kernel       k(a, b)             u(a)                   v(b)               finish
    ===========  ==================  =====================  =================  ===========
    linear       a'b                 a                      b                  x
    rbf          exp(−γ‖a − b‖²)     (2γa, −γ‖a‖², 1)       (b, 1, −γ‖b‖²)     exp(x)
    polynomial   (γ a'b + c)^degree  (γa, c)                (b, 1)             x^degree
    sigmoid      tanh(γ a'b + c)     (γa, c)                (b, 1)             tanh(x)
    ===========  ==================  =====================  =================  ===========
Rounding
    A product of m terms errs by at most mε times the sum of their sizes, ε = 2⁻⁵². From that ``entry_rounding`` bounds
    the error of k(a, b): for a'b it is (m + 4)ε‖a‖‖b‖; a kernel of distances has more to lose, and more to say. Where a
    sum of entries may err by more than a solver's tolerance, its rows are computed anew without cancellation
    (``careful``): that is the certificate's affair (``askew.qp.certificate``).
    Of the rbf kernel let t = −γ‖a − b‖² and m = min(‖a‖, ‖b‖), norms about the centre of the points. The centring moves
    ‖a − b‖² by at most 2ε(‖a‖ + ‖b‖)², norms and product of d terms by (d + 3)ε(‖a‖ + ‖b‖)², so t errs by at most
        (d + 5)ε γ(‖a‖ + ‖b‖)² ≤ (d + 5)ε γ(2m + ‖a − b‖)² ≤ (d + 5)ε (8γm² + 2|t|),
    and since |t|e^t ≤ 0.37 and an error e of t below 1 makes at most 1.72|e|e^t of exp(t),
        |error of k(a, b)| ≤ 2(d + 6)ε (8γm² + 1).
    It is the smaller norm that counts: a far point is exactly 0 to all that are near, and only two far points together
    have lost their distance. Those pairs, both beyond ``far_limit``, are computed from differences
    (``points``, ``careful``), where t errs by (d + 3)ε|t| and k by no more than dε.
Reference
    Lin and Lin (2003), A study on sigmoid kernels for SVM and the training of non-PSD kernels by SMO-type methods.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.arrays import namespace, transform

Array = NDArray[Any]
EPSILON = float(np.finfo(np.float64).eps)
ROUGH = 1e-7
"""Largest error of an entry of an rbf kernel that products may make; beyond it, differences are taken."""


@dataclass(frozen=True)
class KernelFunction:
    """Base of the kernels; its own methods are those of k(a, b) = a'b.

    Attributes
    ----------
    is_psd : bool
        Whether every matrix of this kernel is positive semi-definite.
    is_translation_invariant : bool
        Whether the points may be centred first (it keeps float32 products accurate).
    is_bilinear : bool
        Whether Σ_j v_j k(a, x_j) is one inner product with Σ_j v_j x_j.
    distance_factor : float or None
        γ, where the argument u(a)'v(b) is −γ‖a − b‖² and may be computed from differences; None elsewhere.
    fused : str or None
        What ``askew.kernels.fused`` does to a product: "exp", "power", "identity"; None where it has no form.
    """

    is_psd: ClassVar[bool] = True
    is_translation_invariant: ClassVar[bool] = False
    is_bilinear: ClassVar[bool] = False

    @property
    def distance_factor(self) -> float | None:
        return None

    def __post_init__(self) -> None:
        """Parameters as numbers of Python: those of NumPy turn an array of another library they meet into NumPy's."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, field.name, value.item())

    @property
    def fused(self) -> str | None:
        return None

    @property
    def whole_degree(self) -> int:
        """The power that ``fused`` raises a product to."""
        return 1

    @property
    def scale(self) -> float:
        """Factor of a in u(a)."""
        return 1.0

    def left(self, squared_norms: Array) -> list[Array]:
        """Columns appended to scale·a in u(a)."""
        return []

    def right(self, squared_norms: Array) -> list[Array]:
        """Columns appended to b in v(b)."""
        return []

    def finish(self, products: Array) -> None:
        """Turn u(a)'v(b) into k(a, b), in place."""

    def diagonal(self, squared_norms: Array) -> Array:
        """k(a, a) from ‖a‖²."""
        return 1.0 * squared_norms

    def argument_bound(self, squared_norms: Array) -> float:
        """Largest size of the terms summed in u(a)'v(b): what float32 rounding is relative to."""
        return abs(self.scale) * float(np.max(squared_norms, initial=0.0))

    def far_limit(self, terms: int) -> float:
        """‖a‖² beyond which products of two such points, summed from so many terms, are no good."""
        return np.inf

    def entry_size(self, squared_norms: Array, largest: float) -> Array:
        """Bound of ``|k(a, b)|`` for the given ‖a‖² and any ‖b‖² up to the largest."""
        return abs(self.scale) * np.sqrt(squared_norms * largest)

    def entry_rounding(self, squared_norms: Array, largest: float, terms: int) -> Array:
        """Bound of the error of k(a, b) in float64 for the given ‖a‖² and any ‖b‖² up to the largest."""
        return (terms + 4) * EPSILON * self.entry_size(squared_norms, largest)


@dataclass(frozen=True)
class Linear(KernelFunction):
    """k(a, b) = a'b."""

    is_bilinear: ClassVar[bool] = True

    @property
    def fused(self) -> str | None:
        return "identity"


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


@dataclass(frozen=True)
class Sigmoid(KernelFunction):
    """k(a, b) = tanh(γ a'b + coef0): not positive semi-definite, so that a stationary point is no proven minimum."""

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
