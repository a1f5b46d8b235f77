"""Dual coordinate descent on points: for programmes whose matrix is one of inner products and too large to store.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper,   K_ij = z_i'z_j (+ a few signed columns).
Given
    A ``Problem`` with constraint ``Free`` and a matrix that offers ``inner_points()``: the points, dense or sparse,
    and the signed columns of an implicit centring or low-rank correction. Memory is that of the points.
    Sweeps are slow where many points overlap. Once they have cost as much as a leap would, there is one: on dense
    points the interior point method (``interior``), on sparse points a Newton step over the variables inside their box.
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
_PRODUCTS = 8  # times faster than sweeps, per operation, are the products and factorisations of a leap
_LARGEST = 2048  # variables of a Newton step
_EXACT = 1e-6  # a few steps more, from which the interior point method finds the bounds themselves


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
        Limit of sweeps; -1 for none.
    """
    if not isinstance(problem.constraint, Free):
        raise ParameterError("Coordinate descent takes a box alone; give sums to askew.solvers.working_set.")
    run = _Run(problem, np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper), tol)
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    sweeps, rounds, inner_tol, pace, since = 0, 0, 0.5 * tol, _FEW, 0
    while True:
        # the descent judges itself on gradients seen while moving; the certificate on one computed at rest
        done = run.sweep(inner_tol, min(pace, limit - sweeps))
        sweeps, since, rounds = sweeps + done, since + done, rounds + 1
        gradient = problem.gradient(run.beta)
        certificate = certify(problem, run.beta, gradient)
        if certificate.violation <= tol or sweeps >= limit or inner_tol < 1e-4 * tol:
            break
        if done < pace:
            inner_tol *= 0.3
            continue
        price = run.sweeps_of_a_leap()
        if price <= since:
            run.leap(gradient)
            price, since = run.sweeps_of_a_leap(), 0
        pace = int(min(max(_FEW, np.ceil(price) - since), limit))
    is_good = certificate.violation <= tol
    status = Status.OPTIMAL if is_good else Status.MAX_ITER if sweeps >= limit else Status.STALLED
    return Solution(run.beta, gradient, status, certificate, sweeps, rounds, {})


class _Run:
    """β and the sums Z'β that sweeps keep."""

    def __init__(self, problem: Problem, beta: Vector, tol: float) -> None:
        self.problem, self.beta, self.tol = problem, beta, tol
        self.points, self.columns, self.signs = problem.matrix.inner_points()  # type: ignore[attr-defined]
        diagonal = problem.matrix.diagonal()
        self.diagonal = np.maximum(diagonal, 1e-15 * max(1e-300, float(np.max(diagonal, initial=0.0))))
        self.is_sparse, self.has_leapt = sparse.issparse(self.points), False
        self._add_up()

    def sweep(self, tol: float, limit: int) -> int:
        """Sweeps over the points until their violation is at most ``tol``; how many."""
        from askew.solvers import descent

        problem = self.problem
        state = (self.beta, problem.lower, problem.upper, tol, limit)
        if not self.is_sparse:
            return int(descent.sweep_dense(self.points, problem.linear, self.diagonal, self.v, *state)[0])
        rows = (self.points.data, self.points.indices, self.points.indptr, self.columns, self.signs)
        return int(descent.sweep_sparse(*rows, problem.linear, self.diagonal, self.v, self.u, *state)[0])

    def sweeps_of_a_leap(self) -> float:
        """How many sweeps cost as much as a leap; infinite where there is none."""
        if not self.is_sparse:
            from askew.solvers.interior import STEPS

            has_inside = bool(np.isfinite(self.problem.upper).all() and (self.problem.upper > self.problem.lower).all())
            return STEPS * self.points.shape[1] / (2 * _PRODUCTS) if has_inside and not self.has_leapt else np.inf
        m, entries = len(self._inside()), self.points.nnz / self.problem.n
        # half the products of m rows and a third of m³, against sweeps over no more than those m
        return (m * entries / 2 + m * m / 3) / (2 * _PRODUCTS * entries) if 0 < m <= _LARGEST else np.inf

    def leap(self, gradient: Vector) -> None:
        """Far ahead at once: to near the optimum on dense points, by a Newton step on sparse ones."""
        problem, self.has_leapt = self.problem, True
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

    def _inside(self) -> NDArray[np.int64]:
        return np.flatnonzero((self.beta > self.problem.lower) & (self.beta < self.problem.upper))

    def _add_up(self) -> None:
        self.v = np.asarray(self.points.T @ self.beta, dtype=np.float64)
        self.u = self.columns.T @ self.beta
