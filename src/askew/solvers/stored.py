"""A box and a matrix small enough to store: coordinate descent that a Newton step finishes; one programme,
many side by side, or one after the other.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   (constraint ``Free``).
Given
    A ``Problem`` whose K fits in memory (it is read whole, once). Or many with p = −1 and lower = 0: each with its own
    K, or all with the same.
Returns
    ``Solution``; n_iter counts coordinate steps, n_outer the rounds between Newton steps.
Stops when
    the KKT violation is at most tol, after max_iter coordinate steps, or when neither kind of step moves any more.
Reference
    Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError
from askew.qp import Certificate, Free, Problem, Solution, Status, certify
from askew.threads import workers

Vector = NDArray[np.float64]
_UNLIMITED = np.iinfo(np.int64).max


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
    from askew.solvers.box_newton import solve_box

    if not isinstance(problem.constraint, Free):
        raise ParameterError("Coordinate descent takes a box alone; give sums to askew.solvers.working_set.")
    K = problem.matrix.rows(np.arange(problem.n)) if stored is None else stored
    beta = np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper)
    g = np.empty(problem.n)
    limit = max_iter if max_iter >= 0 else _UNLIMITED
    steps, rounds, ending = solve_box(K, problem.linear, problem.lower, problem.upper, beta, g, tol, limit)
    certificate = certify(problem, beta, g)
    status = _status(ending, certificate.violation <= tol, problem.matrix.is_psd)
    return Solution(beta, g, status, certificate, steps, rounds, {}).confirmed(problem, tol)


def solve_each(
    matrices: Vector, first: NDArray[np.int64], upper: Vector, tols: Vector, max_iter: int = -1
) -> list[Solution]:
    """Solve many small programmes with p = −1 and lower = 0 at once; each as ``solve`` would.

    Parameters
    ----------
    matrices : array
        The K of all programmes, positive semi-definite, one after the other.
    first : array of shape (n_programmes + 1,)
        Where the variables of each programme begin.
    upper : array of shape (n_variables,)
    tols : array of shape (n_programmes,)
    max_iter : int
    """
    from askew.solvers.box_newton import solve_boxes

    p, lower, beta, g = _unit_programmes(len(upper))
    endings = np.zeros((len(tols), 3), np.int64)
    limit = max_iter if max_iter >= 0 else _UNLIMITED

    def work(begin: int, end: int) -> None:
        solve_boxes(matrices, first, p, lower, upper, beta, g, tols, limit, begin, end, endings)

    with workers() as pool:
        pool.map(work, _shares(first, 2 * pool.count))
    return _solutions(first, upper, beta, g, tols, endings)


def solve_path(K: Vector, uppers: Vector, tol: float, max_iter: int = -1) -> list[Solution]:
    """Solve programmes with the same K, p = −1 and lower = 0 one after the other, each started from the last.

    Parameters
    ----------
    K : array of shape (n, n)
        Positive semi-definite.
    uppers : array of shape (n_programmes, n)
    tol : float
    max_iter : int
    """
    from askew.solvers.box_newton import solve_box

    count, n = uppers.shape
    p, lower, beta, g = _unit_programmes(uppers.size)
    endings, first = np.zeros((count, 3), np.int64), np.arange(count + 1) * n
    limit = max_iter if max_iter >= 0 else _UNLIMITED
    for k in range(count):
        mine = slice(k * n, (k + 1) * n)
        if k > 0:
            np.minimum(beta[(k - 1) * n : k * n], uppers[k], out=beta[mine])
        endings[k] = solve_box(K, p[mine], lower[mine], uppers[k], beta[mine], g[mine], tol, limit)
    return _solutions(first, uppers.ravel(), beta, g, np.full(count, tol), endings)


def _unit_programmes(n: int) -> tuple[Vector, Vector, Vector, Vector]:
    """p, lower, β to start from, and room for the gradient."""
    return -np.ones(n), np.zeros(n), np.zeros(n), np.empty(n)


def _solutions(
    first: NDArray[np.int64], upper: Vector, beta: Vector, g: Vector, tols: Vector, endings: NDArray[np.int64]
) -> list[Solution]:
    found = []
    for k, (violation, gap, objective) in enumerate(zip(*_judged(first, upper, beta, g), strict=True)):
        mine, (steps, rounds, ending) = slice(first[k], first[k + 1]), endings[k].tolist()
        certificate = Certificate(objective, violation, gap, 0.0, (0.0,))
        status = _status(ending, violation <= tols[k], True)
        found.append(Solution(beta[mine], g[mine], status, certificate, steps, rounds, {}))
    return found


def _judged(first: NDArray[np.int64], upper: Vector, beta: Vector, g: Vector) -> tuple[list[float], ...]:
    """Violation, gap and objective of every programme from its β and a gradient computed anew, as ``certify`` has them.

    With p = −1 and lower = 0 the objective is ½β'(g − 1); no sum binds, so every multiplier is 0.
    """
    starts = first[:-1]
    high = np.maximum.reduceat(np.where(beta > 0.0, g, 0.0), starts)
    low = np.minimum.reduceat(np.where(beta < upper, g, 0.0), starts)
    gap = np.add.reduceat(np.where(g >= 0.0, g * beta, g * (beta - upper)), starts)
    objective = np.add.reduceat(0.5 * beta * (g - 1.0), starts)
    return (np.maximum(high, 0.0) - np.minimum(low, 0.0)).tolist(), gap.tolist(), objective.tolist()


def _shares(first: NDArray[np.int64], parts: int) -> list[tuple[int, int]]:
    """Neighbouring programmes in parts of about the same work, which grows with the square of their variables."""
    work = np.cumsum(np.diff(first).astype(np.float64) ** 2)
    edges = np.unique([0, *np.searchsorted(work, work[-1] * np.arange(1, parts) / parts), len(work)])
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _status(ending: int, is_good: bool, is_psd: bool | None) -> Status:
    from askew.solvers.box_newton import STUCK

    if is_good:
        return Status.STATIONARY if is_psd is False else Status.OPTIMAL
    return Status.STALLED if ending == STUCK else Status.MAX_ITER
