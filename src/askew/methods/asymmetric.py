"""The asymmetric support vector machine: the core of the positives, far from the origin and from the negatives.

Solves
    minimise ½‖w‖² − τρ − μγ + (1/m) Σ s_i ξ_i   subject to   positives w'φ(x_i) ≥ ρ − ξ_i,
    negatives w'φ(x_i) ≤ ρ − γ + ξ_i,  ξ ≥ 0,  γ ≥ 0.
    This is equation 3 of the paper with w measured in units of 1/τ, so that τ = 0 is allowed: it is ν-SVC with ν = 2μ.
    Dual in signed variables β = m y∘α (a box of size s_i, not s_i/m, so that a tolerance means the same at every m):
        minimise ½ β'Kβ,   β_i between 0 and y_i s_i,   Σ₊β = m(μ + τ),   Σ₋β = −mμ,
    the second sum an inequality Σ₋β ≤ −mμ whose multiplier is γ ≥ 0. It is solved as an equality first; where that
    gives γ < 0 the inequality is slack, and Σβ = mτ alone is solved (γ = 0), starting from there.
Given
    K on the points, y in {−1, +1}, weights s (m is their sum, so a weight equals repetition; a point of weight 0 is not
    there), μ ≥ 0 and τ ≥ 0, not both 0, with μ + τ at most the fraction of positives and μ at most that of negatives.
Returns
    score(x) = (Σ β_i k(x_i, x) − ρ + γ/2)/m in the units of the first line, with ρ the multiplier of the positives' sum
    and ρ − γ that of the negatives'. Where no point lies strictly inside its box, each is the middle of its interval.
Reference
    Wu, Lin, Chen, Chen (2008), Asymmetric support vector machines: low false-positive learning under the user
    tolerance, KDD, equations 3 and 4 (which prints max for min) and theorems 3.1 to 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import InfeasibleError, ParameterError, see
from askew.methods.expansion import Expansion
from askew.qp import GroupSums, Problem, Solution, Sum, SymmetricMatrix
from askew.qp.certificate import multiplier_interval

Vector = NDArray[np.float64]
Solve = Callable[[Problem, Vector | None], Solution]
ROUNDING = 1e-12
REACH = 1e-9  # how far past the edge of what is feasible counts as rounding of the user's number


@dataclass(frozen=True)
class Asymmetric:
    """A solved machine, in the units of the paper's programme scaled by τ.

    Attributes
    ----------
    expansion : Expansion
        The score; its coefficients are y_i α_i.
    rho, gamma : float
        Positives outside their margin lie below ρ, negatives above ρ − γ.
    norm : float
        ‖w‖.
    negative_mass : float
        Σ₋α: μ, or more where γ = 0 lets it be more.
    outlier_fractions : array of shape (2,)
        Weight of the negatives and of the positives at their upper bound, over the weight of all points.
    inside_fractions : array of shape (2,)
        The same for points strictly inside their box.
    problem : Problem
    solution : Solution
        Of the last programme solved, in units where the box is the weight.
    """

    expansion: Expansion
    rho: float
    gamma: float
    norm: float
    negative_mass: float
    outlier_fractions: Vector
    inside_fractions: Vector
    problem: Problem
    solution: Solution

    @property
    def core_margin(self) -> float:
        """ρ/‖w‖, the distance of the positives' margin from the origin; 0 where w = 0."""
        return self.rho / self.norm if self.norm > 0 else 0.0

    @property
    def class_margin(self) -> float:
        """γ/‖w‖, the distance between the margins of the classes; 0 where w = 0."""
        return self.gamma / self.norm if self.norm > 0 else 0.0


def fit(
    matrix: SymmetricMatrix,
    y: Vector,
    weight: Vector,
    mu: float,
    tau: float,
    solve: Solve,
    start: Vector | None = None,
) -> Asymmetric:
    """Solve for labels y = ±1, and again with γ = 0 where the first answer asks for γ < 0."""
    return recover(*solve_both(matrix, y, weight, mu, tau, solve, start), y, weight)


def solve_both(
    matrix: SymmetricMatrix,
    y: Vector,
    weight: Vector,
    mu: float,
    tau: float,
    solve: Solve,
    start: Vector | None = None,
) -> tuple[Problem, Solution]:
    """The programme that decides, with one sum per class or with γ = 0, and its solution."""
    problem = formulate(matrix, y, weight, mu, tau)
    solution = solve(problem, start)
    if tau > 0 and _asks_for_negative_gamma(problem, solution):
        problem = formulate_touching(matrix, y, weight, tau)
        solution = solve(problem, solution.beta)
    return problem, solution


def formulate(matrix: SymmetricMatrix, y: Vector, weight: Vector, mu: float, tau: float) -> Problem:
    """The programme with one sum per class."""
    check_feasible(y, weight, mu, tau)
    lower, upper = _box(y, weight)
    total = float(weight.sum())
    totals = (max(-total * mu, float(lower.sum())), min(total * (mu + tau), float(upper.sum())))
    group = (y > 0).astype(np.int64)
    return Problem(matrix, np.zeros(matrix.n), lower, upper, GroupSums(group, totals))


def formulate_touching(matrix: SymmetricMatrix, y: Vector, weight: Vector, tau: float) -> Problem:
    """The programme with γ = 0: the margins of both classes touch, and only the difference of the sums is given."""
    lower, upper = _box(y, weight)
    return Problem(matrix, np.zeros(matrix.n), lower, upper, Sum(min(weight.sum() * tau, float(upper.sum()))))


def recover(problem: Problem, solution: Solution, y: Vector, weight: Vector) -> Asymmetric:
    """The score, its margins and its outliers from a solved programme of either kind."""
    total, beta = float(weight.sum()), solution.beta
    rho, gamma = _margins(problem, solution)
    support = np.flatnonzero(beta)
    is_positive, size, weight = y[support] > 0, np.abs(beta[support]), weight[support]
    inside = size < weight
    inside_weight, bound_weight = np.where(inside, weight, 0.0), np.where(inside, 0.0, weight)
    return Asymmetric(
        expansion=Expansion.of(beta / total, (0.5 * gamma - rho) / total),
        rho=rho / total,
        gamma=gamma / total,
        norm=float(np.sqrt(max(0.0, float(beta @ solution.gradient)))) / total,
        negative_mass=float(size[~is_positive].sum()) / total,
        outlier_fractions=_by_class(bound_weight, is_positive) / total,
        inside_fractions=_by_class(inside_weight, is_positive) / total,
        problem=problem,
        solution=solution,
    )


def smallest_mu(matrix: SymmetricMatrix, y: Vector, weight: Vector, tau: float, solve: Solve) -> float:
    """The smallest μ whose programme has γ ≥ 0: Σ₋α where γ = 0 is imposed.

    The optimum as a function of Σ₋α is convex and γ is its slope, so γ ≥ 0 from its minimum on. At τ = 0 the minimum is
    at Σ₋α = 0.
    """
    if tau == 0:
        return 0.0
    check_feasible(y, weight, 0.0, tau)
    solution = solve(formulate_touching(matrix, y, weight, tau), None)
    return float(-solution.beta[y < 0].sum() / weight.sum())


def check_feasible(y: Vector, weight: Vector, mu: float, tau: float) -> None:
    """Refuse μ and τ that no α reaches on these data, naming the range that is feasible."""
    if mu == 0 and tau == 0:
        raise ParameterError("mu and tau are both 0, which leaves no support vector. Choose mu > 0 or tau > 0.")
    total = float(weight.sum())
    positives, negatives = float(weight[y > 0].sum()) / total, float(weight[y < 0].sum()) / total
    if mu + tau > positives * (1 + REACH):
        raise InfeasibleError(
            f"mu + tau = {mu + tau:g} exceeds the fraction of positives, {positives:.6g}. "
            f"Choose mu + tau ≤ {positives:.6g} for this data. {see('asymmetric-shares')}"
        )
    if mu > negatives * (1 + REACH):
        raise InfeasibleError(
            f"mu = {mu:g} exceeds the fraction of negatives, {negatives:.6g}. "
            f"Choose mu ≤ {negatives:.6g} for this data. {see('asymmetric-shares')}"
        )


def carried(mu: float, tau: float, shares: Vector, others: Vector) -> tuple[float, float]:
    """μ and τ chosen on points with these shares of negatives and positives, for points with other shares.

    What stays is μ as a part of the smaller class and τ as a part of what μ leaves of the positives: μ/π and τ/π where
    positives are the smaller class. What was feasible stays feasible.
    """
    room = shares[1] - mu
    new_mu = mu * float(others.min() / shares.min())
    return new_mu, (tau / room if room > 0 else 0.0) * max(0.0, float(others[1]) - new_mu)


def _box(y: Vector, weight: Vector) -> tuple[Vector, Vector]:
    return np.where(y > 0, 0.0, -weight), np.where(y > 0, weight, 0.0)


def _by_class(values: Vector, is_positive: NDArray[np.bool_]) -> Vector:
    return np.array([values[~is_positive].sum(), values[is_positive].sum()])


def _intervals(problem: Problem, solution: Solution) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the multipliers of the negatives' and of the positives' sum may lie, each from low to high."""
    ends = []
    for mine in problem.members():
        low, high = multiplier_interval(
            solution.gradient[mine], solution.beta[mine], problem.lower[mine], problem.upper[mine]
        )
        ends.append((min(low, high), max(low, high)))
    return ends[0], ends[1]


def _asks_for_negative_gamma(problem: Problem, solution: Solution) -> bool:
    """Whether every pair of multipliers has γ < 0."""
    negatives, positives = _intervals(problem, solution)
    return positives[1] - negatives[0] < -ROUNDING * float(np.max(np.abs(solution.gradient), initial=0.0))


def _margins(problem: Problem, solution: Solution) -> tuple[float, float]:
    """ρ and γ ≥ 0 from the multipliers."""
    if len(solution.multipliers) == 1:
        return solution.multipliers[0], 0.0
    below, rho = solution.multipliers
    if rho >= below:
        return rho, rho - below
    negatives, positives = _intervals(problem, solution)  # the middles say γ < 0, the intervals allow γ = 0
    common = 0.5 * (max(negatives[0], positives[0]) + min(negatives[1], positives[1]))
    return (common, 0.0) if np.isfinite(common) else (0.5 * (rho + below), 0.0)
