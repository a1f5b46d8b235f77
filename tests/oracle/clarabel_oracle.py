"""The answer of a generic interior-point solver to a programme of askew.

Solves
    minimise ½ β'Kβ + p'β, lower ≤ β ≤ upper, and the sums of the constraint, with K formed whole in float64.
    β is measured in its own unit first, so that a box of 1e-5 or a kernel of 1e8 asks the same accuracy.
Given
    ``askew.qp.Problem`` of at most a few hundred variables.
Returns
    (β, objective), with β moved into the box and the objective recomputed from the problem's own matrix.
"""

from __future__ import annotations

from functools import cache

import clarabel
import numpy as np
from oracle.zoo import draw
from scipy import sparse

from askew.qp import Problem, certify


@cache
def answered(shape: str, seed: int) -> tuple[Problem, np.ndarray, float]:
    """A problem of the zoo with its β and objective, solved once per process."""
    problem = draw(shape, seed)
    return problem, *solve_with_clarabel(problem)


def solve_with_clarabel(problem: Problem) -> tuple[np.ndarray, float]:
    """Solve densely to about ten digits.

    Clarabel's own status is not believed: ``askew.qp.certify`` judges its answer like any other, and where
    that is not content, Clarabel is asked again with β in another unit, or without the bounds that are out of
    reach. The best answer is returned.
    """
    K = problem.matrix.rows(np.arange(problem.n))
    K = 0.5 * (K + K.T)
    best, least = np.zeros(problem.n), np.inf
    for factor, reach in ((1.0, np.inf), (30.0, np.inf), (1000.0, np.inf), (1.0, 1000.0)):
        unit = variable_unit(problem)
        beta = _attempt(problem, K, factor * unit, reach * unit)
        verdict = certify(problem, beta)
        if verdict.infeasibility <= 1e-10 and verdict.violation < least:
            best, least = beta, verdict.violation
        if least <= 1e-7 * gradient_unit(problem):
            break
    return best, float(0.5 * best @ K @ best + problem.linear @ best)


def _attempt(problem: Problem, K: np.ndarray, unit: float, reach: float) -> np.ndarray:
    height = unit * gradient_unit(problem)
    rows = _Rows(problem, reach)
    A, b, cones = rows.stacked(unit)
    P = sparse.csc_matrix(np.triu(K * (unit * unit / height)))
    answer = clarabel.DefaultSolver(P, problem.linear * (unit / height), A, b, cones, _settings()).solve()
    return rows.onto_bounds(unit * np.asarray(answer.x), np.asarray(answer.z) > np.asarray(answer.s))


def variable_unit(problem: Problem) -> float:
    """The size β can be expected to have: that of its box, of its sum, or where p and K balance."""
    width = float(np.max(np.maximum(np.abs(problem.lower), np.abs(problem.upper)))) or 1.0
    if np.any(problem.constraint.totals):
        width = min(width, float(np.abs(problem.constraint.totals).max()))
    curvature, slope = float(problem.matrix.diagonal().mean()), float(np.abs(problem.linear).max())
    if slope > 0 and curvature > 0:
        width = min(width, slope / curvature)
    return width if np.isfinite(width) else 1.0


def gradient_unit(problem: Problem) -> float:
    """The size Kβ + p can be expected to have: that of p, or without p that of K times the unit of β."""
    slope = float(np.abs(problem.linear).max())
    return slope or variable_unit(problem) * float(problem.matrix.diagonal().mean()) or 1.0


def objective_scale(problem: Problem, beta: np.ndarray, objective: float) -> float:
    """What an error of the objective is relative to: the objective itself.

    Without a linear term the optimum may be 0 (the hulls of two classes that meet), reached only through
    cancellation; there it is the terms β_i² K_ii / 2 that do not cancel.
    """
    rounding = 1e-5 * variable_unit(problem) * gradient_unit(problem)
    if np.any(problem.linear):
        return max(abs(objective), rounding)
    return max(abs(objective), 0.5 * float(beta**2 @ np.abs(problem.matrix.diagonal())), rounding)


class _Rows:
    """Aβ + s = b: s = 0 for sums and fixed variables, s ≥ 0 for bounds and an inequality."""

    def __init__(self, problem: Problem, reach: float) -> None:
        self.problem = problem
        labels, slack = problem.constraint.labels(problem.n), problem.constraint.slack
        groups = [(labels == g, total) for g, total in enumerate(problem.constraint.totals)]
        free = slack is not None and np.isinf(slack[0])
        self.sums = [] if free else [(mine, total) for mine, total in groups if mine.any()]
        self.is_inequality = slack is not None
        self.fixed = problem.lower == problem.upper
        self.above = np.flatnonzero(~self.fixed & np.isfinite(problem.upper) & (problem.upper <= reach))
        self.below = np.flatnonzero(~self.fixed & (problem.lower >= -reach))

    def stacked(self, unit: float) -> tuple[sparse.csc_matrix, np.ndarray, list]:
        """A, b and the cones for β measured in ``unit``."""
        problem, one = self.problem, sparse.identity(self.problem.n, format="csr")
        sums = sparse.csr_matrix(np.array([mine for mine, _ in self.sums], dtype=float).reshape(-1, problem.n))
        blocks = [one[self.fixed], one[self.above], -one[self.below]]
        bounds = [problem.lower[self.fixed], problem.upper[self.above], -problem.lower[self.below]]
        place = len(blocks) if self.is_inequality else 0
        blocks.insert(place, sums)
        bounds.insert(place, np.array([total for _, total in self.sums]))
        A, b = sparse.vstack(blocks, format="csc"), np.concatenate(bounds) / unit
        self.n_equal = blocks[0].shape[0] + (0 if self.is_inequality else blocks[1].shape[0])
        return A, b, [clarabel.ZeroConeT(self.n_equal), clarabel.NonnegativeConeT(len(b) - self.n_equal)]

    def onto_bounds(self, beta: np.ndarray, is_binding: np.ndarray) -> np.ndarray:
        """Move variables whose bound binds exactly onto it, and mend the sums that bind with the others."""
        problem, start = self.problem, self.n_equal
        beta = np.clip(beta, problem.lower, problem.upper)
        at_upper = self.above[is_binding[start : start + len(self.above)]]
        start += len(self.above)
        at_lower = self.below[is_binding[start : start + len(self.below)]]
        beta[at_upper], beta[at_lower] = problem.upper[at_upper], problem.lower[at_lower]
        loose = ~self.fixed
        loose[at_upper] = loose[at_lower] = False
        for mine, total in self.sums:
            movable = mine & loose
            if movable.any() and (not self.is_inequality or is_binding[-1]):
                beta[movable] -= (beta[mine].sum() - total) / movable.sum()
        return np.clip(beta, problem.lower, problem.upper)


def _settings() -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 500
    settings.max_threads = 1
    return settings
