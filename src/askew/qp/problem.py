"""The one programme every method of askew becomes.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and the sums of ``constraint``.
Given
    K as an object that offers products, a diagonal and blocks, and perhaps more (see ``askew.qp.matrix``), never as a
    demand for the whole n×n array. β = y∘α are signed variables: what scikit-learn calls ``dual_coef_``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import InfeasibleError, ParameterError
from askew.qp.constraints import Constraint, Free
from askew.qp.matrix import SymmetricMatrix, check_matrix
from askew.qp.precomputed import as_precomputed

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """minimise ½ β'Kβ + p'β over a box and sums; see the module for the algebra.

    Parameters
    ----------
    matrix : SymmetricMatrix, or array of shape (n, n)
        K. An array is wrapped as ``Precomputed``.
    linear : array of shape (n,)
        p.
    lower, upper : arrays of shape (n,)
        The box. ``upper`` may be infinite.
    constraint : Constraint
        Free, Sum, GroupSums or SumAtMost.
    """

    matrix: SymmetricMatrix
    linear: Vector
    lower: Vector
    upper: Vector
    constraint: Constraint

    def __post_init__(self) -> None:
        if isinstance(self.matrix, np.ndarray):
            object.__setattr__(self, "matrix", as_precomputed(self.matrix))
        check_matrix(self.matrix)
        self._check_vectors("linear", "lower", "upper")
        self._check_numbers("linear")
        labels = self.constraint.labels(self.n)
        if labels.shape != (self.n,):
            raise ParameterError(f"The constraint must give a group to each of {self.n} variables; got {labels.shape}.")
        self._check_box()

    def in_box(self, lower: Vector, upper: Vector) -> Problem:
        """The same problem in another box; what stays the same is not checked again."""
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__, lower=lower, upper=upper)
        other._check_vectors("lower", "upper")
        other._check_box()
        return other

    def _check_vectors(self, *names: str) -> None:
        n = self.n
        for name in names:
            value = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if value.shape != (n,):
                raise ParameterError(
                    f"{name} must have shape ({n},), one entry per row of the matrix; got {value.shape}."
                )
            object.__setattr__(self, name, value)

    def _check_box(self) -> None:
        """Refuse an empty box, one of NaN, and sums that no point of the box reaches."""
        if not (self.lower <= self.upper).all():
            self._check_numbers("lower", "upper")
            i = int(np.argmax(self.lower > self.upper))
            raise InfeasibleError(
                f"The box of variable {i} is empty: lower={self.lower[i]:g} exceeds upper={self.upper[i]:g}."
            )
        if not isinstance(self.constraint, Free):
            self._check_totals()

    def _check_numbers(self, *names: str) -> None:
        for name in names:
            is_nan = np.isnan(getattr(self, name))
            if is_nan.any():
                raise ParameterError(f"{name} must hold numbers; entry {int(np.argmax(is_nan))} is NaN.")

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.matrix.n

    def objective(self, beta: Vector, gradient: Vector | None = None) -> float:
        """½ β'Kβ + p'β, from the gradient Kβ + p when that is at hand."""
        if gradient is None:
            gradient = self.gradient(beta)
        return float(0.5 * beta @ (gradient + self.linear))

    def gradient(self, beta: Vector) -> Vector:
        """Kβ + p in float64, computed anew."""
        return self.matrix.matvec(beta) + self.linear

    def members(self) -> list[Any]:
        """The variables of each sum: a slice where there is one sum, else indices."""
        return self._members

    @cached_property
    def _members(self) -> list[Any]:
        count = len(self.constraint.totals)
        if count == 1:
            return [slice(0, self.n)]
        labels = self.constraint.labels(self.n)
        return [np.flatnonzero(labels == g) for g in range(count)]

    def _check_totals(self) -> None:
        slack = self.constraint.slack
        for g, (mine, total) in enumerate(zip(self.members(), self.constraint.totals, strict=True)):
            low, high = self.lower[mine].sum(), self.upper[mine].sum()
            if slack is not None:
                low, high = low + slack[0], high + slack[1]
            room = 1e-9 * max(abs(total), min(abs(low), abs(high)))
            if not low - room <= total <= high + room:
                raise InfeasibleError(
                    f"The variables of group {g} can sum to [{low:g}, {high:g}] within their box; "
                    f"the constraint asks for {total:g}."
                )
