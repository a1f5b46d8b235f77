"""The door: one problem, many problems on one matrix, many small problems at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from askew.exceptions import ParameterError
from askew.qp import Problem, Solution
from askew.qp.problem import Vector
from askew.solvers.request import DEFAULT_MEMORY, Kept, Request
from askew.solvers.routes import is_for_box, route_of

Unit = Literal["absolute", "spread"]


def solve(
    problem: Problem,
    *,
    start: Vector | None = None,
    tol: float = 1e-3,
    tol_unit: Unit = "absolute",
    max_iter: int = -1,
    memory: int | None = None,
    route: str | None = None,
    on_round: Callable[[], bool] | None = None,
) -> Solution:
    """Solve a quadratic programme by the cheapest route.

    Parameters
    ----------
    problem : Problem
        minimise ½ β'Kβ + p'β over a box and sums.
    start : array of shape (n,), optional
        A point to start from; it is made feasible first.
    tol : float
        Largest KKT violation, judged on a float64 gradient.
    tol_unit : {"absolute", "spread"}
        Whether ``tol`` is in units of the gradient, or of the standard deviation of the scores Kβ over the points,
        each counted by the size of its box: for programmes without a linear term, whose scores may all but vanish.
    max_iter : int
        Limit of inner steps: pairs or coordinates moved, or sweeps over points; -1 for the route's own.
    memory : int, optional
        Bytes for rows of K or features; a gigabyte by default.
    route : str, optional
        The name of a route to take instead of the cheapest (``route_of`` says which that is).
    on_round : callable, optional
        Called after every round of a route that works in rounds; returns whether to stop.

    Returns
    -------
    Solution
        ``status`` says how the solve ended, ``certificate`` how good the point is, ``route`` who found it.

    Examples
    --------
    The point of a simplex nearest to the origin in the norm of K, from a plain array:

    >>> import numpy as np
    >>> from askew.qp import Problem, Sum
    >>> from askew.solvers import solve
    >>> K = np.diag([1.0, 2.0, 4.0])
    >>> problem = Problem(K, np.zeros(3), np.zeros(3), np.ones(3), Sum(1.0))
    >>> solution = solve(problem, tol=1e-9)
    >>> solution.beta.round(6)
    array([0.571429, 0.285714, 0.142857])
    >>> solution.status.value, solution.certificate.is_optimal(1e-9), solution.route
    ('optimal', True, 'by_rows')
    """
    with Prepared(problem.matrix, memory=memory, is_repeated=False) as once:
        return once.solve(
            problem, start=start, tol=tol, tol_unit=tol_unit, max_iter=max_iter, route=route, on_round=on_round
        )


def prepare(matrix: Any, *, memory: int | None = None) -> Prepared:
    """A solver for many problems on one matrix.

    Parameters
    ----------
    matrix : SymmetricMatrix, or KernelCovariance
        K; or the Δ of a family of covariance-guided matrices.
    memory : int, optional
        Bytes for rows of K or features; a gigabyte by default.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> import numpy as np
    >>> from askew.qp import Precomputed, Problem, Sum
    >>> from askew.solvers import prepare
    >>> K, y = Precomputed(np.eye(4)), np.array([1.0, 1.0, -1.0, -1.0])
    >>> with prepare(K) as prepared:
    ...     for C in (0.1, 1.0):
    ...         solution = prepared.solve(Problem(K, -y, np.minimum(0, C * y), np.maximum(0, C * y), Sum(0.0)))
    ...         print(solution.beta.round(6))
    [ 0.1  0.1 -0.1 -0.1]
    [ 1.  1. -1. -1.]
    """
    return Prepared(matrix, memory=memory)


class Prepared:
    """A solver that keeps what solves on one matrix leave: rows, the formed matrix, the active block, the surrogate.

    Paths, grids, folds and bends solve one problem after the other on one matrix. It is not for several threads at a
    time. Made by ``askew.solvers.prepare``; a context manager.

    Parameters
    ----------
    matrix : SymmetricMatrix, or KernelCovariance
    memory : int, optional
    is_repeated : bool
        Whether more than one problem will come, which makes some routes pay.
    """

    def __init__(self, matrix: Any, *, memory: int | None = None, is_repeated: bool = True) -> None:
        self.matrix, self.memory = matrix, DEFAULT_MEMORY if memory is None else int(memory)
        self._is_repeated, self._kept = is_repeated, Kept()

    def solve(
        self,
        problem: Problem,
        *,
        start: Vector | None = None,
        start_scores: Vector | None = None,
        tol: float = 1e-3,
        tol_unit: Unit = "absolute",
        max_iter: int = -1,
        route: str | None = None,
        on_round: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve a problem on the matrix, or on a matrix made of it.

        Parameters
        ----------
        problem : Problem
        start : array of shape (n,), optional
        start_scores : array of shape (n,), optional
            K times ``start``, when it is at hand: a warm start then needs no product.
        tol, tol_unit, max_iter, route, on_round
            As for ``askew.solvers.solve``.

        Returns
        -------
        Solution
        """
        if problem.n != self.matrix.n:
            raise ParameterError(
                f"The prepared matrix has {self.matrix.n} rows and the problem {problem.n} variables. "
                "Call prepare on the matrix of the problem."
            )
        taken = route_of(problem, route=route, is_repeated=self._is_repeated)
        request = Request(start, start_scores, tol, max_iter, self.memory, on_round)
        if tol_unit == "absolute":
            return taken.run(problem, request, self._kept)
        if tol_unit != "spread":
            raise ParameterError(f"tol_unit must be 'absolute' or 'spread'; got {tol_unit!r}.")
        from askew.solvers.spread import solve_to_spread

        return solve_to_spread(problem, request, taken, self._kept)

    def look_ahead(self, pose: Callable[[float], Problem], *, tol: float = 1e-3, max_iter: int = -1) -> None:
        """Begin a covariance-guided problem before the trace of its Δ is known, and learn the trace on the way.

        The pass over all pairs of points that the trace takes then makes a product, too. Where no surrogate would be
        solved, there is nothing to begin.

        Parameters
        ----------
        pose : callable
            The problem, given a trace of Δ.
        tol, max_iter
            As for ``solve``.
        """
        if route_of(pose(1.0), is_repeated=self._is_repeated).name == "surrogate":
            from askew.solvers.surrogate import look_ahead

            look_ahead(self.matrix, pose, Request(tol=tol, max_iter=max_iter, memory=self.memory), self._kept)

    def turn_to(self, matrix: Any) -> None:
        """Go on with another matrix, in the same memory."""
        self.matrix = matrix
        self._kept.forget()

    def close(self) -> None:
        """Hand on what is kept; the next solve begins anew."""
        self._kept.forget()
        self._kept.block = None

    def __enter__(self) -> Prepared:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def solve_each(
    problems: Sequence[Problem], *, tol: ArrayLike = 1e-3, max_iter: int = -1, in_turn: bool = False
) -> list[Solution]:
    """Solve many small problems; those of a box alone with little done besides.

    Parameters
    ----------
    problems : sequence of Problem
        Each may have a matrix of its own, or all the same.
    tol : float, or array of shape (n_problems,)
    max_iter : int
        Limit of steps of each; -1 for none.
    in_turn : bool
        Solve one after the other, each from the solution of the one before cut to its own box: a path, whose problems
        are of one size. Otherwise they are solved side by side, each from zero.

    Returns
    -------
    list of Solution

    Examples
    --------
    >>> import numpy as np
    >>> from askew.qp import Free, Problem
    >>> from askew.solvers import solve_each
    >>> zero, one = np.zeros(2), np.ones(2)
    >>> [s.beta.tolist() for s in solve_each([Problem(k * np.eye(2), -one, zero, one, Free()) for k in (0.5, 4.0)])]
    [[1.0, 1.0], [0.25, 0.25]]
    """
    tols = np.broadcast_to(np.asarray(tol, np.float64), len(problems))
    if all(is_for_box(problem) for problem in problems):
        from askew.solvers.explicit.box import solve_boxes

        return solve_boxes(problems, tols, max_iter, in_turn)
    found: list[Solution] = []
    with Prepared(problems[0].matrix) as prepared:
        for problem, goal in zip(problems, tols, strict=True):
            if problem.matrix is not prepared.matrix:
                prepared.turn_to(problem.matrix)
            start = found[-1].beta if in_turn and found else None
            found.append(prepared.solve(problem, start=start, tol=float(goal), max_iter=max_iter))
    return found
