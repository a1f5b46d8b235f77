"""Kernel estimators that may stand on Nyström features instead of the kernel itself.

The programme solved is the same one, in the space that the landmarks span; so are the certificate and the tolerance.
The fitted model is the landmarks and one weight for each of them: what it costs to keep and to score does not grow with
the training rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from askew.arrays import row_precision
from askew.estimators.kernel_machine import MEGABYTE, KernelMachine
from askew.estimators.sklearn_private import Interval, StrOptions, check_parameters, check_weights
from askew.exceptions import ParameterError
from askew.kernels.landmarks import RULES, choose_landmarks, draw_keys, draw_pool
from askew.kernels.low_rank import LowRank
from askew.kernels.nystroem import Nystroem
from askew.kernels.recomputed import HeldRows, Recomputed, rows_held
from askew.methods.expansion import Expansion
from askew.sources import is_beyond_memory
from askew.summaries import StreamedRows

LEAST_LANDMARKS, MOST_LANDMARKS = 500, 2000
_OF_LANDMARKS = ("landmarks_", "landmark_coef_", "n_landmarks_", "rank_")
_OF_SUPPORT = ("support_", "support_vectors_", "dual_coef_", "n_support_")


class Approximated(KernelMachine):
    """Base of the estimators with ``approximation="nystroem"``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "approximation": [StrOptions({"nystroem"}), None],
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "landmarks": [StrOptions(set(RULES))],
        "random_state": ["random_state"],
    }

    @property
    def _is_approximated(self) -> bool:
        return self.approximation is not None

    def _computes_elsewhere(self) -> bool:
        return not self._is_approximated and super()._computes_elsewhere()

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, NDArray[np.int64]]:
        if self._is_approximated and self.kernel == "precomputed":
            raise ParameterError(
                'approximation="nystroem" needs the rows themselves, to choose landmarks among them; got '
                'kernel="precomputed". Pass the rows with another kernel, or set approximation=None.'
            )
        self._chose_by_name = isinstance(X, StreamedRows) and bool(X.names)
        if not isinstance(X, StreamedRows):
            return super()._read_training(X, y, sample_weight)
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = X.shape[1]
        if X.names:
            self.feature_names_in_ = np.array(X.names, dtype=object)
        weight = check_weights(sample_weight, np.empty((X.n, 1)))
        rows = np.flatnonzero(weight > 0)
        if len(rows) == X.n:
            return X, y, weight, rows
        return X.subset(rows), None if y is None else y[rows], weight[rows], rows

    def _opened(
        self, X: Any, y: Any, sample_weight: Any, target: str | None, is_labelled: bool = True
    ) -> tuple[Any, Any, Any]:
        """X, y and weights as given; or the rows, labels and weights of a source that ``fit`` is to read."""
        if target is None and not is_beyond_memory(X):
            return X, y, sample_weight
        if not self._is_approximated:
            raise ParameterError(
                f"{type(self).__name__} fits rows in memory, since the exact kernel needs them again and again; got "
                f'{type(X).__name__}. Set approximation="nystroem" to fit from files and other sources, or load the '
                "rows first."
            )
        check_parameters(self)  # before a pass over all rows
        rows = StreamedRows.open(X, y, target, sample_weight, is_labelled)
        return rows, rows.y if is_labelled else y, rows.weight

    def _matrix_of(self, function: Any, X: Any, weight: Any, strata: Any = None) -> Any:
        if not self._is_approximated:
            return super()._matrix_of(function, X, weight, strata)
        if not function.is_psd:
            raise ParameterError(
                f'approximation="nystroem" needs a positive semi-definite kernel; got kernel={self.kernel!r} with '
                f'degree={self.degree:g}, coef0={self.coef0:g}. Choose "rbf", "linear", or "poly" with a whole degree '
                "and coef0 ≥ 0."
            )
        rows = X if isinstance(X, StreamedRows) else HeldRows(X)
        origin = Nystroem(function, self._choose_landmarks(function, rows, weight, strata))
        if rows.n > rows_held(self.cache_size * MEGABYTE, origin.rank, self.tol):
            return Recomputed(origin, rows)
        return LowRank.of(origin, rows, row_precision(rows.n, self.tol, 1.0))

    def _choose_landmarks(self, function: Any, rows: Any, weight: Any, strata: Any) -> Any:
        n = rows.n
        if strata is None:
            strata = np.zeros(n, np.int64)
        count = self.n_landmarks
        if count == "auto":
            most = min(MOST_LANDMARKS, self.cache_size * MEGABYTE / (4 * n))  # what keeps the features in memory
            count = int(max(min(np.ceil(np.sqrt(n)), most), LEAST_LANDMARKS))
        elif count > n:
            warnings.warn(
                f"n_landmarks={count} exceeds the {n} training rows; all of them are landmarks, and the fit is exact.",
                stacklevel=5,
            )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        pool = draw_pool(draw_keys(weight, rng), strata, min(count, n))
        return choose_landmarks(rows.take(pool), strata[pool], min(count, n), self.landmarks, function, rng)

    def _keep_expansion(self, X: Any, rows: NDArray[np.int64], matrix: Any, expansion: Expansion) -> None:
        """Store the only machine: over its support vectors, or over the landmarks."""
        self.intercept_ = np.array([expansion.intercept])
        if self._is_approximated:
            self._keep_landmarks(matrix, [expansion])
        else:
            self._keep_support(X, rows, expansion.support)
            self.dual_coef_ = expansion.coefficients[None, :]

    def _keep_support(self, X: Any, rows: NDArray[np.int64], support: NDArray[np.int64]) -> None:
        self._forget(_OF_LANDMARKS)
        super()._keep_support(X, rows, support)

    def _forget(self, names: Sequence[str]) -> None:
        """Drop what an earlier fit of the other kind has left."""
        for name in names:
            self.__dict__.pop(name, None)

    def _keep_landmarks(self, matrix: LowRank, expansions: Sequence[Expansion]) -> None:
        """Store the landmarks and their weights in each machine, whose expansion is over the training rows."""
        assert matrix.origin is not None
        self._forget(_OF_SUPPORT)
        coefficients = np.zeros((matrix.n, len(expansions)))
        for column, expansion in zip(coefficients.T, expansions, strict=True):
            column[expansion.support] = expansion.coefficients
        self.landmarks_ = matrix.origin.landmarks
        self.n_landmarks_, self.rank_ = int(self.landmarks_.shape[0]), matrix.origin.rank
        self.landmark_coef_ = matrix.landmark_weights(coefficients).T

    def _sums(self, X: Any) -> NDArray[np.float64]:
        if not hasattr(self, "landmark_coef_"):
            return super()._sums(X)
        return self._expand(X, np.ascontiguousarray(self.landmark_coef_.T), self.landmarks_)

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel; else those of the landmarks, where there are any."""
        if not hasattr(self, "landmark_coef_"):
            return super().coef_
        return self.landmark_coef_ @ self.landmarks_ if self.kernel == "linear" else self.landmark_coef_
