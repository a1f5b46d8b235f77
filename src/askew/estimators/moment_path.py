"""Linear moment machines along a path of costs: one whitening, one matrix, warm starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from askew.estimators.moment_machines import Setting, resolve_ridge
from askew.kernels import Linear
from askew.kernels.whitened import WhitenedGram
from askew.methods import moment
from askew.methods.moment_evidence import Evidence
from askew.methods.moment_score import whitened_points

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class MomentPath:
    """Linear models along a path of costs.

    Attributes
    ----------
    Cs : array of shape (n_Cs,)
    coefs : array of shape (n_Cs, n_machines, n_features)
    intercepts : array of shape (n_Cs, n_machines)
    dual_gaps : array of shape (n_Cs, n_machines)
    rho : float
    """

    Cs: Vector
    coefs: Vector
    intercepts: Vector
    dual_gaps: Vector
    rho: float


def fit_path(evidence: list[Evidence], setting: Setting, Cs: Vector, sign: float) -> MomentPath:
    """Every cost in rising order, each started from the last; whitened points and their matrix are made once."""
    from askew.solvers.dispatch import prefers_stored

    middle = float(np.exp(np.mean(np.log(Cs))))
    rho = resolve_ridge(evidence, replace(setting, formulation=moment.Formulation("C", C=middle)))
    d = len(evidence[0].structure.mean)
    coefs = np.empty((len(Cs), len(evidence), d))
    intercepts, gaps = np.full((len(Cs), len(evidence)), -sign), np.zeros((len(Cs), len(evidence)))
    for k, mine in enumerate(evidence):
        if len(mine.weight) == 0:
            coefs[:, k] = 0.0
            continue
        structure = mine.structure.with_ridge(rho)
        matrix = WhitenedGram(Linear(), whitened_points(structure, mine.X))
        stored = matrix.filled() if prefers_stored(matrix) else None
        solve, alpha = partial(setting.solver(), stored=stored), None
        alphas, tol = np.zeros((matrix.n, len(Cs))), setting.tolerance(matrix.n)
        for j in np.argsort(Cs):
            found = moment.fit(matrix, moment.Formulation("C", C=Cs[j]), mine.weight, solve, tol, alpha)
            alphas[:, j] = alpha = found.alpha
            gaps[j, k] = found.gap
        structure.directions(mine.X, sign * alphas, coefs[:, k])
        intercepts[:, k] = -sign - coefs[:, k] @ structure.mean
    return MomentPath(Cs, coefs, intercepts, gaps, rho)
