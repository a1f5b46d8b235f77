"""MIBC: positives as points against negatives as mean and covariance.

Solves
    with x̃ = x − x̄ and K̂ the kernel on whitened positives (linear: K̂_ij = x̃_i'Σ⁻¹x̃_j), s_i sample weights, n = Σs:
    C form       minimise ½w'Σw + C Σ s_i ξ_i                        s.t. w'x̃_i ≥ 1 − ξ_i, ξ ≥ 0
    ν form       the C form with C = 1/(2νn)
    two slacks   minimise w'Σw + Σ s_i ξ_i/(ν⁺n) + η/ν⁻,  b = x̄'w + 1 − η,  w'x_i − b ≥ −ξ_i
    hard         minimise w'Σw                                       s.t. w'x̃_i ≥ 1
    Dual of the first two: minimise ½α'K̂α − Σα, 0 ≤ α_i ≤ C s_i. Two slacks, halving the paper's α: the same with
    α_i ≤ s_i/(2ν⁺n) and Σα ≤ 1/(2ν⁻), whose multiplier is −η. Hard: the point nearest to the origin in the hull of
    the positives, minimise ½α'K̂α over Σα = 1, α ≥ 0; w is that point divided by its squared length.
Given
    K̂ on the positives, the formulation, the weights.
Returns
    score(x) = Σ α_i K̂(x_i, x) + intercept, intercept = −1 (+ η): score ≥ 0 is positive, and the mean of the
    negatives scores exactly the intercept when the kernel is linear.
Reference
    Leclère, Grave, El Ghaoui: eq. 3 (hard), 9 (two slacks; the sign of ξ there is a misprint), 10 (ν; prints "max").
    Grave, El Ghaoui: eq. 3 (C form).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import InfeasibleError
from askew.qp import Free, Problem, Solution, Status, Sum, SumAtMost, SymmetricMatrix

Vector = NDArray[np.float64]
Solve = Callable[..., Solution]

ON_MARGIN = 1e-9  # added to every score: support vectors stand on their margin, and rounding must not decide them


@dataclass(frozen=True)
class Formulation:
    """Which of the four programmes, and its numbers.

    Attributes
    ----------
    name : {"C", "nu", "two_slack", "hard"}
    C, nu, nu_positive, nu_negative : float
        Only those that the name calls for are read.
    """

    name: str = "C"
    C: float = 1.0
    nu: float = 0.1
    nu_positive: float = 0.1
    nu_negative: float = 0.5

    def cost(self, weight: Vector) -> Vector:
        """Upper bound of each α."""
        total = float(weight.sum())
        if self.name == "C":
            return self.C * weight
        if self.name == "nu":
            return weight / (2.0 * self.nu * total)
        if self.name == "two_slack":
            return weight / (2.0 * self.nu_positive * total)
        return np.full(len(weight), np.inf)


@dataclass(frozen=True)
class Fit:
    """A solved programme read as a score.

    Attributes
    ----------
    alpha : array of shape (n,)
        Coefficients of the positives, ≥ 0.
    intercept : float
    gap : float
        Duality gap in units of ½w'Σw.
    violation : float
        Largest KKT violation, in units of the score.
    solution : Solution
    """

    alpha: Vector
    intercept: float
    gap: float
    violation: float
    solution: Solution

    @property
    def status(self) -> Status:
        return self.solution.status


def formulate(matrix: SymmetricMatrix, formulation: Formulation, weight: Vector) -> Problem:
    """The dual programme; every formulation shares the matrix."""
    n = matrix.n
    upper = formulation.cost(weight)
    if formulation.name == "hard":
        return Problem(matrix, np.zeros(n), np.zeros(n), upper, Sum(1.0))
    if formulation.name == "two_slack":
        return Problem(matrix, -np.ones(n), np.zeros(n), upper, SumAtMost(0.5 / formulation.nu_negative))
    return Problem(matrix, -np.ones(n), np.zeros(n), upper, Free())


def fit(
    matrix: SymmetricMatrix,
    formulation: Formulation,
    weight: Vector,
    solve: Solve,
    tol: float = 1e-3,
    start: Vector | None = None,
) -> Fit:
    """Solve one programme and read its score.

    Parameters
    ----------
    matrix : SymmetricMatrix
        K̂ on the positives.
    formulation : Formulation
    weight : array of shape (n,)
        Positive sample weights.
    solve : callable
        ``solve(problem, start=..., tol=...)`` → Solution.
    tol : float
        Largest KKT violation, in units of the score.
    start : array of shape (n,), optional
        α of a neighbouring programme.
    """
    problem = formulate(matrix, formulation, weight)
    if formulation.name == "hard":
        return _fit_hard(problem, solve, tol, start)
    solution = solve(problem, start=start, tol=tol)
    certificate = solution.certificate
    slack = -certificate.multipliers[0] if formulation.name == "two_slack" else 0.0
    intercept = -1.0 + max(0.0, slack) + ON_MARGIN
    return Fit(solution.beta, intercept, certificate.duality_gap, certificate.violation, solution)


def _fit_hard(problem: Problem, solve: Solve, tol: float, start: Vector | None) -> Fit:
    """Nearest point of the hull to the origin, scaled so that the smallest margin is 1.

    With p = Σα_i z_i, margins m_i = z_i'p: w = p / min m is feasible, α / ‖p‖² is the best dual multiple of α, and
    their gap ½(‖p‖²/min m² − 1/‖p‖²) closes as min m → ‖p‖². The origin lies in the hull iff ‖p‖ → 0.
    """
    largest = float(np.max(problem.matrix.diagonal(), initial=0.0))
    accuracy = tol * largest
    while True:
        solution = solve(problem, start=start, tol=accuracy)
        start = solution.beta
        margins = solution.gradient
        length, level = float(start @ margins), float(margins.min())
        if length <= 1e-9 * largest:
            raise InfeasibleError(
                "The mean of the negatives lies in the convex hull of the positives: no hyperplane has all positives "
                "on its far side. Use formulation='C', 'nu' or 'two_slack', which allow some on the near side."
            )
        if level >= (1.0 - tol) * length or not solution.status.has_converged:
            break
        accuracy = min(0.3 * accuracy, 0.5 * tol * length)
    if level <= 0.0:
        raise InfeasibleError(
            f"No hyperplane with all positives on its far side was found (smallest margin {level / largest:.1e} of the "
            "largest possible): the mean of the negatives touches their hull. Use formulation='C', 'nu' or 'two_slack'."
        )
    gap = 0.5 * (length / level**2 - 1.0 / length)
    return Fit(start / level, -1.0 + ON_MARGIN, gap, 1.0 - level / length, solution)
