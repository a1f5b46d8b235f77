"""What every kernel estimator of askew shares: its parameters, its data, its solver and its scores.

No estimator is made from this class alone. A subclass declares its own parameters, builds a programme through
``askew.methods`` and reads the solution; everything about kernels, caches and convergence is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from askew.arrays import Home, fetched, host, is_elsewhere, take_rows
from askew.findings import find, warn
from askew.fitting.block_scoring import ScoresAnywhere
from askew.fitting.callbacks import ReportsProgress
from askew.fitting.nystroem import MEGABYTE, keep_landmarks, landmark_matrix
from askew.fitting.rows import telling_of_memory
from askew.fitting.state import as_fitted
from askew.kernels import Gram, Precomputed, make_function, resolve_gamma
from askew.methods.expansion import Expansion
from askew.qp import Problem, Solution, Status
from askew.sklearn_private import Interval, StrOptions
from askew.solvers import solve
from askew.summaries import StreamedRows


class KernelMachine(ScoresAnywhere, ReportsProgress, BaseEstimator):
    """Base of the estimators that stand on a kernel matrix and the working-set solver."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({"linear", "poly", "polynomial", "rbf", "sigmoid", "precomputed"})],
        "degree": [Interval(Real, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
    }

    _learnt_privately = frozenset({"_chose_by_name"})
    _scored_with: ClassVar[tuple[str, ...]] = ("kernel", "degree", "coef0", "approximation")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "status_")

    @property
    def _is_approximated(self) -> bool:
        """Whether the machine stands on Nyström features; only those with an ``approximation`` can."""
        return as_fitted(self, "approximation") is not None

    @property
    def _computes_elsewhere(self) -> bool:
        """Whether rows in another array library are computed on where they are; else they come to the host."""
        return bool(as_fitted(self, "kernel") != "precomputed") and not self._is_approximated

    def _kernel_matrix(self, X: Any, weight: Any, strata: Any = None) -> Any:
        """The kernel on the training rows; resolves ``gamma_``. ``strata`` are the classes of the rows, if any."""
        if self.kernel == "precomputed":
            self.gamma_ = 1.0
            return Precomputed(X)
        with telling_of_memory(self.cache_size):
            variance = X.variance() if isinstance(X, StreamedRows) else None
            self.gamma_ = resolve_gamma(self.gamma, X, weight, variance)
            return self._matrix_of(self._kernel_function(), X, weight, strata)

    def _path_matrix(self, X: Any, weight: Any) -> Any:
        """The kernel on all rows of a search."""
        return self._kernel_matrix(X, weight)

    def _search_unit(self, X: Any, weight: Any) -> float:
        """The width 1 / (d · var X), in which a search measures widths."""
        return 1.0 if self.kernel == "precomputed" else resolve_gamma("scale", X, weight)

    def _matrix_of(self, function: Any, X: Any, weight: Any, strata: Any = None) -> Any:
        """The matrix of a kernel function on the training rows, or in the span of landmarks among them."""
        if self._is_approximated:
            return landmark_matrix(self, function, X, weight, strata)
        return Gram(function, X, tile_bytes=max(MEGABYTE, int(self.cache_size * MEGABYTE)))

    def _kernel_function(self) -> Any:
        kernel, degree, coef0 = (as_fitted(self, name) for name in ("kernel", "degree", "coef0"))
        return make_function(kernel, self.gamma_, degree, coef0)

    def _solve(self, problem: Problem, start: Any = None) -> Solution:
        with telling_of_memory(self.cache_size):
            return solve(
                problem,
                start=start,
                tol=self.tol,
                max_iter=self.max_iter,
                memory=int(self.cache_size * MEGABYTE),
                on_round=self._round_listener(),
            )

    def _keep_support(self, X: Any, rows: NDArray[np.int64], support: NDArray[np.int64]) -> None:
        """Store which rows support the score, and the rows themselves unless the kernel is precomputed."""
        self.support_ = rows[support]
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else take_rows(X, support)

    def _keep_expansion(self, X: Any, rows: NDArray[np.int64], matrix: Any, expansion: Expansion) -> None:
        """Store the only machine: over its support vectors, or over the landmarks."""
        self.intercept_ = np.array([expansion.intercept])
        if self._is_approximated:
            keep_landmarks(self, matrix, [expansion])
        else:
            self._keep_support(X, rows, expansion.support)
            self.dual_coef_ = expansion.coefficients[None, :]

    def _sums(self, X: Any) -> NDArray[np.float64]:
        """Scores of every machine without their intercepts, one column each."""
        if hasattr(self, "landmark_coef_"):
            return self._expand(X, np.ascontiguousarray(self.landmark_coef_.T), self.landmarks_)
        return self._expand(X, self._expansion_columns())

    def _expand(self, X: Any, coefficients: NDArray[np.float64], points: Any = None) -> NDArray[np.float64]:
        """Σ_j coefficients[j] k(points[j], x) for every row x; the points are ``support_vectors_`` by default."""
        if as_fitted(self, "kernel") == "precomputed":
            return np.asarray(X[:, self.support_] @ coefficients, dtype=np.float64)
        if points is None:
            points = self.support_vectors_
        X, points = self._together(X, points)
        return np.asarray(Gram(self._kernel_function(), points).weighted_sum(X, coefficients))

    @staticmethod
    def _together(X: Any, points: Any) -> tuple[Any, Any]:
        """Rows and points as one kernel can take them: where the rows live, both dense or both sparse."""
        if is_elsewhere(X):
            return X, Home(X).put(points.toarray() if sparse.issparse(points) else points)
        points = fetched(points)
        if sparse.issparse(X) == sparse.issparse(points):
            return X, points
        return sparse.csr_array(X), sparse.csr_array(points)

    def to_cpu(self) -> Self:
        """The same estimator with its fitted arrays in the memory of the host; for one fitted on a device.

        Returns
        -------
        self
        """
        for name, value in vars(self).items():
            if is_elsewhere(value):
                setattr(self, name, host(value))
        return self

    def _note_convergence(self, solutions: Sequence[Solution]) -> Solution:
        """Set ``status_`` and ``fit_status_`` from the worst ending, and return it."""
        self._end_listening()
        order = [Status.STOPPED, Status.MAX_ITER, Status.STALLED, Status.STATIONARY, Status.OPTIMAL]
        worst = min(solutions, key=lambda s: (order.index(s.status), -s.certificate.violation))
        self.status_ = worst.status.value
        self.fit_status_ = 0 if worst.status.has_converged else 1
        return worst

    def _report_convergence(self, solutions: Sequence[Solution]) -> None:
        """The same; warn when the tolerance was not met."""
        worst = self._note_convergence(solutions)
        if worst.status is Status.MAX_ITER:
            reason, remedy = f"after max_iter={self.max_iter} steps", "Raise `max_iter`, or scale the features"
        elif worst.status is Status.STOPPED:
            reason, remedy = "because a callback asked it to", "Fit without that callback to go on"
        elif worst.status is Status.STALLED:
            reason, remedy = "when float64 allowed no further progress", "Raise `tol`, or scale the features"
        else:
            return
        finding = find(
            "ASK201",
            estimator=type(self).__name__,
            reason=reason,
            violation=worst.certificate.violation,
            tol=self.tol,
            remedy=remedy,
        )
        warn(finding, ConvergenceWarning)

    @property
    def coef_(self) -> Any:
        """Weights of the features, for the linear kernel; else those of the landmarks, where there are any."""
        kernel = as_fitted(self, "kernel")
        if hasattr(self, "landmark_coef_"):
            return self.landmark_coef_ @ self.landmarks_ if kernel == "linear" else self.landmark_coef_
        if kernel != "linear":
            raise AttributeError(f'coef_ exists for kernel="linear" only; this one has kernel={kernel!r}.')
        check_is_fitted(self)
        points = fetched(self.support_vectors_)
        return np.asarray(sparse.csr_array(points).T @ self._expansion_columns()).T

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
