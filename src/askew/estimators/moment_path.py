"""Linear moment machines along a path of costs: one whitening, one matrix, warm starts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askew.estimators.moment_machines import Setting, resolve_ridge
from askew.kernels import Gram, Linear
from askew.methods import moment
from askew.methods.moment_evidence import Evidence
from askew.solvers import solve_each

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
    middle = float(np.exp(np.mean(np.log(Cs))))
    rho = resolve_ridge(evidence, replace(setting, formulation=moment.Formulation("C", C=middle)))
    shape = (len(Cs), len(evidence))
    coefs = np.empty((*shape, evidence[0].moments.n_features))
    intercepts, gaps, rising = np.full(shape, -sign), np.zeros(shape), np.argsort(Cs)
    for k, mine in enumerate(evidence):
        if len(mine.weight) == 0:
            coefs[:, k] = 0.0
            continue
        structure = mine.structure.with_ridge(rho)
        matrix = Gram(Linear(), structure.whiten(mine.X))
        costs = [moment.Formulation("C", C=C).cost(mine.weight) for C in Cs[rising]]
        first = moment.formulate(matrix, moment.Formulation("C", C=1.0), mine.weight)
        programmes = [first.in_box(first.lower, cost) for cost in costs]
        tol = setting.tolerance(len(mine.weight))
        solutions = solve_each(programmes, tol=tol, max_iter=setting.max_iter, in_turn=True)
        alphas = np.empty((len(mine.weight), len(Cs)))
        for j, solution in zip(rising, solutions, strict=True):
            alphas[:, j], gaps[j, k] = sign * solution.beta, solution.certificate.duality_gap
        structure.directions(mine.X, alphas, coefs[:, k])
        intercepts[:, k] = -sign - coefs[:, k] @ structure.mean
    return MomentPath(Cs, coefs, intercepts, gaps, rho)
