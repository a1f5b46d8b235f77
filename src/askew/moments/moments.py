"""Number, mean and scatter of a set of points: all that is kept of the negatives."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.arrays import dtype_name, host, is_elsewhere
from askew.exceptions import DataError
from askew.moments.array_passes import summarise_elsewhere
from askew.moments.passes import Summary, empty_summary, join, outer_product, summarise
from askew.whole_file import WholeFile

Vector = NDArray[np.float64]
_FIELDS = ("n_samples", "mean", "mean_rest", "scatter")
_HEAD_ROWS = 64  # rows that tell nearly all features that are not constant
_MOST_BYTES = 2**33  # bytes a d×d scatter may take before we say no


@dataclass(frozen=True, eq=False)
class BaseMoments(ABC):
    """Weight, mean and scatter of a set of points; sets can be merged and taken apart again.

    What is known of the scatter is declared: ``is_diagonal`` where it is kept per feature, an array of shape (d,), and
    ``has_directions`` where its leading directions are kept beside it.

    Parameters
    ----------
    n_samples : float
        Number of points, or the sum of their weights.
    mean : array of shape (d,)
    mean_rest : array of shape (d,)
        What rounding cut from ``mean``: with it, sets at an offset of 1e8 merge as exactly as centred ones.
    scatter : array of shape (d, d) or (d,)
    """

    n_samples: float
    mean: Vector
    mean_rest: Vector
    scatter: Vector
    is_diagonal: ClassVar[bool]
    has_directions: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Any, sample_weight: Any = None) -> Self:
        """Moments of the rows of X, dense or sparse, in one pass.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            float32 stays float32 within a block of rows; all sums are float64. Arrays of other libraries are summed
            where they live.
        sample_weight : array of shape (n,), optional
            A weight of 2 counts as the row twice.
        """
        X = X if sparse.issparse(X) or is_elsewhere(X) else np.asarray(X)
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows by features; got {X.ndim}.")
        if not cls.is_diagonal and X.shape[1] ** 2 * 8 > _MOST_BYTES:
            raise DataError(
                f"A full scatter of {X.shape[1]} features needs {X.shape[1] ** 2 * 8 / 2**30:.0f} GiB; the limit is "
                f"{_MOST_BYTES / 2**30:.0f}. Use DiagonalMoments or LowRankMoments (covariance='diagonal' or 'factor')."
            )
        pass_over = summarise_elsewhere if is_elsewhere(X) else summarise
        weight = _check_weight(sample_weight, X.shape[0])
        summary = pass_over(X, weight, cls.is_diagonal)
        if not (np.isfinite(summary[1]).all() and np.isfinite(summary[3]).all()):
            raise DataError("X contains NaN or infinity; moments need finite numbers. Remove or impute those rows.")
        return cls(*_with_constants(summary, X, weight))

    @classmethod
    def empty(cls, n_features: int) -> Self:
        """Moments of no points, the neutral element of ``+``."""
        return cls(*empty_summary(n_features, cls.is_diagonal))

    @property
    def n_features(self) -> int:
        return len(self.mean)

    @property
    def covariance(self) -> Vector:
        """scatter / n_samples, in the shape of the scatter."""
        return self.scatter / self._positive_count()

    @property
    def variance(self) -> Vector:
        """Variance of each feature."""
        return (self.scatter if self.is_diagonal else np.diagonal(self.scatter)) / self._positive_count()

    def merge(self, other: Self) -> Self:
        """Moments of both sets together."""
        self._check_same(other)
        return type(self)(*join(self._summary, other._summary, self._outer))

    def subtract(self, other: Self) -> Self:
        """Moments of what remains when the points of ``other``, once merged in, are taken away."""
        self._check_same(other)
        rest = self.n_samples - other.n_samples
        if rest < -1e-9 * max(1.0, self.n_samples):
            raise DataError(f"Cannot take {other.n_samples:g} points from a set of {self.n_samples:g}.")
        if rest <= 1e-9 * self.n_samples:
            return type(self).empty(self.n_features)
        taken = (-other.n_samples, other.mean, other.mean_rest, -other.scatter)
        n, mean, mean_rest, scatter = join(self._summary, taken, self._outer)
        diagonal = scatter if self.is_diagonal else np.einsum("ii->i", scatter)
        np.maximum(diagonal, 0.0, out=diagonal)
        return type(self)(n, mean, mean_rest, scatter)

    def weighted(self, factor: float) -> Self:
        """The same set with every weight multiplied by ``factor``: how a stream forgets."""
        return type(self)(self.n_samples * factor, self.mean, self.mean_rest, self.scatter * factor)

    @abstractmethod
    def score_variance(self, w: Vector) -> float:
        """w'Σw, the variance of the score w'x; where Σ is not known whole, an upper bound of it."""

    def __add__(self, other: Self) -> Self:
        return self.merge(other)

    def __sub__(self, other: Self) -> Self:
        return self.subtract(other)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a NumPy .npz archive of plain arrays, whole or not at all."""
        with WholeFile(path) as file, file.beside.open("wb") as sink:
            np.savez(sink, kind=np.array(type(self).__name__), **self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what ``save`` wrote; no code in the file is ever run."""
        with np.load(path, allow_pickle=False) as archive:
            kind = str(archive["kind"])
            if kind != cls.__name__:
                raise DataError(f"{os.fspath(path)} holds {kind}; load it with askew.moments.{kind}.load.")
            return cls._from_arrays({name: archive[name] for name in archive.files if name != "kind"})

    @property
    def _summary(self) -> tuple[float, Vector, Vector, Vector]:
        return self.n_samples, self.mean, self.mean_rest, self.scatter

    @property
    def _outer(self) -> Any:
        return np.square if self.is_diagonal else outer_product

    def _arrays(self) -> dict[str, Any]:
        return dict(zip(_FIELDS, (np.array(self.n_samples), self.mean, self.mean_rest, self.scatter), strict=True))

    @classmethod
    def _from_arrays(cls, arrays: dict[str, Any]) -> Self:
        return cls(float(arrays["n_samples"]), *(arrays[name] for name in _FIELDS[1:]))

    def _positive_count(self) -> float:
        if not self.n_samples > 0:
            raise DataError("These moments hold no points, so they have no covariance. Merge data into them first.")
        return self.n_samples

    def _check_same(self, other: Any) -> None:
        if not isinstance(other, type(self)):
            raise DataError(
                f"Only {type(self).__name__} combine with {type(self).__name__}; got {type(other).__name__}."
            )
        if other.n_features != self.n_features:
            raise DataError(f"Moments of {self.n_features} features cannot combine with {other.n_features}.")


class Moments(BaseMoments):
    """Weight, mean and scatter matrix of a set of points; sets can be merged and taken apart again.

    Use it to carry millions of negatives as d + d² numbers, over chunks, machines and time. For tens of thousands
    of features use :class:`DiagonalMoments` or :class:`LowRankMoments`, which never hold a d×d matrix.

    Parameters
    ----------
    n_samples : float
        Number of points, or the sum of their weights.
    mean : array of shape (d,)
    mean_rest : array of shape (d,)
        What rounding cut from ``mean``: with it, sets at an offset of 1e8 merge as exactly as centred ones.
    scatter : array of shape (d, d)
        Σ w_i (x_i − mean)(x_i − mean)'.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.moments import Moments
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> parts = Moments.of(X[:4]) + Moments.of(X[4:])
    >>> bool(np.allclose(parts.covariance, np.cov(X.T, bias=True)))
    True
    >>> (parts - Moments.of(X[4:])).n_samples
    4.0
    """

    is_diagonal: ClassVar[bool] = False

    def score_variance(self, w: Vector) -> float:
        """w'Σw, the variance of the score w'x."""
        return max(float(w @ (self.scatter @ w)), 0.0) / self._positive_count()


class DiagonalMoments(BaseMoments):
    """Weight, mean and per-feature scatter: O(d) numbers for any d.

    ``covariance`` and ``scatter`` are arrays of shape (d,).

    Parameters
    ----------
    n_samples : float
        Number of points, or the sum of their weights.
    mean : array of shape (d,)
    mean_rest : array of shape (d,)
        What rounding cut from ``mean``.
    scatter : array of shape (d,)
        Σ w_i (x_i − mean)², feature by feature.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.moments import DiagonalMoments
    >>> DiagonalMoments.of(np.array([[0.0, 1.0], [2.0, 1.0]])).variance.tolist()
    [1.0, 0.0]
    """

    is_diagonal: ClassVar[bool] = True

    def score_variance(self, w: Vector) -> float:
        """``(Σ_j |w_j| σ_j)²``, the largest w'Σw any correlation of the features allows."""
        from askew.moments.sparse_sweeps import sum_of_deviations

        return float(sum_of_deviations(w, self.scatter)) ** 2 / self._positive_count()


def can_subtract(X: Any, total: BaseMoments) -> bool:
    """Whether groups of rows of X can be taken from ``total`` by ``without_each``.

    Every column must hold a zero, so that q − s²/n_c is safe for the reason given in ``passes``.
    """
    if not (sparse.issparse(X) and total.is_diagonal and not total.has_directions):
        return False
    return bool(np.bincount(X.indices, minlength=X.shape[1]).max(initial=0) < X.shape[0])


def without_each(
    total: DiagonalMoments, X: Any, groups: list[NDArray[np.int64]], weight: Vector
) -> list[DiagonalMoments]:
    """For every group of rows the moments of all others; ``weight`` is that of all rows.

    With n, x̄, S of all rows and n_c = Σ_{i∈c} w_i, s = Σ_{i∈c} w_i x_i, q = Σ_{i∈c} w_i x_i² of a group, the rest has
        N = n − n_c,   mean = x̄ − δ n_c/N,   scatter = S − (q − s²/n_c) − δ² n n_c/N,   δ = s/n_c − x̄,
    all in one compiled sweep over the features, for sparse X without duplicates; see ``can_subtract``.
    """
    from askew.moments.sparse_sweeps import remove_rows

    found = []
    for rows in groups:
        mean, scatter = np.empty(total.n_features), np.empty(total.n_features)
        entries = (X.data, X.indices, X.indptr, rows, weight)
        rest = remove_rows(*entries, total.n_samples, total.mean, total.scatter, mean, scatter)
        is_left = rest > 1e-9 * total.n_samples
        found.append(
            DiagonalMoments(rest, mean, total.mean_rest, scatter) if is_left else DiagonalMoments.empty(len(mean))
        )
    return found


def _with_constants(summary: Summary, X: Any, weight: Vector | None) -> Summary:
    """The summary with features of a single value exactly so: that value their mean, and nothing about it.

    A mean of equal numbers rounds, and what it is off by would pass for a variance: a tiny one, which a covariance
    divides by. Only features whose variance is within rounding are looked at.
    """
    n, mean, rest, scatter = summary
    diagonal = scatter if scatter.ndim == 1 else np.diagonal(scatter)
    rounding = X.shape[0] * np.finfo("float32" if dtype_name(X) == "float32" else "float64").eps * np.abs(mean)
    suspects = np.flatnonzero((mean != 0) & (diagonal <= n * rounding**2))
    if not len(suspects):
        return summary
    rows = None if weight is None or weight.all() else np.flatnonzero(weight)
    first = slice(_HEAD_ROWS) if rows is None else rows[:_HEAD_ROWS]
    head = X[first][:, suspects].toarray() if sparse.issparse(X) else host(X[first])[:, suspects]
    suspects = suspects[(head == head[0]).all(axis=0)]  # most need no look at all their rows
    if not len(suspects):
        return summary
    columns = X.tocsc() if sparse.issparse(X) else X
    mean, rest, scatter = mean.copy(), rest.copy(), scatter.copy()
    for j in suspects:
        column = columns[:, [j]].toarray()[:, 0] if sparse.issparse(X) else columns[:, int(j)]
        column = host(column) if rows is None else host(column)[rows]
        if (column == column[0]).all():
            mean[j], rest[j], scatter[j] = column[0], 0.0, 0.0
            if scatter.ndim == 2:
                scatter[:, j] = 0.0
    return n, mean, rest, scatter


def _check_weight(weight: Any, n: int) -> Vector | None:
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n,):
        raise DataError(f"sample_weight must have one entry per row, shape ({n},); got {weight.shape}.")
    if not np.isfinite(weight).all() or weight.min(initial=0.0) < 0:
        raise DataError("sample_weight must be finite and ≥ 0.")
    return weight
