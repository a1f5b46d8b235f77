"""Moments with a low-rank sketch of the scatter: correlations of many features without a d×d matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import svd

from askew.exceptions import DataError
from askew.moments.factor import factors_of_data
from askew.moments.moments import BaseMoments, DiagonalMoments

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LowRankMoments(BaseMoments):
    """Weight, mean, per-feature scatter, and the leading directions of the scatter.

    The per-feature part is exact and merges exactly; the directions are exact until more than ``rank`` of them would be
    needed, and then the weakest (on features of unit variance) are dropped. What is kept never exceeds the true
    scatter, basis basis' ⪯ S, so bounds derived from it hold. Subtraction is not defined for a sketch.

    Parameters
    ----------
    n_samples, mean, mean_rest, scatter
        As in :class:`DiagonalMoments`.
    basis : array of shape (d, r)
    rank : int
        Most columns ``basis`` may have.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.moments import LowRankMoments
    >>> X = np.outer(np.arange(5.0), [1.0, 2.0, 0.0])
    >>> sketch = LowRankMoments.of(X[:3], rank=2) + LowRankMoments.of(X[3:], rank=2)
    >>> bool(np.allclose(sketch.basis @ sketch.basis.T / 5, np.cov(X.T, bias=True)))
    True
    """

    basis: Vector
    rank: int
    is_diagonal: ClassVar[bool] = True
    has_directions: ClassVar[bool] = True

    @classmethod
    def of(cls, X: Any, sample_weight: Any = None, rank: int = 30) -> Self:
        """Sketch of the rows of X, dense or sparse, by Lanczos with implicit centring."""
        exact = DiagonalMoments.of(X, sample_weight)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        used = X.shape[0] if weight is None else int(np.count_nonzero(weight))
        if exact.n_samples == 0:
            return cls(*exact._summary, np.zeros((exact.n_features, 0)), rank)
        if used > rank + 1 and rank + 1 < X.shape[1]:
            _, factors = factors_of_data(X, weight, exact, rank)
            return cls(*exact._summary, factors * np.sqrt(exact.n_samples), rank)
        rows = X if weight is None else X[weight > 0]
        rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)
        scale = 1.0 if weight is None else np.sqrt(weight[weight > 0])[:, None]
        return cls(*exact._summary, ((rows - exact.mean) * scale).T, rank)._truncated()

    @classmethod
    def empty(cls, n_features: int) -> Self:
        return cls(*DiagonalMoments.empty(n_features)._summary, np.zeros((n_features, 0)), 30)

    def merge(self, other: Self) -> Self:
        """Sketch of both sets together."""
        self._check_same(other)
        if self.n_samples == 0 or other.n_samples == 0:
            return other if self.n_samples == 0 else self
        both = DiagonalMoments(*self._summary) + DiagonalMoments(*other._summary)
        delta = (other.mean - self.mean) + (other.mean_rest - self.mean_rest)
        between = delta * np.sqrt(self.n_samples * other.n_samples / both.n_samples)
        basis = np.column_stack([self.basis, other.basis, between])
        return type(self)(*both._summary, basis, max(self.rank, other.rank))._truncated()

    def subtract(self, other: Self) -> Self:
        raise DataError("A sketch cannot give back what it dropped: LowRankMoments do not subtract. Keep parts apart.")

    def weighted(self, factor: float) -> Self:
        exact = DiagonalMoments(*self._summary).weighted(factor)
        return type(self)(*exact._summary, self.basis * np.sqrt(factor), self.rank)

    def score_variance(self, w: Vector) -> float:
        """Upper bound of w'Σw: the kept part exactly, the rest at its worst correlation."""
        n = self._positive_count()
        along = self.basis.T @ w
        rest = np.maximum(self.scatter - np.einsum("ij,ij->i", self.basis, self.basis), 0.0)
        return (float(along @ along) + float(np.abs(w) @ np.sqrt(rest)) ** 2) / n

    def factors(self, k: int) -> tuple[Vector, Vector]:
        """D and F of the factor model with k factors (see ``askew.moments.factor``)."""
        n, scale = self._positive_count(), np.sqrt(self.scatter)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        vectors, values, _ = svd(inverse[:, None] * self.basis, full_matrices=False, check_finite=False)
        # the (k+1)-th value bounds what the kept factors leave; a full sketch has dropped no more than its last one
        rest = values[min(k, len(values) - 1)] ** 2 if len(values) > k or len(values) == self.rank else 0.0
        return self.scatter / n * rest, (scale[:, None] * vectors[:, :k]) * values[:k] / np.sqrt(n)

    def _truncated(self) -> Self:
        """The sketch with at most ``rank`` orthogonal columns, chosen on features of unit variance."""
        scale = np.sqrt(self.scatter)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        vectors, values, _ = svd(inverse[:, None] * self.basis, full_matrices=False, check_finite=False)
        keep = values[: self.rank] > 1e-12 * values.max(initial=0.0)
        basis = (scale[:, None] * vectors[:, : self.rank] * values[: self.rank])[:, keep]
        return type(self)(*self._summary, basis, self.rank)

    def _arrays(self) -> dict[str, Any]:
        return {**super()._arrays(), "basis": self.basis, "rank": np.array(self.rank)}

    @classmethod
    def _from_arrays(cls, arrays: dict[str, Any]) -> Self:
        exact = DiagonalMoments._from_arrays(arrays)
        return cls(*exact._summary, arrays["basis"], int(arrays["rank"]))
