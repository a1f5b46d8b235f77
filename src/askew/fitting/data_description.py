"""What the one-class estimators share: ν, ±1 predictions, and a score with an offset."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from askew.exceptions import ParameterError
from askew.fitting.block_scoring import scored_anywhere
from askew.fitting.machine import KernelMachine
from askew.fitting.rows import read_training
from askew.kernels import RBF, resolve_gamma
from askew.methods.expansion import positive_side
from askew.methods.support_width import choose_width
from askew.qp import Solution
from askew.sklearn_private import Interval, StrOptions


class DataDescription(OutlierMixin, KernelMachine):
    """Base of OneClassSVM, SVDD and CovarianceOneClassSVM."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "gamma": [StrOptions({"scale", "auto", "support"}), Interval(Real, 0, None, closed="left")],
        "nu": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        nu: float = 0.5,
        *,
        kernel: str = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 1024,
        max_iter: int = -1,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter

    @scored_anywhere
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """``score_samples(X) - offset_``: ≥ 0 for inliers."""
        return self.score_samples(X) - self.offset_

    @scored_anywhere
    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inliers (score ≥ 0), -1 for outliers."""
        return np.where(positive_side(self.decision_function(X)), 1, -1)

    def _prepare(self, X: Any, sample_weight: Any) -> tuple[Any, Any, NDArray[np.float64], NDArray[np.int64]]:
        """Checked rows, and the kernel on them."""
        X, _, weight, rows = read_training(self, X, None, sample_weight)
        return X, self._kernel_matrix(X, weight), weight, rows

    def _kernel_matrix(self, X: Any, weight: Any, strata: Any = None) -> Any:
        """The kernel on the training rows; resolves ``gamma_``, by the support vectors if asked."""
        if self.gamma != "support":
            return super()._kernel_matrix(X, weight, strata)
        if self.kernel != "rbf":
            raise ParameterError(
                f'gamma="support" is a rule for kernel="rbf"; got kernel={self.kernel!r}. Pass "scale" or a number.'
            )
        unit = resolve_gamma("scale", X, weight)
        self.gamma_, path = choose_width(
            lambda gamma: self._matrix_of(RBF(gamma), X, weight, strata), self.nu, weight, unit, self._solve
        )
        self.gamma_path_ = {
            "gamma": np.array([width.gamma for width in path]),
            "support_fraction": np.array([width.support_fraction for width in path]),
        }
        return self._matrix_of(self._kernel_function(), X, weight, strata)

    def _certify(self, solution: Solution) -> None:
        self.dual_gap_ = solution.certificate.duality_gap
        self.kkt_violation_ = solution.certificate.violation
        self.n_iter_ = solution.n_iter
        self._report_convergence([solution])

    def _expansion_columns(self) -> NDArray[np.float64]:
        return self.dual_coef_.T
