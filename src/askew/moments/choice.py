"""From a user's word (``covariance``) to the moments that have to be kept and the structure built from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home
from askew.exceptions import DataError, ParameterError
from askew.moments.factor import Factor, factors_of_correlation, factors_of_data
from askew.moments.full import Full, fourth_power_sum, graphical_lasso_covariance, ledoit_wolf, oas, shrink
from askew.moments.low_rank_moments import LowRankMoments
from askew.moments.moments import DiagonalMoments, Moments
from askew.moments.structure import Structure

Vector = NDArray[np.float64]

NAMES = ("full", "diagonal", "identity", "factor", "shrunk", "sparse_inverse")
FACTOR_FROM_MATRIX = 1024  # up to this many features a factor model is read from the full moments, exactly


@dataclass(frozen=True)
class CovarianceModel:
    """A covariance structure as asked for.

    Parameters
    ----------
    name : one of ``NAMES``
    n_factors : int
        Columns of F for "factor".
    shrinkage : {"oas", "ledoit_wolf"}
        Formula for "shrunk"; Ledoit–Wolf needs the rows, OAS only their moments.
    alpha : float
        Penalty of the graphical lasso for "sparse_inverse", on correlations.
    """

    name: str = "full"
    n_factors: int = 10
    shrinkage: str = "oas"
    alpha: float = 0.1

    def is_lean(self, n_features: int) -> bool:
        """Whether no d×d matrix is needed."""
        return self.name in ("diagonal", "identity") or (self.name == "factor" and n_features > FACTOR_FROM_MATRIX)

    def comes_back(self, n_features: int) -> bool:
        """Whether one pass over the rows is not enough."""
        return self.is_lean(n_features) or (self.name == "shrunk" and self.shrinkage == "ledoit_wolf")

    def moments_of(self, X: Any, sample_weight: Vector | None, streaming: bool = False) -> Any:
        """The moments this structure needs of the rows of X; a stream cannot come back for its factors."""
        if not self.is_lean(X.shape[1]):
            return Moments.of(X, sample_weight)
        if self.name == "factor" and streaming:
            return LowRankMoments.of(X, sample_weight, rank=2 * self.n_factors + 10)
        return DiagonalMoments.of(X, sample_weight)

    def build(self, moments: Any, rows: tuple[Any, Vector | None] | None = None, home: Home | None = None) -> Structure:
        """The structure of these moments, without a ridge.

        Parameters
        ----------
        moments : Moments, DiagonalMoments or LowRankMoments
        rows : (X, sample_weight), optional
            The data behind the moments, for structures that need another pass.
        home : Home, optional
            Where a large matrix is decomposed; the host by default.
        """
        if self.name == "identity":
            return Factor(moments.mean, np.ones(moments.n_features))
        if self.name == "diagonal" or (self.name == "factor" and self.n_factors == 0):
            return Factor(moments.mean, moments.variance)
        if self.name == "factor":
            return Factor(moments.mean, *self._factors(moments, rows))
        if moments.is_diagonal:
            raise DataError(
                f"covariance={self.name!r} needs full moments (askew.moments.Moments); got "
                f"{type(moments).__name__}. Use covariance='diagonal' or 'factor' with these."
            )
        return Full(moments.mean, self._matrix(moments, rows)).decompose_at(home or Home())

    def _matrix(self, moments: Any, rows: tuple[Any, Vector | None] | None) -> Vector:
        if self.name == "full":
            return moments.covariance
        if self.name == "shrunk":
            return shrink(moments.covariance, self._intensity(moments, rows))
        return graphical_lasso_covariance(moments.covariance, self.alpha)

    def _intensity(self, moments: Any, rows: tuple[Any, Vector | None] | None) -> float:
        if self.shrinkage == "oas":
            return oas(moments.covariance, moments.n_samples)
        if rows is None:
            raise ParameterError(
                "shrinkage='ledoit_wolf' needs the rows of the negatives, and only their moments are here. "
                "Use shrinkage='oas', which needs no more than the moments."
            )
        power = fourth_power_sum(rows[0], moments.mean, rows[1])
        return ledoit_wolf(moments.covariance, moments.n_samples, power)

    def _factors(self, moments: Any, rows: tuple[Any, Vector | None] | None) -> tuple[Vector, Vector]:
        k = min(self.n_factors, moments.n_features)
        if not moments.is_diagonal:
            return factors_of_correlation(moments.variance, moments.covariance, k)
        if moments.has_directions:
            return moments.factors(k)
        if rows is None:
            raise DataError(
                "covariance='factor' cannot find factors in DiagonalMoments. "
                "Use askew.moments.LowRankMoments, or Moments when there are few features."
            )
        return factors_of_data(*rows, moments, min(k, moments.n_features - 2))
