"""The problem inside one working set, gathered and handed to whoever solves it best.

Solves
    minimise ½ δ'Kδ + g'δ over the chosen variables. Where the vectors live on the host, so does the block. Where they
    live on a device, a float32 block with one or two sums is solved there (``inner_device``), and any other comes to
    the host (``inner``) in one transfer.
Given
    The state of a run (``working_set``): vectors, groups, matrix.
Returns
    β of the chosen before and after, where the vectors live.
"""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.arrays import Home, host
from askew.qp import Problem
from askew.solvers.working_set.choice import Standing
from askew.solvers.working_set.smo_cuda import can_solve
from askew.solvers.working_set.smo_cuda import solve_block as solve_on_device

Vector = NDArray[np.float64]

WHOLE_STEPS = 200_000  # steps between two looks at a problem that fits into one working set
SINGLE = 1e-4  # of the gradients of a working set: a violation larger than that is resolved by float32


class Inside:
    """What a run does with its working set."""

    problem: Problem
    home: Home
    g: Any
    beta: Any
    lower: Any
    upper: Any
    labels: Any
    diagonal: Any
    last: Any
    members: list[Any]
    dtype: Any
    goal: float
    steps: int
    max_steps: int
    is_slow: bool
    least_curvature: float
    kept_block: NDArray[Any] | None
    seconds: MutableMapping[str, float]

    def _slack(self) -> tuple[float, float, float] | None:
        raise NotImplementedError

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
        if can_solve(K, len(self.members)) and self._slack() is None and matrix.is_psd:
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
        from askew.solvers.working_set.smo import solve_block

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
