"""A box and a matrix small enough to store: coordinate descent that a Newton step finishes.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   (constraint ``Free``).
Given
    A ``Problem`` whose K fits in memory (it is read whole, once).
    Rounds of greedy coordinate descent find which variables sit at a bound; between rounds one Newton step over the
    variables strictly inside, cut where it meets the box, does what coordinates do slowly when K is badly conditioned.
Returns
    ``Solution``; n_iter counts coordinate steps, n_outer the rounds.
Stops when
    the KKT violation is at most tol, after max_iter coordinate steps, or when neither kind of step moves any more.
Reference
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from askew.exceptions import ParameterError
from askew.qp import Free, Problem, Solution, Status, certify

Vector = NDArray[np.float64]
_POLISH = 1e-6  # the last Newton step costs little and leaves an error this far below the tolerance
_ROUNDS = 1000  # far more than any problem has needed; a bound on time, not a tuning knob


def solve(
    problem: Problem, *, start: Vector | None = None, tol: float = 1e-3, max_iter: int = -1, stored: Any = None
) -> Solution:
    """Solve ``problem``, box only, to a KKT violation of ``tol``.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n,), optional
        A warm start; it is cut to the box.
    tol : float
    max_iter : int
        Limit of coordinate steps; -1 for none.
    stored : array of shape (n, n), optional
        K in float64 when it is at hand.
    """
    from askew.solvers.descent import descend_stored

    if not isinstance(problem.constraint, Free):
        raise ParameterError("Coordinate descent takes a box alone; give sums to askew.solvers.working_set.")
    K = problem.matrix.rows(np.arange(problem.n)) if stored is None else stored
    beta = np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper)
    # a row of zeros (a positive at the mean) has a linear objective: the least curvature that sends it to its bound
    diagonal = np.maximum(np.diagonal(K), 1e-15 * max(1e-300, float(np.max(np.diagonal(K), initial=0.0))))
    limit = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
    g, steps, rounds, last, aim = K @ beta + problem.linear, 0, 0, np.inf, 0.5 * tol
    while rounds < _ROUNDS:
        # rounds of coordinates are short: where they are slow, the Newton step between them is not
        pace = min(2 * problem.n + 20, limit - steps)
        done, violation = descend_stored(K, diagonal, g, beta, problem.lower, problem.upper, aim, pace)
        steps, rounds = steps + done, rounds + 1
        if violation > aim * _POLISH:
            _step_inside(K, g, beta, problem.lower, problem.upper)
        g = K @ beta + problem.linear
        certificate = certify(problem, beta, g)
        if certificate.violation <= tol or steps >= limit:
            break
        if done == 0 and not certificate.violation < last:
            return Solution(beta, g, Status.STALLED, certificate, steps, rounds, {})
        last = certificate.violation
    status = _status(problem, certificate.violation <= tol)
    return Solution(beta, g, status, certificate, steps, rounds, {})


def _status(problem: Problem, is_good: bool) -> Status:
    if not is_good:
        return Status.MAX_ITER
    return Status.STATIONARY if problem.matrix.is_psd is False else Status.OPTIMAL


def _step_inside(K: Any, g: Vector, beta: Vector, lower: Vector, upper: Vector) -> None:
    """Newton step over the variables strictly inside their box, as far as the box allows."""
    inside = np.flatnonzero((beta > lower) & (beta < upper))
    if len(inside) == 0:
        return
    block = K[np.ix_(inside, inside)].copy()
    block.flat[:: len(inside) + 1] += 1e-13 * np.trace(block) / len(inside)
    try:
        direction = -cho_solve(cho_factor(block, overwrite_a=True, check_finite=False), g[inside], check_finite=False)
    except LinAlgError:  # an indefinite kernel: coordinates alone go on
        return
    if not np.isfinite(direction).all():
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0, upper[inside] - beta[inside], lower[inside] - beta[inside]) / direction
    length = min(1.0, float(np.min(room[direction != 0], initial=1.0)))
    beta[inside] = np.clip(beta[inside] + length * direction, lower[inside], upper[inside])
