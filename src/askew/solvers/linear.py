"""Dual coordinate descent on points: for programmes whose matrix is one of inner products and too large to store.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper,   K_ij = z_i'z_j (+ a few signed columns).
Given
    A ``Problem`` with constraint ``Free`` and a matrix that offers ``inner_points()``: the points, dense or sparse,
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

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import ParameterError
from askew.qp import Free, Problem, Solution, Status, certify

Vector = NDArray[np.float64]

_FEW = 20  # sweeps that always come first
_MOST = 1000  # full sweeps whose work is the limit where none is given
_PRODUCTS = 8  # times faster than sweeps, per operation, are the products and factorisations of a leap
_LARGEST = 2048  # variables of a Newton step
_EXACT = 1e-6  # a few steps more, from which the interior point method finds the bounds themselves
_ROUNDING = 1e-13  # of a margin: a violation as small as this is none
_EARLY = 2**18  # points up to which a leap, being exact, comes before it is the cheaper way


def solve(problem: Problem, *, start: Vector | None = None, tol: float = 1e-3, max_iter: int = 1000) -> Solution:
    """Solve ``problem``, box only and linear, to a KKT violation of ``tol``.

    Parameters
    ----------
    problem : Problem
        Its matrix must be a linear :class:`askew.kernels.whitened.WhitenedGram`.
    start : array of shape (n,), optional
        A warm start; it is cut to the box.
    tol : float
    max_iter : int
        Limit of sweeps; -1 for as many as take the work of a thousand full ones.
    """
    if not isinstance(problem.constraint, Free):
        raise ParameterError("Coordinate descent takes a box alone; give sums to askew.solvers.working_set.")
    run = _Run(problem, np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper), tol)
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    sweeps, rounds, inner_tol, pace = 0, 0, 0.5 * tol, _FEW
    while True:
        # the descent judges itself on gradients seen while moving; the certificate on one computed at rest
        done = run.sweep(inner_tol, min(pace, limit - sweeps))
        sweeps, rounds = sweeps + done, rounds + 1
        gradient = problem.gradient(run.beta)
        certificate = certify(problem, run.beta, gradient)
        is_over = sweeps >= limit or (max_iter < 0 and run.work >= _MOST)
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
    is_good = certificate.violation <= tol
    status = Status.OPTIMAL if is_good else Status.MAX_ITER if is_over else Status.STALLED
    return Solution(run.beta, gradient, status, certificate, sweeps, rounds, {}).confirmed(problem, tol)


class _Run:
    """β and the sums Z'β that sweeps keep."""

    def __init__(self, problem: Problem, beta: Vector, tol: float) -> None:
        self.problem, self.beta, self.tol = problem, beta, tol
        self.points, self.columns, self.signs = problem.matrix.inner_points()  # type: ignore[attr-defined]
        diagonal = problem.matrix.diagonal()
        self.diagonal = np.maximum(diagonal, 1e-15 * max(1e-300, float(np.max(diagonal, initial=0.0))))
        self.is_sparse = sparse.issparse(self.points)
        self.work = self.work_since_leap = 0.0  # in full sweeps: points that rest cost nothing
        self.has_leapt = False
        self._add_up()

    def sweep(self, tol: float, limit: int) -> int:
        """Sweeps over the points until their violation is at most ``tol``; how many."""
        from askew.solvers import descent

        problem = self.problem
        state = (self.beta, problem.lower, problem.upper, tol, limit)
        if self.is_sparse:
            rows = (self.points.data, self.points.indices, self.points.indptr, self.columns, self.signs)
            done, _, looks = descent.sweep_sparse(*rows, problem.linear, self.diagonal, self.v, self.u, *state)
        else:
            done, _, looks = descent.sweep_dense(self.points, problem.linear, self.diagonal, self.v, *state)
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
        from askew.solvers.interior import price

        upper, lower = self.problem.upper, self.problem.lower
        if self.has_leapt or not (np.isfinite(upper).all() and (upper > lower).all()):
            return False
        return self.work_since_leap >= price(d) or (n <= _EARLY and sweeps >= 1.5 * d)

    def leap(self, gradient: Vector) -> None:
        """Far ahead at once: to near the optimum on dense points, by a Newton step on sparse ones."""
        problem, self.has_leapt, self.work_since_leap = self.problem, True, 0.0
        if self.is_sparse:
            from askew.solvers.box_newton import move_inside

            inside = self._inside()
            block = problem.matrix.subset(inside).filled()  # type: ignore[attr-defined]
            move_inside(block, np.trace(block), inside, gradient, self.beta, problem.lower, problem.upper)
        else:
            from askew.solvers.interior import interior_point

            tol = min(self.tol, _EXACT)
            self.beta[:] = interior_point(self.points, problem.linear, problem.lower, problem.upper, tol)
        self._add_up()

    def settled(self) -> Vector | None:
        """The optimum itself, on dense points and where finding it costs less than the sweeps did."""
        if self.is_sparse or not np.isfinite(self.problem.upper).all():
            return None
        from askew.solvers.interior import settle

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
