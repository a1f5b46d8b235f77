"""Linear moment machines along a path of costs: one whitening, one matrix, warm starts.

Solves
    the C form (``programme``) at every cost in rising order, each from the solution before.
Given
    ``Evidence`` of every machine, the user's numbers, and the costs.
Returns
    ``MomentPath``: directions and intercepts by cost and machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askew.methods.moment.geometry import Geometry, Kernel
from askew.methods.moment.machines import Setting
from askew.methods.moment.programme import Formulation, formulate
from askew.summaries import Evidence

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


def fit_path(evidence: Sequence[Evidence], setting: Setting, Cs: Vector, sign: float = 1.0) -> MomentPath:
    """Every cost in rising order, each started from the last; whitened points and their matrix are made once.

    Parameters
    ----------
    evidence : sequence of Evidence
        Of each machine.
    setting : Setting
        Its ridge is that of the geometric mean of the costs; its formulation and kernel are not read.
    Cs : array of shape (n_Cs,)
    sign : {1.0, -1.0}
        Of the estimator's score.
    """
    middle = float(np.exp(np.mean(np.log(Cs))))
    rho = replace(setting, formulation=Formulation("C", C=middle)).ridge(evidence)
    shape = (len(Cs), len(evidence))
    coefs = np.empty((*shape, evidence[0].moments.n_features))
    intercepts, gaps, rising = np.full(shape, -sign), np.zeros(shape), np.argsort(Cs)
    for k, each in enumerate(evidence):
        if len(each.weight) == 0:
            coefs[:, k] = 0.0
            continue
        here = Geometry.of(each, rho, Kernel("linear"))
        first = formulate(here.matrix, Formulation("C", C=1.0), each.weight)
        programmes = [first.in_box(first.lower, Formulation("C", C=C).cost(each.weight)) for C in Cs[rising]]
        tol, max_iter = setting.tolerance(len(each.weight)), setting.max_iter
        solutions = setting.solvers.solve_each(programmes, tol=tol, max_iter=max_iter, in_turn=True)
        alphas = np.empty((len(each.weight), len(Cs)))
        for j, solution in zip(rising, solutions, strict=True):
            alphas[:, j], gaps[j, k] = sign * solution.beta, solution.certificate.duality_gap
        here.directions(alphas, coefs[:, k])
        intercepts[:, k] = -sign - coefs[:, k] @ here.structure.mean
    return MomentPath(Cs, coefs, intercepts, gaps, rho)
