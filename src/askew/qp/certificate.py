"""Is this point optimal? Answered from the problem alone, in float64, never believed from a solver.

Solves
    With g = Kβ + p, β is optimal iff it is feasible and there are multipliers λ (one per sum; 0 for ``Free``;
    ≤ 0 for ``SumAtMost``) such that g_i ≥ λ where β_i can only rise, g_i ≤ λ where it can only fall, and
    g_i = λ in between. For variables of one group:
        violation = max{λ_low − λ_high}   with   λ_low = max g_i over β_i > lower_i,
                                                 λ_high = min g_i over β_i < upper_i.
    The duality gap is the Wolfe gap  g'β − min{g'β' : β' feasible}, bounded through the multipliers:
        Σ_i (g_i − λ)β_i − min((g_i − λ) lower_i, (g_i − λ) upper_i)
    For a positive semi-definite K it bounds objective(β) − optimum from above.
    A gradient in float64 is not exact either: an entry of K whose argument is a small difference of large numbers may
    be wrong in its first digit, and a solver and a judge who share it agree on a wrong answer. The matrix bounds the
    error of Kβ from its formula (``product_rounding``). Where that bound is far below tol, nothing more is needed; else
    rows of Kβ are computed anew from arguments without cancellation (``careful_product``): all of them for few points,
    else those of the largest norms and of the largest |β| and some drawn at random (``recomputed_gradient``).
Given
    A ``Problem`` and β (and the gradient, when it was just computed in float64).
Returns
    ``Certificate``.
Reference
    Keerthi et al. (2001), Neural Computation 13:637, for the interval of the multiplier;
    Fan, Chen, Lin (2005), JMLR 6:1889, for the violation as a stopping rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askew.qp.matrix import Ability
from askew.qp.problem import Problem

if TYPE_CHECKING:
    from askew.qp.solution import Solution

Vector = NDArray[np.float64]

PROVED = 0.1
"""Part of tol that a proved bound of the rounding may take without a closer look."""
ALL_ROWS = 2000
"""Points up to which all rows are computed anew;"""
SOME_ROWS = 64
"""else so many of each kind."""


@dataclass(frozen=True)
class Certificate:
    """The judgement of a point.

    Attributes
    ----------
    objective : float
        ½ β'Kβ + p'β.
    violation : float
        Largest KKT violation, in units of the gradient; 0 at an optimum.
    duality_gap : float
        Upper bound of objective − optimum when K is positive semi-definite.
    infeasibility : float
        Largest breach of the box or of a sum, relative to their size.
    multipliers : tuple of float
        λ of each sum.
    """

    objective: float
    violation: float
    duality_gap: float
    infeasibility: float
    multipliers: tuple[float, ...]

    @property
    def relative_gap(self) -> float:
        """The duality gap in units of the objective."""
        return self.duality_gap / max(abs(self.objective), 1e-300)

    def is_optimal(self, tol: float, feasibility_tol: float = 1e-8) -> bool:
        """Whether the point is feasible and violates the KKT conditions by at most tol."""
        return self.violation <= tol and self.infeasibility <= feasibility_tol


def certify(problem: Problem, beta: Vector, gradient: Vector | None = None) -> Certificate:
    """Judge ``beta`` as a solution of ``problem``.

    Parameters
    ----------
    problem : Problem
    beta : array of shape (n,)
    gradient : array of shape (n,), optional
        Kβ + p in float64, to save the product when it has just been computed.

    Returns
    -------
    Certificate
    """
    beta = np.asarray(beta, dtype=np.float64)
    if gradient is None:
        gradient = problem.gradient(beta)
    slack = problem.constraint.slack
    violation, multipliers, gap = 0.0, [], 0.0
    lower, upper = _reachable(problem, problem.constraint.labels(problem.n))
    for mine, total in zip(problem.members(), problem.constraint.totals, strict=True):
        members = (gradient[mine], beta[mine], lower[mine], upper[mine])
        low, high = multiplier_interval(*members)
        if slack is not None:
            rounding = 1e-12 * max(abs(total), float(np.abs(members[1]).sum()))
            low, high = _with_slack(low, high, total - members[1].sum(), slack, rounding)
        violation = max(violation, low - high)
        multipliers.append(between(low, high) if slack is None or low < 0 else 0.0)
        gap += _wolfe_gap(*members, multipliers[-1])
    return Certificate(
        objective=problem.objective(beta, gradient),
        violation=float(violation),
        duality_gap=float(gap),
        infeasibility=infeasibility(problem, beta),
        multipliers=tuple(multipliers),
    )


def spread(problem: Problem, scores: Vector) -> float:
    """Standard deviation of the scores Kβ over the points, each counted by the size of its box.

    Parameters
    ----------
    problem : Problem
    scores : array of shape (n,)

    Returns
    -------
    float
        0 where every box is a single point.
    """
    weight = np.minimum(problem.upper - problem.lower, 1e300)
    total = float(weight.sum())
    if not total > 0:
        return 0.0
    return float(np.sqrt(max(0.0, float(weight @ (scores - weight @ scores / total) ** 2) / total)))


def relative_violation(problem: Problem, solution: Solution) -> float:
    """KKT violation of a solution, in units of the spread of its scores.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        With the certificate and the gradient that a solve ends with.

    Returns
    -------
    float
        Infinite where all scores are equal and the violation is not 0.
    """
    violation = max(0.0, solution.certificate.violation)
    if violation == 0.0:
        return 0.0
    unit = spread(problem, solution.gradient - problem.linear)
    return violation / unit if unit > 0 else np.inf


def recomputed_gradient(problem: Problem, beta: Vector, gradient: Vector, tol: float) -> Vector | None:
    """The gradient with rows that do not share the rounding of K; None where that is proved to be far below tol."""
    matrix: Any = problem.matrix
    if Ability.CAREFUL not in matrix.abilities or matrix.product_rounding(beta) <= PROVED * tol:
        return None
    rows = np.arange(problem.n)
    if problem.n > ALL_ROWS:
        drawn = np.random.default_rng(0).choice(problem.n, SOME_ROWS, replace=False)
        outer, heavy = (
            np.argpartition(-sizes, SOME_ROWS)[:SOME_ROWS] for sizes in (matrix.argument_sizes(), abs(beta))
        )
        rows = np.unique(np.concatenate([drawn, outer, heavy]))
    recomputed = gradient.copy()
    recomputed[rows] = matrix.careful_product(beta, rows) + problem.linear[rows]
    return recomputed


def multiplier_interval(gradient: Vector, beta: Vector, lower: Vector, upper: Vector) -> tuple[float, float]:
    """Largest gradient among variables that can fall, smallest among those that can rise."""
    low = np.max(gradient, where=beta > lower, initial=-np.inf)
    high = np.min(gradient, where=beta < upper, initial=np.inf)
    return float(low), float(high)


def infeasibility(problem: Problem, beta: Vector) -> float:
    """Largest breach of the box or of a sum, relative to the size of the box or of the sum."""
    lower, upper = problem.lower, problem.upper
    ends = [f(bound, initial=0.0, where=np.isfinite(bound)) for f in (np.min, np.max) for bound in (lower, upper)]
    scale = float(np.max(np.abs(ends))) or 1.0
    breach = max(float(np.max(lower - beta, initial=0.0)), float(np.max(beta - upper, initial=0.0))) / scale
    slack = problem.constraint.slack
    for members, total in zip(problem.members(), problem.constraint.totals, strict=True):
        mine = beta[members]
        excess = float(mine.sum()) - total
        if slack is not None:  # Σβ + s = total with s in its interval
            excess = max(slack[0] + excess, -excess - slack[1], 0.0)
        breach = max(breach, abs(excess) / max(float(np.abs(mine).sum()), abs(total), scale))
    return breach


def _with_slack(low: float, high: float, s: float, slack: tuple[float, float], rounding: float) -> tuple[float, float]:
    """Add the slack variable, whose gradient is 0, to the interval; s within rounding of its bound is at it."""
    if s > slack[0] + rounding:
        low = max(low, 0.0)
    return low, min(high, 0.0) if s < slack[1] else high


def between(low: float, high: float) -> float:
    """The middle of an interval; its finite end when the other is infinite, 0 when both are."""
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high
    return low if np.isinf(high) else 0.5 * (low + high)


def _reachable(problem: Problem, labels: NDArray[np.int64]) -> tuple[Vector, Vector]:
    """The box, its open upper ends closed by the sum of their group: β_i ≤ total − Σ of the others' lower."""
    lower, upper = problem.lower, problem.upper
    slack = problem.constraint.slack
    if not np.isinf(upper).any() or not np.isfinite(lower).all() or (slack is not None and np.isinf(slack[0])):
        return lower, upper
    totals = np.array(problem.constraint.totals)
    spare = totals - np.bincount(labels, lower, minlength=len(totals))
    return lower, np.where(np.isinf(upper), lower + np.maximum(spare, 0.0)[labels], upper)


def _wolfe_gap(gradient: Vector, beta: Vector, lower: Vector, upper: Vector, multiplier: float) -> float:
    """Σ (g − λ)(β − bound), the bound being the one that g − λ pushes β to."""
    reduced = gradient - multiplier
    bound = np.where(reduced >= 0, lower, upper)
    (away,) = np.nonzero((beta != bound) & (reduced != 0))  # few: most variables are where they are pushed to
    return float(reduced[away] @ (beta[away] - bound[away]))
