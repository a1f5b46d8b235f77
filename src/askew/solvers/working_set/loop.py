"""The working-set method for a quadratic programme with a box and sums, rows of K computed as they are needed.

Solves
    minimise ½ β'Kβ + p'β   subject to   lower ≤ β ≤ upper   and the sums of the constraint (``askew.qp``).
Given
    A ``Problem``; K is asked for rows and blocks, never for the whole. Each round takes the q variables that violate
    optimality most (half of them kept from the last round, ``choice``), solves the q×q problem inside (``smo``, or
    ``smo_cuda`` where the block lives on a device), and moves the gradient by the rows of the variables that changed
    (``rows``). A one-sided or absent sum is an equality with a slack variable whose kernel row is zero: it sits in
    every working set.
    The vectors of the loop live where the matrix lives (``askew.arrays.Home``), on a GPU say; where the problem inside
    a working set must come to the host, it comes in one transfer.
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home, assign, host, row_precision
from askew.exceptions import DataError
from askew.qp import Ability, Certificate, Problem, Solution, Status, certify
from askew.qp.problem import Vector
from askew.solvers.newton.active_set import polish
from askew.solvers.request import Kept, Request
from askew.solvers.start import feasible_start
from askew.solvers.status import judge
from askew.solvers.working_set.choice import Standing, choose, take_standing
from askew.solvers.working_set.rows import RowCache, Uncached
from askew.solvers.working_set.smo import solve_block
from askew.solvers.working_set.smo_cuda import can_solve_on_device, solve_on_device
from askew.threads import Workers, workers

SMALL = 256  # variables up to which a problem is solved as far as float64 goes,
EXACT = 1e-13  # of its first gradient
PATIENCE = 100  # rounds without a new least violation before the rows are suspected, and at least 8n/q
STANDSTILL = 1e-12  # of the objective: float64 rows that lower it by less between two suspicions only round
DRIFT = 0.1  # of the violation: more rounding than that in the gradient, and float32 rows are given up
GROWTH = 100  # rounds after which a working set on a device of its own is doubled: blocks cost nothing to move there
OPEN = 1e300  # stands for an infinite bound inside compiled code, which may not see infinities
WHOLE_STEPS = 200_000  # steps between two looks at a problem that fits into one working set
SINGLE = 1e-4  # of the gradients of a working set: a violation larger than that is resolved by float32


def solve_on_rows(problem: Problem, request: Request, kept: Kept) -> Solution:
    """Solve ``problem`` by the rows of its own matrix; those of a Δ that is better formed first are read from it."""
    matrix: Any = problem.matrix
    if Ability.GUIDED in matrix.abilities and matrix.share and matrix.covariance.pays_to_form(request.memory):
        matrix.covariance.form()
    return solve_by_rows(problem, request, kept)


def solve_by_rows(
    problem: Problem,
    request: Request,
    kept: Kept,
    *,
    working_set_size: int | None = None,
    dtype: Any = None,
    is_judged: bool = True,
) -> Solution:
    """Solve ``problem`` to a KKT violation of ``request.tol``.

    Parameters
    ----------
    problem : Problem
    request : Request
        ``max_iter`` counts pairs moved; ``start_scores`` are not used.
    kept : Kept
        Its rows are read where they are rows of this matrix, and left for the next solve.
    working_set_size : int, optional
        Variables per round; chosen from n when not given.
    dtype : float32 or float64, optional
        Precision of the kernel rows; chosen by ``askew.arrays.row_precision`` when not given.
    is_judged : bool
        Whether the gradient is computed anew in float64 at the end. A step on the way to something else, which is
        judged there, can do without: its gradient is then as good as the rows.
    """
    with workers() as pool:
        run = _Run(problem, request, kept, working_set_size, dtype, pool, is_judged)
        has_stopped = run.to_the_end()
        beta, gradient = host(run.beta), host(run.g)
        certificate = certify(problem, beta, gradient)
        status = Status.STOPPED if has_stopped else run.status_of(certificate)
        return Solution(beta, gradient, status, certificate, run.steps, run.rounds, dict(run.seconds))


class _Run:
    """The state of one solve."""

    cache: RowCache | Uncached

    def __init__(
        self,
        problem: Problem,
        request: Request,
        kept: Kept,
        working_set_size: int | None,
        dtype: Any,
        pool: Workers,
        is_judged: bool,
    ) -> None:
        self.problem, self.request, self.kept, self.pool, self.is_judged = problem, request, kept, pool, is_judged
        self.tol, self.max_steps = request.tol, request.step_limit
        matrix: Any = problem.matrix
        self.home: Home = matrix.home if Ability.DEVICE in matrix.abilities else Home()
        self.lower = self.home.put(np.maximum(problem.lower, -OPEN))
        self.upper = self.home.put(np.minimum(problem.upper, OPEN))
        self.members, self.labels = _groups(problem, self.home)
        self.diagonal = self.home.put(matrix.diagonal())
        self.linear = self.home.put(problem.linear)
        self.beta = self.home.put(feasible_start(problem, request.start))
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
            dtype = row_precision(problem.n, self.tol, problem.matrix.argument_bound())
        self._use_rows(dtype)
        # is_fresh: the gradient is exact, nothing has been added to it since it was computed in float64
        self.g, self.is_fresh = self._first_gradient(is_warm=request.start is not None)
        # a small problem is solved as far as float64 goes: it costs next to nothing, and scores do not depend on tol
        is_small = problem.n <= SMALL
        self.goal = min(self.tol, EXACT * float(np.max(np.abs(host(self.g)), initial=0.0))) if is_small else self.tol

    def to_the_end(self) -> bool:
        """Rounds until one of the endings above; whether it is the one who watches the rounds that ended them."""
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
            if self.request.on_round is not None and self.request.on_round():
                self._refresh()
                return True
        return False

    def status_of(self, certificate: Certificate) -> Status:
        """How the rounds ended."""
        return judge(
            self.problem,
            certificate,
            self.tol,
            has_run_out=self.steps >= self.max_steps,
            least_curvature=self.least_curvature,
            precision=self.dtype,
        )

    def step_limit(self, violation: float) -> int:
        """Steps allowed: what the user allows until tol is met, and a polite number from there to the goal."""
        return self.max_steps if violation > self.tol else min(self.max_steps, self.polite_steps)

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
        g = matrix.matvec(self.beta) + self.linear
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
        """Move the gradient by rows of a precision: those an earlier solve has left, or new ones."""
        self.dtype, self.kept_block = np.dtype(dtype), None
        matrix, rows = self.problem.matrix, self.kept.rows
        if Ability.UPDATES in matrix.abilities:
            self.cache = Uncached(matrix, self.dtype)
            return
        if rows is None or rows.matrix is not matrix or rows.dtype != self.dtype:
            if rows is not None:
                rows.close()
            rows = self.kept.rows = RowCache(matrix, self.dtype, self.request.memory)
        self.cache = rows

    def _solve_inside(self, chosen: Any, standing: Standing) -> tuple[Any, Any]:
        """β of the chosen variables as it is, and at the optimum over them alone."""
        begin = time.perf_counter()
        if self.home.is_host:
            K = self._block(chosen)
            self._lap("block", begin)
            return self._solve_on_host(chosen, standing, K)
        matrix: Any = self.problem.matrix
        g = self._centred(chosen, standing)
        dtype = self._inner_dtype(g, standing)
        K = matrix.block(chosen, dtype)
        self._lap("block", begin)
        if can_solve_on_device(K, len(self.members)) and self._slack() is None and matrix.is_psd:
            return self._solve_on_device(chosen, standing, K, g)
        K = K if dtype == self.dtype else matrix.block(chosen, self.dtype)
        K = self.home.to_scratch(K)
        K = np.pad(K, (0, 1)) if self.problem.constraint.slack is not None else K
        before, moved = self._solve_on_host(chosen, standing, K)
        return self.home.put(before), self.home.put(moved)

    def _centred(self, chosen: Any, standing: Standing) -> Any:
        """g of the chosen about the multiplier of their group: only differences count; small numbers round less."""
        xp, centres = self.home.xp, standing.centres
        g = xp.take(self.g, chosen, axis=0)
        if len(self.members) == 1:
            return g - centres[0]
        is_second = xp.take(self.labels, chosen, axis=0) > 0
        return g - xp.where(is_second, xp.full_like(g, centres[1]), xp.full_like(g, centres[0]))

    def _inner_dtype(self, g: Any, standing: Standing) -> Any:
        """Precision inside: float32 is faster there, and as good while the violation stands out from its rounding.

        The gradient of the whole is moved by rows of the run's own precision, so steps are never worse than inexact.
        """
        xp = self.home.xp
        is_clear = self.dtype == np.float32 or standing.violation > SINGLE * float(xp.max(xp.abs(g)))
        return np.dtype(np.float32) if is_clear else self.dtype

    def _solve_on_device(self, chosen: Any, standing: Standing, K: Any, g: Any) -> tuple[Any, Any]:
        begin = time.perf_counter()
        xp = self.home.xp
        before, moved = xp.take(self.beta, chosen, axis=0), xp.take(self.beta, chosen, axis=0)
        split = q = chosen.shape[0]
        if len(self.members) > 1:
            split = q - int(xp.count_nonzero(xp.take(self.labels, chosen, axis=0) > 0))
        steps = solve_on_device(
            K,
            self.home.put(xp.take(self.diagonal, chosen, axis=0), np.float32),
            self.home.put(g, np.float32),
            moved,
            xp.take(self.lower, chosen, axis=0),
            xp.take(self.upper, chosen, axis=0),
            split,
            *self._inner_limits(standing, q),
        )
        self.steps += int(steps[0])
        self._lap("inside", begin)
        return before, moved

    def _inner_limits(self, standing: Standing, q: int) -> tuple[float, int]:
        """Tolerance and largest number of steps inside a working set."""
        most = 20 * q if q < self.problem.n else WHOLE_STEPS
        return max(0.1 * standing.violation, 0.3 * self.goal), min(most, self.max_steps - self.steps)

    def _solve_on_host(self, chosen: Any, standing: Standing, K: NDArray[Any]) -> tuple[Vector, Vector]:
        begin = time.perf_counter()
        slack = self._slack()
        q = chosen.shape[0] + (slack is not None)
        labels = host(self.labels[chosen]) if len(self.members) > 1 else np.zeros(chosen.shape[0], np.int64)
        centre = np.array(standing.centres)
        g, before, lower, upper, diagonal = self.home.gather(
            (self.g, self.beta, self.lower, self.upper, self.diagonal), chosen
        )
        g = g - centre[labels]  # only differences within a group count; small numbers round less
        beta = before.copy()
        if slack is not None:
            g, diagonal = np.append(g, -centre[0]), np.append(diagonal, 0.0)
            beta, lower, upper = (np.append(v, s) for v, s in zip((beta, lower, upper), slack, strict=True))
        begin = self._lap("block", begin)
        starts = np.append(np.searchsorted(labels, np.arange(len(self.members))), q)
        steps, _, curvature = solve_block(
            K,
            diagonal.astype(self.dtype),
            g.astype(self.dtype),
            beta,
            lower,
            upper,
            starts,
            *self._inner_limits(standing, q),
        )
        self._lap("inside", begin)
        self.steps += steps
        self.is_slow = steps >= WHOLE_STEPS and slack is None and self.problem.matrix.is_psd is not False
        self.least_curvature = min(self.least_curvature, curvature)
        return before, beta[: len(before)]

    def _block(self, chosen: Any) -> NDArray[Any]:
        """K among the chosen, with a zero row for the slack variable; kept while the choice stays the same."""
        if self.kept_block is not None and np.array_equal(chosen, self.last):
            return self.kept_block
        K = self.problem.matrix.block(chosen, self.dtype)
        self.kept_block = np.pad(K, (0, 1)) if self.problem.constraint.slack is not None else K
        return self.kept_block

    def _lap(self, stage: str, begin: float) -> float:
        now = time.perf_counter()
        self.seconds[stage] += now - begin
        return now


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
