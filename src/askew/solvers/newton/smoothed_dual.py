"""All variables of a low-rank programme at once, by Newton steps on a smoothed dual; no features are held.

Solves
    minimise ½ β'Kβ + p'β + Σ_i δ/(2 w_i) (β_i − mid_i)²   subject to a box and to one of the sums of ``askew.qp``,
    w_i and mid_i the width and the middle of the box of i, for K = Z diag(a) Z' with features that are computed when
    they are asked for (``askew.kernels.recomputed``).
Given
    a start, its gradient about the multipliers, and δ. The dual has as many unknowns as Z has columns, and one per sum:
    v and λ. With g = Zv + p − λ every row answers by itself, β_i = clip(mid_i − g_i w_i/δ, lower_i, upper_i), and
        maximise −½ v'diag(a)⁻¹v + Σ_i min over the box of {g_i β_i + δ/(2 w_i) (β_i − mid_i)²} + λ'totals
    is concave, smooth, and piecewise quadratic: Newton steps with an exact line search. A step is two products with Z,
    and the features of the rows with |g_i| < δ/2, as many at a time as may be held.
Returns
    β, feasible, whose KKT violation without the smoothing is at most δ and what is left of the last step.
Stops when
    a whole step moves g by a small part of δ, or after a number of steps.
Reference
    Mangasarian, Musicant (2001), Lagrangian support vector machines, JMLR 1:161, for the smoothed dual;
    Keerthi, DeCoste (2005), A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 6:341.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from askew.arrays import row_precision
from askew.qp import Problem
from askew.qp.problem import Vector
from askew.solvers.start import feasible_start

_STEPS = 100
_SETTLED = 0.02  # of δ: a whole step that moves g by less is the last
_EMPTY = 1e-3  # of the mean density of g: curvature along λ where no row of a group is within reach
_FARTHEST = 2.0**20  # times the Newton step


def can_smooth(problem: Problem) -> bool:
    """Whether every variable has a box to answer in."""
    return bool(np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all())


def approach(
    problem: Problem,
    beta: Vector,
    reduced: Vector,
    delta: float,
    *,
    rows_held: int,
    on_round: Callable[[], bool] | None = None,
) -> tuple[Vector, int, bool]:
    """β at the optimum of the smoothed programme, how many variables were moved, and whether ``on_round`` said stop.

    Parameters
    ----------
    problem : Problem
        On ``askew.kernels.recomputed.Recomputed``.
    beta : array of shape (n,)
        Where to start.
    reduced : array of shape (n,)
        Kβ + p − λ there.
    delta : float
        δ, in units of the gradient.
    rows_held : int
        Rows of features in memory at a time.
    on_round : callable, optional
        Called after every step; returns whether to stop.
    """
    matrix: Any = problem.matrix
    run = _Smoothed(problem, delta, rows_held)
    v, g, moves = matrix.scales * matrix.combine(beta), reduced, 0
    for _ in range(_STEPS):
        found = run.step(v, g)
        if found is None:
            break
        dv, dg, length, count = found
        v, g, moves = v + length * dv, g + length * dg, moves + count
        if on_round is not None and on_round():
            return run.point(g), moves, True
        if length > 0.5 and length * float(np.max(np.abs(dg))) <= _SETTLED * delta:
            break
    return run.point(g), moves, False


class _Smoothed:
    """The smoothed dual at one δ."""

    def __init__(self, problem: Problem, delta: float, rows_held: int) -> None:
        self.problem, self.delta, self.rows_held = problem, delta, rows_held
        self.matrix: Any = problem.matrix
        self.width = problem.upper - problem.lower
        self.middle = 0.5 * (problem.lower + problem.upper)
        self.labels, self.totals = problem.constraint.labels(problem.n), np.array(problem.constraint.totals)

    def answer(self, g: Vector) -> Vector:
        """β of every row by its own g."""
        return np.clip(self.middle - g * (self.width / self.delta), self.problem.lower, self.problem.upper)

    def point(self, g: Vector) -> Vector:
        """The answer, its sums made exact by the variables that are strictly inside, where they can."""
        beta, problem = self.answer(g), self.problem
        for mine, total in zip(problem.members(), problem.constraint.totals, strict=True):
            part, lower, upper = beta[mine], problem.lower[mine], problem.upper[mine]
            missing = total - part.sum()
            room = (upper - part) if missing > 0 else (part - lower)
            room = np.where((part > lower) & (part < upper), room, 0.0)
            if 0 < abs(missing) < room.sum():
                beta[mine] = part + missing * room / room.sum()
        return feasible_start(problem, beta, g)

    def step(self, v: Vector, g: Vector) -> tuple[Vector, Vector, float, int] | None:
        """Step of v and of g, how far to go, and how many rows the curvature came from; None where no way is up."""
        beta, rank = self.answer(g), len(v)
        excess = np.bincount(self.labels, beta, minlength=len(self.totals)) - self.totals
        slope = np.append(v / self.matrix.scales - self.matrix.combine(beta), excess)
        H, count = self._curvature(g)
        try:
            direction = -cho_solve(cho_factor(H, overwrite_a=True, check_finite=False), slope, check_finite=False)
        except LinAlgError:
            return None
        if not np.isfinite(direction).all():
            return None
        dv, levels = direction[:rank], direction[rank:]
        dg = self.matrix.scores(dv) - levels[self.labels]
        length = self._length(v, dv, g, dg, float(self.totals @ levels))
        return None if length is None else (dv, dg, length, count)

    def _curvature(self, g: Vector) -> tuple[Vector, int]:
        """The Hessian over v and λ, from the rows that would move."""
        rank, groups = self.matrix.rank, np.arange(len(self.totals))
        H = np.zeros((rank + len(groups), rank + len(groups)))
        near = np.flatnonzero((np.abs(g) < 0.5 * self.delta) & (self.width > 0))
        for first in range(0, len(near), self.rows_held):
            rows = near[first : first + self.rows_held]
            root = np.sqrt(self.width[rows] / self.delta)[:, None]
            held = self.matrix.gather(rows, row_precision(len(rows), self.delta, 1.0)).features
            M = np.hstack([held * root, -root * (self.labels[rows][:, None] == groups)])
            H += M.T @ M
        diagonal = np.einsum("ii->i", H)
        diagonal[:rank] += 1.0 / self.matrix.scales
        spread = max(float(np.ptp(g)), self.delta)
        density = np.bincount(self.labels, self.width, minlength=len(groups)) / spread
        diagonal[rank:] = np.maximum((1.0 + 1e-12) * diagonal[rank:], _EMPTY * density + 1e-300)
        return H, len(near)

    def _length(self, v: Vector, dv: Vector, g: Vector, dg: Vector, totals: float) -> float | None:
        """Where the dual is highest along a step: its derivative is piecewise linear and falls."""
        along, bend = float((v / self.matrix.scales) @ dv), float((dv / self.matrix.scales) @ dv)

        def fall(t: float) -> float:
            return along + t * bend - float(self.answer(g + t * dg) @ dg) - totals

        at_start, at_end = fall(0.0), fall(1.0)
        if not at_start < 0.0:
            return None
        if abs(at_end) <= 1e-3 * abs(at_start):
            return 1.0
        first, last = 0.0, 1.0
        while fall(last) < 0.0:
            first, last = last, 2.0 * last
            if last > _FARTHEST:
                return None
        return float(brentq(fall, first, last, xtol=1e-12, rtol=1e-3))
