"""A kernel as a scalar function of one inner product.

Solves
    k(a, b) = finish(u(a)'v(b)), where u and v lengthen a point by a few columns made from its squared norm.
    A whole tile of the kernel is then one matrix product and one vectorised function, whatever the kernel.
Rounding
    A product of m terms errs by at most mε times the sum of their sizes, ε = 2⁻⁵². From that ``entry_rounding`` bounds
    the error of k(a, b): for a'b it is (m + 4)ε‖a‖‖b‖; a kernel of distances has more to lose, and more to say
    (``rbf``). Where a sum of entries may err by more than a solver's tolerance, its rows are computed anew without
    cancellation (``careful``): that is the certificate's affair (``askew.qp.certificate``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
EPSILON = float(np.finfo(np.float64).eps)


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
