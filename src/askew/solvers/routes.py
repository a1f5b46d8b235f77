"""The routes to a solution, and the one place that chooses among them.

A route is entered only where it knows the constraint, the matrix declares every ability it needs
(``askew.qp.matrix``), and nothing else it cannot do is asked of it. Among those the cheapest by operation count is
taken. With n variables, e multiplications per entry of K and S sweeps of coordinate descent:

============  ==================================  ==========  ===================  =====================================
route         constraint                          needs       operations           method
============  ==================================  ==========  ===================  =====================================
box           Free                                ROWS        n²(e/8 + S)          K formed: coordinates, Newton steps
points        Free                                POINTS      2 S n e              sweeps over points, interior point
relaxed       SumAtMost                                       those of the box     the box alone, the sum where it binds
explicit      Sum, GroupSums                      WHOLE       S n², when repeated  rounds on the array, kept block
surrogate     Sum, GroupSums                      GUIDED      8 S n²               cheap rows, products for the truth
low_rank      Sum, GroupSums                      HELD        2 S n e              sweeps over features, working set
out_of_core   Sum, GroupSums                      FACTOR      40 S n e             chunks of features, smoothed dual
by_rows       Free, Sum, GroupSums, SumAtMost     ROWS        n²(e + 2 S)          working set, rows as they are needed
============  ==================================  ==========  ===================  =====================================

Loops are imported when a problem takes their route, so that importing this module loads no Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any

import numpy as np

from askew.exceptions import ParameterError
from askew.qp import Ability, Constraint, Free, GroupSums, Problem, Solution, Sum, SumAtMost
from askew.solvers.request import Kept, Request

SWEEPS = 50  # of coordinate descent until a programme is solved, about
LARGEST_FORMED = 4096  # points whose matrix is formed: 128 MiB of float64; a quarter of it where entries are dear
SMALLEST_COUNTED = 128  # variables up to which the matrix costs nothing worth counting
KERNEL_VALUE = 100.0  # multiplications that take as long as an entry of K whose formula is not known

Loop = Callable[[Problem, Request, Kept], Solution]


@dataclass(frozen=True)
class Route:
    """One way to solve a problem; see the table of the module.

    Attributes
    ----------
    name : str
    constraints : tuple of types
        The shapes of constraint it knows.
    needs : frozenset of Ability
        What the matrix must offer.
    loop : str
        Module and function that take it.
    """

    name: str
    constraints: tuple[type[Constraint], ...]
    needs: frozenset[Ability]
    loop: str
    _cost: Callable[[Problem, bool], float]
    _obstacle: Callable[[Problem], str] = lambda problem: ""

    def missing(self, problem: Problem) -> str:
        """What keeps the route from this problem, in words; empty where nothing does."""
        if not isinstance(problem.constraint, self.constraints):
            known = ", ".join(shape.__name__ for shape in self.constraints)
            return f"it takes the constraints {known}, and this one is {type(problem.constraint).__name__}"
        lacking = self.needs - problem.matrix.abilities
        if lacking:
            names = ", ".join(sorted(ability.name for ability in lacking))
            return f"it needs {names} of the matrix, which {type(problem.matrix).__name__} does not offer"
        return self._obstacle(problem)

    def cost(self, problem: Problem, is_repeated: bool = False) -> float:
        """Operations, about; infinite where other routes are always better."""
        return self._cost(problem, is_repeated)

    def run(self, problem: Problem, request: Request, kept: Kept) -> Solution:
        """The solution, which names this route, judged by rows that do not share its rounding where that may matter."""
        loop: Loop = resolve_name(f"askew.solvers.{self.loop}")
        return replace(loop(problem, request, kept), route=self.name).confirmed(problem, request.tol)


def route_of(problem: Problem, *, route: str | None = None, is_repeated: bool = False) -> Route:
    """The route that ``askew.solvers.solve`` takes for a problem.

    Parameters
    ----------
    problem : Problem
    route : str, optional
        The name of the one to take, whatever it costs.
    is_repeated : bool
        Whether more problems on the same matrix follow (``askew.solvers.prepare``).

    Returns
    -------
    Route

    Examples
    --------
    >>> import numpy as np
    >>> from askew.qp import Free, Problem
    >>> from askew.solvers import route_of
    >>> n = 3
    >>> route_of(Problem(np.eye(n), -np.ones(n), np.zeros(n), np.ones(n), Free())).name
    'box'
    """
    if route is not None:
        return _forced(problem, route)
    accepting = [one for one in ROUTES if not one.missing(problem)]
    if not accepting:
        reasons = "; ".join(f"{one.name}: {one.missing(problem)}" for one in ROUTES)
        raise ParameterError(f"No route solves this problem. {reasons}.")
    if len(accepting) == 1:
        return accepting[0]
    return min(accepting, key=lambda one: one.cost(problem, is_repeated))


def is_for_box(problem: Problem) -> bool:
    """Whether the cheapest route of a problem is to form its matrix; for small ones answered without counting."""
    if problem.n <= SMALLEST_COUNTED:
        return not ROUTES[0].missing(problem)
    return route_of(problem).name == ROUTES[0].name


def _forced(problem: Problem, name: str) -> Route:
    for one in ROUTES:
        if one.name == name:
            missing = one.missing(problem)
            if missing:
                others = ", ".join(repr(other.name) for other in ROUTES if not other.missing(problem)) or "none"
                raise ParameterError(
                    f"route={name!r} does not solve this problem: {missing}. Routes that do: {others}; or leave "
                    "`route` out to have the cheapest one taken."
                )
            return one
    raise ParameterError(f"route must be one of {', '.join(repr(one.name) for one in ROUTES)}; got {name!r}.")


def _entry(matrix: Any) -> float:
    """Multiplications per entry of K."""
    if Ability.WHOLE in matrix.abilities:
        return 0.0
    if Ability.POINTS in matrix.abilities:
        points = matrix.inner_points()
        return getattr(points.rows, "nnz", points.rows.size) / max(1, matrix.n) + float(points.columns.shape[1])
    if Ability.FACTOR in matrix.abilities:
        return float(len(matrix.scales))
    if Ability.GUIDED in matrix.abilities and matrix.share and not _is_formed_soon(matrix.covariance):
        return float(matrix.n)
    return KERNEL_VALUE


def _is_formed_soon(covariance: Any) -> bool:
    """Whether Δ is held as an array, or is so small that forming it is not worth counting."""
    return bool(covariance.is_formed or covariance.pays_to_form(0))


def _cost_of_box(problem: Problem, is_repeated: bool) -> float:
    n, matrix = problem.n, problem.matrix
    if n <= SMALLEST_COUNTED:
        return 0.0
    largest = LARGEST_FORMED if Ability.POINTS in matrix.abilities else LARGEST_FORMED // 4
    return n * n * (_entry(matrix) / 8 + SWEEPS) if n <= largest else np.inf


def _cost_of_points(problem: Problem, is_repeated: bool) -> float:
    return 2 * SWEEPS * problem.n * _entry(problem.matrix)


def _cost_of_box_below(problem: Problem, is_repeated: bool) -> float:
    box = without_sum(problem)
    return min(one.cost(box) for one in ROUTES if not one.missing(box))


def _cost_of_rounds(problem: Problem, is_repeated: bool) -> float:
    # one programme goes by rows: in threads and, where it is small, as far as float64 goes
    return float(SWEEPS * problem.n**2) if is_repeated else np.inf


def _cost_of_surrogate(problem: Problem, is_repeated: bool) -> float:
    return 8.0 * SWEEPS * problem.n**2


def _cost_of_low_rank(problem: Problem, is_repeated: bool) -> float:
    return 2 * SWEEPS * problem.n * _entry(problem.matrix)


def _cost_of_chunks(problem: Problem, is_repeated: bool) -> float:
    return 40 * SWEEPS * problem.n * _entry(problem.matrix)


def _cost_of_rows(problem: Problem, is_repeated: bool) -> float:
    return problem.n**2 * (_entry(problem.matrix) + 2 * SWEEPS)


def _needs_the_host(problem: Problem) -> str:
    if Ability.DEVICE in problem.matrix.abilities:
        return "it forms the matrix in the memory of the host, and this one lives on a device"
    return ""


def _needs_definite_kernel(problem: Problem) -> str:
    if problem.matrix.covariance.matrix.is_psd is False:  # type: ignore[attr-defined]
        return "it needs a kernel that is positive semi-definite, and this one is known not to be"
    return ""


def without_sum(problem: Problem) -> Problem:
    """The problem of the box alone."""
    return Problem(problem.matrix, problem.linear, problem.lower, problem.upper, Free())


_SUMS = (Sum, GroupSums)
ROUTES = (
    Route("box", (Free,), frozenset({Ability.ROWS}), "explicit.box:solve_formed", _cost_of_box, _needs_the_host),
    Route("points", (Free,), frozenset({Ability.POINTS}), "coordinate.points:solve_on_points", _cost_of_points),
    Route("explicit", _SUMS, frozenset({Ability.WHOLE}), "explicit.loop:solve_whole", _cost_of_rounds, _needs_the_host),
    Route(
        "surrogate",
        _SUMS,
        frozenset({Ability.GUIDED}),
        "surrogate:solve_guided",
        _cost_of_surrogate,
        _needs_definite_kernel,
    ),
    Route(
        "low_rank",
        _SUMS,
        frozenset({Ability.FACTOR, Ability.HELD}),
        "coordinate.low_rank:solve_low_rank",
        _cost_of_low_rank,
    ),
    Route("out_of_core", _SUMS, frozenset({Ability.FACTOR}), "out_of_core:solve_out_of_core", _cost_of_chunks),
    Route(
        "by_rows",
        (Free, Sum, GroupSums, SumAtMost),
        frozenset({Ability.ROWS}),
        "working_set.loop:solve_on_rows",
        _cost_of_rows,
    ),
    Route("relaxed", (SumAtMost,), frozenset({Ability.ROWS}), "relaxed:solve_relaxed", _cost_of_box_below),
)
