"""What a covariance structure offers: points of the geometry in which the negatives are round.

Solves
    With M the modelled covariance and ρ the ridge, A = (M + ρI)⁻¹: any square root L of M + ρI gives points
    z = L⁻¹(x − x̄) whose inner products are (x − x̄)'A(x' − x̄). Σ^{-½} itself is never formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from askew.qp import SignedPoints
from askew.threads import spans

Vector = NDArray[np.float64]
_CENTRED_ENTRIES = 2**20  # of rows that are centred at a time


class RidgedProducts(NamedTuple):
    """Some rows and the model under one ridge ρ, with w = (M + ρI)⁻¹Σα_i(x_i − x̄).

    Attributes
    ----------
    K : array of shape (n, n)
        (x_i − x̄)'(M + ρI)⁻¹(x_j − x̄).
    spread : array of shape (n, n)
        The products with which α'·spread·α is w'Mw, the ridge left out.
    free : float
        trace(M(M + ρI)⁻¹): how many directions the ridge leaves free.
    """

    K: Vector
    spread: Vector
    free: float


class Structure(ABC):
    """A model M of the negatives' covariance, its mean, and a ridge ρ."""

    mean: Vector
    ridge: float
    smallest_exponent: ClassVar[int] = -3
    least_unspent: ClassVar[float] = 1e-12

    @abstractmethod
    def with_ridge(self, ridge: float) -> Self:
        """The same model with another ridge; what was factorised is kept where it can be."""

    @abstractmethod
    def whiten(self, X: Any) -> Vector | SignedPoints:
        """Points with the inner products (x − x̄)'(M + ρI)⁻¹(x' − x̄)."""

    @abstractmethod
    def solve(self, V: Vector) -> Vector:
        """(M + ρI)⁻¹V for a vector or the columns of a matrix."""

    @abstractmethod
    def model_variance(self, w: Vector) -> float:
        """w'(M + ρI)w."""

    @abstractmethod
    def mean_variance(self) -> float:
        """trace(M) / d, the unit in which ridges are tried."""

    @abstractmethod
    def feature_variances(self) -> Vector:
        """The diagonal of M."""

    @abstractmethod
    def trials(self, X: Any, ridges: Vector) -> Iterator[RidgedProducts]:
        """The rows of X under each ridge in turn; what can be shared between the ridges is."""

    def unspent(self, free: float, n_samples: float) -> float:
        """Share of the samples not used up by the free directions, 1 − f/(N − 1).

        A direction made from the inverse of an estimated covariance finds too little variance in it; dividing the
        standard deviation by this share undoes that, also where both vanish together (more features than samples).
        """
        return max(1.0 - free / max(n_samples - 1.0, 1.0), self.least_unspent)

    def ridge_grid(self) -> Vector:
        """Ridges worth trying, in units of ``mean_variance``, from small to large."""
        return np.power(10.0, np.arange(self.smallest_exponent, 4))

    def safe_ridge(self) -> float:
        """The largest ridge, in units of ``mean_variance``, that leaves every single positive room for its margin.

        The squared whitened length of a point is about d / (1 + ridge), and the margin is 1: about d / 10, between one
        and a hundred. Beyond it only many positives together may reach their margins.
        """
        return 10.0 ** int(np.clip(np.floor(np.log10(len(self.mean) / 10.0)), 0, 2))

    def directions(self, X: Any, coefficients: Vector, out: Vector) -> None:
        """(M + ρI)⁻¹ Σ_i c_i(x_i − x̄) for each column c of coefficients, to the rows of ``out``."""
        out[...] = self.solve(self.centred_sum(X, coefficients)).T

    def centred_sum(self, X: Any, coefficients: Vector) -> Vector:
        """Σ_i c_i (x_i − x̄) for one set of coefficients, or for each column of them.

        Dense rows are centred one by one: far from the origin the difference of the two sums would keep few digits.
        """
        if isinstance(X, np.ndarray):
            total = np.zeros((X.shape[1], *coefficients.shape[1:]))
            for first, last in spans(len(X), max(1, _CENTRED_ENTRIES // max(1, X.shape[1]))):
                total += (X[first:last] - self.mean).T @ coefficients[first:last]
            return total
        total = np.asarray(X.T @ coefficients, dtype=np.float64)
        return total - np.multiply.outer(self.mean, coefficients.sum(axis=0))
