"""A kernel as a scalar function of one inner product.

Solves
    k(a, b) = finish(u(a)'v(b)), where u and v lengthen a point by a few columns made from its squared norm.
    A whole tile of the kernel is then one matrix product and one vectorised function, whatever the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
