"""The one solver: a working-set method for a quadratic programme with a box and sums.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and the sums of the constraint (``askew.qp``).
Given
    A ``Problem``; K is asked for rows and blocks, never for the whole. Each round takes the q variables that violate
    optimality most (half of them kept from the last round), solves the q×q problem inside (``inner``), and moves the
    gradient by the rows of the variables that changed (``row_cache``). A one-sided or absent sum is an equality with
    a slack variable whose kernel row is zero: it sits in every working set.
    The vectors of the loop live where the matrix lives (``askew.arrays.Home``), on a GPU say; only the problem inside a
    working set comes to the host, in one transfer.
Returns
    ``Solution`` with a float64 gradient computed anew at the end, and the certificate made from it.
Stops when
    the KKT violation is at most tol on a gradient recomputed in float64. Rows may be float32; when they cannot bring
    the recomputed violation down any more the solver goes on with float64 rows, and when those cannot either, it
    stops as stalled. Or after max_iter inner steps.
Reference
    Joachims (1999), Making large-scale SVM learning practical; Fan, Chen, Lin (2005), JMLR 6:1889;
    Wen et al. (2018), ThunderSVM, JMLR 19:1.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home, assign, host, row_precision
from askew.exceptions import DataError
from askew.qp import Problem, Solution, Status, certify
from askew.solvers.inside import Inside
from askew.solvers.row_cache import RowCache, Uncached
from askew.solvers.selection import Standing, choose, take_standing
from askew.solvers.start import feasible_start
from askew.threads import Workers, workers

Vector = NDArray[np.float64]

DEFAULT_CACHE_BYTES = 2**30
SMALL = 256  # variables up to which a problem is solved as far as float64 goes
PATIENCE = 100  # rounds without a new least violation before the rows are suspected, and at least 8n/q
STANDSTILL = 1e-12  # of the objective: float64 rows that lower it by less between two suspicions only round
DRIFT = 0.1  # of the violation: more rounding than that in the gradient, and float32 rows are given up
GROWTH = 100  # rounds after which a working set on a device of its own is doubled: blocks cost nothing to move there
OPEN = 1e300  # stands for an infinite bound inside compiled code, which may not see infinities


def solve(
    problem: Problem,
    *,
    start: Vector | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    working_set_size: int | None = None,
    dtype: Any = None,
    on_round: Callable[[], bool] | None = None,
    is_judged: bool = True,
) -> Solution:
    """Solve ``problem`` to a KKT violation of ``tol``.

    Parameters
    ----------
    problem : Problem
    start : array of shape (n,), optional
        A point to start from; it is made feasible first.
    tol : float
        Largest KKT violation, judged on a float64 gradient.
    max_iter : int
        Limit of inner steps (pairs moved); -1 for none.
    cache_bytes : int
        Memory for kernel rows.
    working_set_size : int, optional
        Variables per round; chosen from n when not given.
    dtype : float32 or float64, optional
        Precision of the kernel rows; chosen by ``askew.arrays.row_precision`` when not given.
    on_round : callable, optional
        Called after every round; returns whether to stop.
    is_judged : bool
        Whether the gradient is computed anew in float64 at the end. A step on the way to something else, which is
        judged there, can do without: its gradient is then as good as the rows.

    Returns
    -------
    Solution
    """
    with workers() as pool:
        run = _Run(problem, start, tol, max_iter, cache_bytes, working_set_size, dtype, pool, is_judged)
        try:
            status = run.to_the_end(on_round)
        finally:
            run.cache.close()
        beta, gradient = host(run.beta), host(run.g)
        solution = Solution(
            beta=beta,
            gradient=gradient,
            status=status,
            certificate=certify(problem, beta, gradient),
            n_iter=run.steps,
            n_outer=run.rounds,
            timings=dict(run.seconds),
        )
        return solution.confirmed(problem, tol) if is_judged else solution


class _Run(Inside):
    """The state of one solve."""

    cache: RowCache | Uncached

    def __init__(
        self,
        problem: Problem,
        start: Vector | None,
        tol: float,
        max_iter: int,
        cache_bytes: int,
        working_set_size: int | None,
        dtype: Any,
        pool: Workers,
        is_judged: bool,
    ) -> None:
        self.problem, self.tol, self.pool, self.is_judged = problem, tol, pool, is_judged
        self.max_steps = max_iter if max_iter >= 0 else np.iinfo(np.int64).max
        self.cache_bytes = cache_bytes
        self.home: Home = getattr(problem.matrix, "home", None) or Home()
        self.lower = self.home.put(np.maximum(problem.lower, -OPEN))
        self.upper = self.home.put(np.minimum(problem.upper, OPEN))
        self.members, self.labels = _groups(problem, self.home)
        matrix: Any = problem.matrix
        self.diagonal = matrix.diagonal_at() if hasattr(matrix, "diagonal_at") else self.home.put(matrix.diagonal())
        self.linear = self.home.put(problem.linear)
        self.beta = self.home.put(feasible_start(problem, start))
        self.size = min(problem.n, working_set_size or default_size(problem.n, self.home.is_host))
        self.is_size_given = working_set_size is not None
        self.last = self.home.put(np.empty(0, np.int64))
        self.kept_block: NDArray[Any] | None = None
        self.polite_steps = 100 * problem.n
        self.steps = self.rounds = 0
        self.least_curvature = np.inf
        self.fresh_violations: list[float] = []
        self.best, self.best_at = np.inf, 0
        self.objective = float(np.finfo(np.float64).max)  # when float64 rows were suspected last
        self.is_slow = False
        self.seconds: dict[str, float] = defaultdict(float)
        if dtype is None:
            dtype = row_precision(problem.n, tol, problem.matrix.argument_bound())
        self._use_rows(dtype)
        # is_fresh: the gradient is exact, nothing has been added to it since it was computed in float64
        self.g, self.is_fresh = self._first_gradient(is_warm=start is not None)
        # a small problem is solved as far as float64 goes: it costs next to nothing, and scores do not depend on tol
        is_small = problem.n <= SMALL
        self.goal = min(tol, 1e-13 * float(np.max(np.abs(host(self.g)), initial=0.0))) if is_small else tol

    def to_the_end(self, on_round: Callable[[], bool] | None = None) -> Status:
        while True:
            standing = self._measure()
            # a gradient moved by float32 rows is off by some rounding: aim a little lower than what will be judged
            aim = self.goal if self.is_fresh else 0.9 * self.goal
            if standing.violation <= aim or self.steps >= self.step_limit(standing.violation):
                if self.is_judged and not self.is_fresh:
                    self._refresh()
                    continue
                break
            if self.is_fresh and self._has_stalled(standing.violation):
                break
            if (self._is_lost(standing.violation) or not self._improve(standing)) and not self._sharpen():
                break
            if on_round is not None and on_round():
                self._refresh()
                return Status.STOPPED
        if standing.violation > self.tol:
            return Status.MAX_ITER if self.steps >= self.max_steps else Status.STALLED
        return Status.STATIONARY if self._is_indefinite() else Status.OPTIMAL

    def step_limit(self, violation: float) -> int:
        """Steps allowed: what the user allows until tol is met, and a polite number from there to the goal."""
        return self.max_steps if violation > self.tol else min(self.max_steps, self.polite_steps)

    def _is_indefinite(self) -> bool:
        """What the formula of the kernel says; where it says nothing, whether a step met negative curvature."""
        if self.problem.matrix.is_psd is not None:
            return not self.problem.matrix.is_psd
        rounding = 100 * float(np.finfo(self.dtype).eps) * float(np.max(np.abs(host(self.diagonal)), initial=0.0))
        return self.least_curvature < -rounding

    def _measure(self) -> Standing:
        begin = time.perf_counter()
        standing = take_standing(self.g, self.beta, self.lower, self.upper, self.members, self._slack())
        self.seconds["select"] += time.perf_counter() - begin
        return standing

    def _slack(self) -> tuple[float, float, float] | None:
        """Value and interval of the slack variable."""
        interval = self.problem.constraint.slack
        if interval is None:
            return None
        if np.isinf(interval[0]):
            return 0.0, -OPEN, OPEN
        total = self.problem.constraint.totals[0]
        xp = self.home.xp
        value = total - float(xp.sum(self.beta))
        nothing = 1e-14 * max(abs(total), float(xp.sum(xp.abs(self.beta))))
        return (0.0 if value < nothing else value), interval[0], OPEN

    def _improve(self, standing: Standing) -> bool:
        """One round: choose, solve inside, move. False when nothing moved."""
        begin = time.perf_counter()
        chosen = choose(standing, self.members, self.size, self.last)
        if len(self.members) > 1:
            chosen = chosen[self.home.xp.argsort(self.labels[chosen], stable=True)]
        begin = self._lap("select", begin)
        before, moved = self._solve_inside(chosen, standing)
        begin = time.perf_counter()
        delta = moved - before
        (changed,) = self.home.xp.nonzero(delta)
        if changed.shape[0]:
            self.g = self.cache.add_product(self.g, chosen[changed], delta[changed], self.pool)
            self.beta = assign(self.beta, chosen, moved)
            self.is_fresh = False
        self._lap("update", begin)
        self.last = chosen
        self.rounds += 1
        if self.rounds == GROWTH and not self.home.is_host and not self.is_size_given:
            self.size = min(self.problem.n, 2 * self.size)
        if self.is_slow:
            self._leap()
        return int(changed.shape[0]) > 0

    def _leap(self) -> None:
        """A Newton step where pairs of variables creep: a small problem, badly conditioned."""
        from askew.solvers.polish import polish

        self._refresh()
        self.beta = self.home.put(polish(self.problem, host(self.beta), host(self.g)))
        self._refresh()
        self.is_fresh = False  # on the way, not at the end: a stall is looked for where the violation seems met

    def _first_gradient(self, is_warm: bool) -> tuple[Vector, bool]:
        """Gradient at the start, and whether it is exact: a cold start is far from the end and needs no float64."""
        beta = host(self.beta)
        filled = np.flatnonzero(beta)
        if not self.is_judged and not len(filled):
            return self.home.put(self.problem.linear.copy()), True
        if self.is_judged and (is_warm or self.dtype == np.float64 or not len(filled)):
            return self._exact_gradient(), True
        begin = time.perf_counter()
        g = self.home.put(self.problem.linear.copy())
        for part in np.array_split(filled, -(-len(filled) // (1024 if self.home.is_host else 2**16))):
            g = self.cache.add_product(g, self.home.put(part), beta[part], self.pool, keep=False)
        self._lap("start", begin)
        return g, False

    def _exact_gradient(self) -> Any:
        matrix: Any = self.problem.matrix
        xp = self.home.xp
        g = (matrix.matvec(self.beta) if self.home.is_host else matrix.matvec_at(self.beta)) + self.linear
        if not (bool(xp.all(xp.isfinite(g))) and bool(xp.all(xp.isfinite(self.diagonal)))):
            raise DataError(
                "The kernel matrix has values that are not finite: they exceed what float64 can hold. "
                "Scale the features, or lower `gamma` or `degree`."
            )
        return g

    def _refresh(self) -> None:
        """Compute the gradient anew in float64, at β without the last bits that small steps left beside a bound."""
        begin = time.perf_counter()
        xp = self.home.xp
        rounding = 8 * np.finfo(np.float64).eps * float(xp.max(xp.abs(self.beta)))
        near = xp.minimum(xp.full_like(self.beta, rounding), 0.5 * (self.upper - self.lower))
        self.beta = xp.where(self.beta - self.lower < near, self.lower, self.beta)
        self.beta = xp.where(self.upper - self.beta < near, self.upper, self.beta)
        self.g = self._exact_gradient()
        self.is_fresh = True
        self._lap("refresh", begin)

    def _has_stalled(self, violation: float) -> bool:
        """Whether even exact gradients stop getting better; float32 rows are given up before the solve is."""
        history = self.fresh_violations
        history.append(violation)
        if len(history) >= 3 and violation > 0.5 * min(history[:-1]):
            return not self._sharpen()
        return False

    def _is_lost(self, violation: float) -> bool:
        """Whether there has been no new best for long, and the rounding of the rows is what is in the way.

        Of float32 rows the gradient tells; float64 rows are lost where the objective does not fall any more, either.
        """
        if violation < self.best:
            self.best, self.best_at = violation, self.rounds
        if self.rounds - self.best_at <= max(PATIENCE, 8 * self.problem.n // self.size):
            return False
        xp, believed = self.home.xp, self.g
        self._refresh()
        self.best_at = self.rounds
        if self.dtype != np.float64:
            return float(xp.max(xp.abs(self.g - believed))) > DRIFT * violation
        before, self.objective = self.objective, 0.5 * float(xp.sum(self.beta * (self.g + self.linear)))
        return not self.objective < before - STANDSTILL * abs(before)

    def _sharpen(self) -> bool:
        """Go on with float64 rows and an exact gradient; False when that is already so."""
        if not self.is_judged or (self.dtype == np.float64 and self.is_fresh):
            return False
        if self.dtype != np.float64:
            self._use_rows(np.float64)
            self.fresh_violations.clear()
        if not self.is_fresh:
            self._refresh()
        return True

    def _use_rows(self, dtype: Any) -> None:
        if hasattr(self, "cache"):
            self.cache.close()
        self.dtype, self.kept_block = np.dtype(dtype), None
        if hasattr(self.problem.matrix, "add_product_at"):
            self.cache = Uncached(self.problem.matrix, self.dtype)
        else:
            self.cache = RowCache(self.problem.matrix, self.dtype, self.cache_bytes)


def default_size(n: int, is_host: bool = True) -> int:
    """Variables per round: small problems are over before large blocks pay, large ones need few rounds."""
    if n <= 8192:
        return min(512, max(256, n // 4))
    return 1024 if is_host or n <= 16_384 else 2048


def _groups(problem: Problem, home: Home) -> tuple[list[Any], Any]:
    """The members of each group (a slice when there is one group), and the group of each variable."""
    members, labels = problem.members(), problem.constraint.labels(problem.n)
    if len(members) == 1:
        return members, labels
    return [home.put(mine) for mine in members], home.put(labels)
