"""The covariance-guided one-class support vector machine.

Solves
    minimise ½ β'Pβ,   0 ≤ β_i ≤ w_i,   Σβ = ν Σw,   P = ηQ + (1−η)sΔ (``askew.kernels.covariance_guided``):
    the one-class SVM with the variance of its score over the data added to what is made small. β is in LIBSVM's
    units, νN times the paper's α. η = 1 is the one-class SVM.
Given
    Δ on the points, ν, w, and a solver ``solve(problem, start) → Solution``. η is given, or walked:
Returns
    A score, and where it is zero.
        plain      f(x) = Σβ_i k(x_i, x) − ρ, with ρ the multiplier of Σβ (the paper's reading). ρ carries the scale of
                   P and f that of Q, so the fraction of training points outside may be anything between 0 and 1; where
                   it exceeds ν, ρ is put at the ν-quantile of the plain scores instead.
        modified   f(x) = Σβ_i k̃(x_i, x) − ρ with the bent kernel itself: at most ν outside for every η.
Stops when
    walking: from η' = 1 downwards in steps of 0.1 (η' is η at the trace scale, where a step means the same on every
    set) until the fraction outside by the plain score is at most the one asked for, then three halvings of the last
    step. Where it never gets there, at the η' with the least fraction: the walk ends on every set.
Reference
    Khan, Ksantini, Ahmad, Guan, Incorporating covariance information in one class SVC, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.kernels.covariance_guided import CovarianceGuided, eta_from_blend
from askew.kernels.kernel_covariance import KernelCovariance
from askew.methods import one_class
from askew.methods.boundary import boundary_multiplier
from askew.methods.expansion import Expansion
from askew.methods.rejection import ROOM, rejection_threshold
from askew.qp import Problem, Solution

Vector = NDArray[np.float64]
Solve = Callable[[Problem, "Vector | None"], Solution]

BLENDS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
HALVINGS = 3


@dataclass(frozen=True)
class Stage:
    """The machine at one η.

    Attributes
    ----------
    matrix : CovarianceGuided
        P.
    solution : Solution
    plain : array of shape (n,)
        Qβ: the plain score of every training point.
    multiplier : float
        ρ.
    outlier_fraction : float
        Weight of the points with a plain score below ρ, as a fraction.
    """

    matrix: CovarianceGuided
    solution: Solution
    plain: Vector
    multiplier: float
    outlier_fraction: float

    @property
    def eta(self) -> float:
        """η."""
        return self.matrix.eta

    def read_plain(self, nu: float) -> tuple[Expansion, str]:
        """The plain score, and the rule its offset follows: "multiplier", or "quantile" where that rejects too many."""
        if self.outlier_fraction <= nu + ROOM:
            return Expansion.of(self.solution.beta, -self.multiplier), "multiplier"
        offset = rejection_threshold(self.plain, self.matrix.covariance.weight, nu)
        return Expansion.of(self.solution.beta, -offset), "quantile"

    def read_modified(self) -> tuple[Expansion, str]:
        """The score with the bent kernel as a plain sum with dense weights."""
        weights = self.matrix.dense_weights(self.solution.beta, self.plain)
        return Expansion.of(weights, -self.multiplier), "multiplier"


@dataclass(frozen=True)
class Walk:
    """Every η tried, from 1 downwards, the one chosen, and how the walk ended."""

    stages: tuple[Stage, ...]
    chosen: Stage
    ending: str


def fit_at(
    covariance: KernelCovariance, eta: float, scale: float, nu: float, solve: Solve, start: Vector | None = None
) -> Stage:
    """The machine at one η."""
    matrix = CovarianceGuided(covariance, eta, scale)
    problem = one_class.formulate(matrix, nu, covariance.weight)
    solution = solve(problem, start)
    plain = matrix.plain(solution.beta)
    multiplier = boundary_multiplier(problem, solution)
    outside = float(covariance.weight @ (plain < multiplier)) / covariance.total
    return Stage(matrix, solution, plain, multiplier, outside)


def walk(covariance: KernelCovariance, scale: float, nu: float, outlier_fraction: float, solve: Solve) -> Walk:
    """η by the fraction of training points outside: the paper's rule, with an end on every set."""
    stages: dict[float, Stage] = {}

    def visit(blend: float) -> bool:
        nearest = min(stages, key=lambda b: abs(b - blend), default=None)
        start = None if nearest is None else stages[nearest].solution.beta
        stages[blend] = fit_at(covariance, eta_from_blend(blend, covariance, scale), scale, nu, solve, start)
        return stages[blend].outlier_fraction <= outlier_fraction + ROOM

    reached = next((blend for blend in BLENDS if visit(blend)), None)
    if reached is not None and reached < 1:
        above = min(blend for blend in stages if blend > reached)
        for _ in range(HALVINGS):
            middle = 0.5 * (above + reached)
            above, reached = (above, middle) if visit(middle) else (middle, reached)
    ending = "reached" if reached is not None else "least"
    if reached is None:
        reached = min(stages, key=lambda b: (round(stages[b].outlier_fraction, 9), -b))
    return Walk(tuple(stages[b] for b in sorted(stages, reverse=True)), stages[reached], ending)
