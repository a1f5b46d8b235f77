"""Support vector data description on askew's solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError
from askew.fitting import (
    DataDescription,
    begin,
    check_in_memory,
    commit,
    read_scoring,
    scored_anywhere,
    telling_callbacks,
)
from askew.kernels.points import squared_norms
from askew.methods import svdd


class SVDD(DataDescription):
    """Support vector data description: the smallest soft ball around the data in feature space.

    With the rbf kernel it ranks as :class:`askew.OneClassSVM` does; with linear and polynomial kernels it is a ball
    where the one-class SVM is a half-space, and so does not need the origin to mean anything.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the fraction of training rows outside the ball; in (0, 1].
    kernel : {"linear", "poly", "rbf", "sigmoid"}, default="rbf"
        A precomputed kernel is refused: the score of a new row needs k(x, x), which a matrix of cross values lacks.
    degree : float, default=3
    gamma : {"scale", "auto", "support"} or float, default="scale"
        "support" is the narrowest rbf kernel that does not need more support vectors than wider ones.
    coef0 : float, default=0.0
    tol : float, default=1e-3
        Largest KKT violation, in units where multipliers lie between 0 and the sample weight.
    cache_size : float, default=1024
        Megabytes for kernel rows.
    max_iter : int, default=-1
        Limit of solver steps, -1 for none.

    Attributes
    ----------
    support_ : array of shape (n_SV,)
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
    dual_coef_ : array of shape (1, n_SV)
        α, with sum 1: the centre is Σ α_i φ(x_i).
    squared_radius_ : float
        R².
    offset_ : float
        ``decision_function = score_samples - offset_``; it is -R².
    dual_gap_, kkt_violation_ : float
    n_iter_ : int
    status_ : {"optimal", "stationary", "max_iter", "stalled"}
    gamma_ : float
    gamma_path_ : dict of arrays
        "gamma" and "support_fraction", for ``gamma="support"``.

    Examples
    --------
    >>> import numpy as np
    >>> from askew import SVDD
    >>> X = np.random.default_rng(0).normal(loc=5.0, size=(500, 2))
    >>> model = SVDD(nu=0.1, kernel="linear").fit(X)
    >>> model.predict([[5.0, 5.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _learnt_privately = DataDescription._learnt_privately | {"_centre_norm"}

    @telling_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> SVDD:
        """Fit to normal rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 equals the row given twice.
        target : None
            Refused, as are rows beyond memory: the ball is fitted on rows in memory.

        Returns
        -------
        self
        """
        new = begin(self)
        if self.kernel == "precomputed":
            raise ParameterError(
                'SVDD does not take kernel="precomputed": the score of a new row needs k(x, x). '
                'Use OneClassSVM, which equals it for kernels with a constant diagonal, or kernel="rbf".'
            )
        check_in_memory(self, X, target, "fit askew.OneClassSVM(approximation='nystroem') from the source")
        X, matrix, weight, rows = new._prepare(X, sample_weight)
        problem = svdd.formulate(matrix, self.nu, weight)
        solution = new._solve(problem)
        ball = svdd.recover(problem, solution)
        new._keep_support(X, rows, ball.centre.support)
        new.dual_coef_ = ball.centre.coefficients[None, :]
        new.squared_radius_ = ball.squared_radius
        new.offset_ = -ball.squared_radius
        new._centre_norm = ball.centre_norm
        new._certify(solution)
        return commit(self, new)

    @scored_anywhere
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Minus the squared distance to the centre: higher is more normal."""
        X = read_scoring(self, X)
        return 2.0 * self._expand(X, self.dual_coef_[0]) - self._self_kernel(X) - self._centre_norm

    def _self_kernel(self, X: Any) -> NDArray[np.float64]:
        """k(x, x) of each row."""
        return self._kernel_function().diagonal(squared_norms(X))
