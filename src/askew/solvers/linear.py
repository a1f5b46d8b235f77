"""Dual coordinate descent on points: for programmes whose matrix is one of inner products and too large to store.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper,   K_ij = z_i'z_j (+ a few signed columns).
Given
    A ``Problem`` with constraint ``Free`` and a matrix that offers ``inner_points()``: the points, dense or sparse,
    and the signed columns of an implicit centring or low-rank correction. Memory is that of the points.
Returns
    ``Solution``; n_iter counts sweeps over the points.
Stops when
    the KKT violation is at most tol on a gradient computed anew, or after max_iter sweeps.
Reference
    Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), A dual coordinate descent method for large-scale linear SVM.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.exceptions import ParameterError
from askew.qp import Free, Problem, Solution, Status, certify

Vector = NDArray[np.float64]


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
    beta = np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper)
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    sweep = _sweeper(problem, beta)
    sweeps, rounds, inner_tol = 0, 0, 0.5 * tol
    while True:
        # the descent judges itself on gradients seen while moving; the certificate on one computed at rest
        sweeps += sweep(inner_tol, limit - sweeps)
        rounds += 1
        gradient = problem.gradient(beta)
        certificate = certify(problem, beta, gradient)
        if certificate.violation <= tol or sweeps >= limit or inner_tol < 1e-4 * tol:
            break
        inner_tol *= 0.3
    is_good = certificate.violation <= tol
    status = Status.OPTIMAL if is_good else Status.MAX_ITER if sweeps >= limit else Status.STALLED
    return Solution(beta, gradient, status, certificate, sweeps, rounds, {})


def _sweeper(problem: Problem, beta: Vector) -> Any:
    """A function (tol, max_sweeps) → sweeps that moves ``beta`` in place."""
    from askew.solvers import descent

    points, columns, signs = problem.matrix.inner_points()  # type: ignore[attr-defined]
    diagonal = problem.matrix.diagonal()
    diagonal = np.maximum(diagonal, 1e-15 * max(1e-300, float(np.max(diagonal, initial=0.0))))
    box = (beta, problem.lower, problem.upper)
    v = np.asarray(points.T @ beta, dtype=np.float64) if beta.any() else np.zeros(points.shape[1])
    if not sparse.issparse(points):
        return lambda tol, limit: descent.sweep_dense(points, problem.linear, diagonal, v, *box, tol, limit)[0]
    u = columns.T @ beta
    rows = (points.data, points.indices, points.indptr, columns, signs)
    return lambda tol, limit: descent.sweep_sparse(*rows, problem.linear, diagonal, v, u, *box, tol, limit)[0]
