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
    fused : str or None
        What ``askew.kernels.fused`` does to a product: "exp", "power", "identity"; None where it has no form.
    """

    is_psd: ClassVar[bool] = True
    is_translation_invariant: ClassVar[bool] = False
    is_bilinear: ClassVar[bool] = False

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

    def tame(self, products: Array) -> None:
        """Undo what rounding may have done to u(a)'v(b) where its terms are huge, in place."""

    def finish(self, products: Array) -> None:
        """Turn u(a)'v(b) into k(a, b), in place."""

    def diagonal(self, squared_norms: Array) -> Array:
        """k(a, a) from ‖a‖²."""
        return 1.0 * squared_norms

    def argument_bound(self, squared_norms: Array) -> float:
        """Largest size of the terms summed in u(a)'v(b): what float32 rounding is relative to."""
        return abs(self.scale) * float(np.max(squared_norms, initial=0.0))


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
