"""Dual coordinate descent on points: for programmes whose matrix is one of inner products and too large to store.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper,   K_ij = z_i'z_j (+ a few signed columns).
Given
    A ``Problem`` with constraint ``Free`` and a matrix that offers ``POINTS``: the points, dense or sparse,
    and the signed columns of an implicit centring or low-rank correction. Memory is that of the points.
    Sweeps are slow where many points overlap. Once they have cost as much as a leap would, there is one: on dense
    points the interior point method (``interior``), on sparse points a Newton step over the variables inside their box.
    What sweeps find on dense points is ``settled`` in the end.
Returns
    ``Solution``; n_iter counts sweeps over the points, n_outer the rounds of them.
Stops when
    the KKT violation is at most tol on a gradient computed anew, or after max_iter sweeps.
Reference
    Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), A dual coordinate descent method for large-scale linear SVM.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.qp import Problem, Solution, certify
from askew.qp.problem import Vector
from askew.solvers.coordinate.sweeps import sweep_dense, sweep_sparse
from askew.solvers.explicit.box import solve_formed
from askew.solvers.explicit.box_rounds import move_inside
from askew.solvers.newton.interior import interior_point, price, settle
from askew.solvers.request import Kept, Request
from askew.solvers.status import judge

LARGEST_FORMED = 4096  # points whose matrix may be formed: 128 MiB of float64
_FEW = 20  # sweeps that always come first
_MOST = 1000  # full sweeps whose work is the limit where none is given
_PRODUCTS = 8  # times faster than sweeps, per operation, are the products and factorisations of a leap
_LARGEST = 2048  # variables of a Newton step
_EXACT = 1e-6  # a few steps more, from which the interior point method finds the bounds themselves
_ROUNDING = 1e-13  # of a margin: a violation as small as this is none
_EARLY = 2**18  # points up to which a leap, being exact, comes before it is the cheaper way


def solve_on_points(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem``, box only, to a KKT violation of ``request.tol``; ``max_iter`` counts sweeps.

    What sweeps do slowly on few points of full rank, which is badly conditioned, the Newton steps on a formed matrix
    do at once: they end it where no limit of sweeps was given.
    """
    found = _sweep(problem, request)
    matrix: Any = problem.matrix
    has_rank = matrix.inner_points().shape[1] >= problem.n
    if found.status.has_converged or request.max_iter >= 0 or problem.n > LARGEST_FORMED or not has_rank:
        return found
    return solve_formed(problem, replace(request, start=found.beta), kept)


def _sweep(problem: Problem, request: Request) -> Solution:
    start = np.zeros(problem.n) if request.start is None else request.start
    tol, limit = request.tol, request.step_limit
    run = _Run(problem, np.clip(start, problem.lower, problem.upper), tol)
    sweeps, rounds, inner_tol, pace = 0, 0, 0.5 * tol, _FEW
    while True:
        # the descent judges itself on gradients seen while moving; the certificate on one computed at rest
        done = run.sweep(inner_tol, min(pace, limit - sweeps))
        sweeps, rounds = sweeps + done, rounds + 1
        gradient = problem.gradient(run.beta)
        certificate = certify(problem, run.beta, gradient)
        is_over = sweeps >= limit or (request.max_iter < 0 and run.work >= _MOST)
        if certificate.violation <= tol or is_over or inner_tol < 1e-4 * tol:
            break
        if done < pace:
            inner_tol *= 0.3
        elif run.is_leap_due(sweeps):
            run.leap(gradient)
            pace = _FEW
        else:
            pace *= 2
    settled = run.settled() if _ROUNDING < certificate.violation <= tol else None
    if settled is not None:
        its_gradient = problem.gradient(settled)
        its_certificate = certify(problem, settled, its_gradient)
        if its_certificate.violation <= certificate.violation:
            run.beta, gradient, certificate = settled, its_gradient, its_certificate
    status = judge(problem, certificate, tol, has_run_out=is_over)
    return Solution(run.beta, gradient, status, certificate, sweeps, rounds, {})


class _Run:
    """β and the sums Z'β that sweeps keep."""

    def __init__(self, problem: Problem, beta: Vector, tol: float) -> None:
        self.problem, self.beta, self.tol = problem, beta, tol
        z = problem.matrix.inner_points()  # type: ignore[attr-defined]
        self.points, self.columns, self.signs = z.rows, z.columns, z.signs
        diagonal = problem.matrix.diagonal()
        self.diagonal = np.maximum(diagonal, 1e-15 * max(1e-300, float(np.max(diagonal, initial=0.0))))
        self.is_sparse = sparse.issparse(self.points)
        self.work = self.work_since_leap = 0.0  # in full sweeps: points that rest cost nothing
        self.has_leapt = False
        self._add_up()

    def sweep(self, tol: float, limit: int) -> int:
        """Sweeps over the points until their violation is at most ``tol``; how many."""
        problem = self.problem
        state = (self.beta, problem.lower, problem.upper, tol, limit)
        if self.is_sparse:
            rows = (self.points.data, self.points.indices, self.points.indptr, self.columns, self.signs)
            done, _, looks = sweep_sparse(*rows, problem.linear, self.diagonal, self.v, self.u, *state)
        else:
            done, _, looks = sweep_dense(self.points, problem.linear, self.diagonal, self.v, *state)
        self.work += looks / problem.n
        self.work_since_leap += looks / problem.n
        return int(done)

    def is_leap_due(self, sweeps: int) -> bool:
        """Whether the sweeps since the last leap have cost as much as one would."""
        n, d = self.points.shape
        if self.is_sparse:  # half the products of m rows, and a third of m³
            m, entries = len(self._inside()), self.points.nnz / n
            operations = m * m * entries / 2 + m**3 / 3
            return 0 < m <= _LARGEST and operations <= 2 * _PRODUCTS * n * entries * self.work_since_leap
        upper, lower = self.problem.upper, self.problem.lower
        if self.has_leapt or not (np.isfinite(upper).all() and (upper > lower).all()):
            return False
        return self.work_since_leap >= price(d) or (n <= _EARLY and sweeps >= 1.5 * d)

    def leap(self, gradient: Vector) -> None:
        """Far ahead at once: to near the optimum on dense points, by a Newton step on sparse ones."""
        problem, self.has_leapt, self.work_since_leap = self.problem, True, 0.0
        if self.is_sparse:
            inside = self._inside()
            block = problem.matrix.subset(inside).filled()  # type: ignore[attr-defined]
            move_inside(block, np.trace(block), inside, gradient, self.beta, problem.lower, problem.upper)
        else:
            tol = min(self.tol, _EXACT)
            self.beta[:] = interior_point(self.points, problem.linear, problem.lower, problem.upper, tol)
        self._add_up()

    def settled(self) -> Vector | None:
        """The optimum itself, on dense points and where finding it costs less than the sweeps did."""
        if self.is_sparse or not np.isfinite(self.problem.upper).all():
            return None
        n, d = self.points.shape
        m = len(self._inside())
        if 20 * m * d * min(m, d) > 2 * _PRODUCTS * n * d * self.work:
            return None
        return settle(self.points, self.problem.linear, self.problem.lower, self.problem.upper, self.beta)

    def _inside(self) -> NDArray[np.int64]:
        return np.flatnonzero((self.beta > self.problem.lower) & (self.beta < self.problem.upper))

    def _add_up(self) -> None:
        self.v = np.asarray(self.points.T @ self.beta, dtype=np.float64)
        self.u = self.columns.T @ self.beta
