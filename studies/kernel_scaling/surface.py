"""AKS over a grid of strengths on one fold: the kernel and the plain machine are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from askew.kernels import Precomputed, resolve_gamma
from askew.methods.kernel_scaling import Task, first_fit, scale, score
from askew.methods.kernel_scaling_rules import rule_of
from studies.kernel_scaling.paper import C
from studies.kernel_scaling.parkinsons import Fold

STRENGTHS = (0.0, 0.01, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6)
"""k of either side, in units of 1 / max f²."""


def scores_on_grid(fold: Fold, gamma: float | str) -> NDArray[np.float64]:
    """Score of every test row at every pair of strengths, of shape (majority, minority, test rows)."""
    from askew.solvers import solve

    width = resolve_gamma("scale", fold.X) if gamma == "scale" else gamma
    ones = np.ones(len(fold.X))
    matrix = Precomputed(rbf_kernel(fold.X, gamma=width), is_psd=True)
    task = Task(matrix, fold.y.astype(float), C * ones, ones, np.arange(len(ones)))
    cross = rbf_kernel(fold.test, fold.X, gamma=width)

    def solver(problem: Any, start: Any = None) -> Any:
        return solve(problem, start=start, tol=1e-3)

    first = first_fit(task, solver)

    def at(strengths: tuple[float, float]) -> NDArray[np.float64]:
        stages = [fitted.stage for fitted in scale(task, first, rule_of("asymmetric", strengths), solver)]
        sums = [cross[:, e.support] @ e.coefficients for e in (stage.expansion for stage in stages)]
        return score(stages, np.stack(sums, axis=1), lambda bend: np.empty((len(cross), 0)))

    return np.array([[at((majority, minority)) for minority in STRENGTHS] for majority in STRENGTHS])
