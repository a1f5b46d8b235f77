"""The variables that may still move, side by side: one large working set kept from programme to programme.

Solves
    The programme of ``loop`` with every variable held that sits at a bound and does not ask to leave it: minimise over
    the rest, A, among which are all that violate the KKT conditions and the few that are nearest to doing so. On a path
    A hardly changes, so K_AA is gathered once, newcomers are added to it, and SMO runs on all of A at once (``smo``).
    Rounds of small working sets take as many steps, but each round gathers its block and moves the whole gradient.
Given
    K whole in the working precision; g, β and its box in float64; the group of each variable.
Returns
    β moved in place, and the steps; g is not moved: the product with all that has changed is the caller's to make.
Stops when
    the violation within A is below goal, or after max_steps.
Reference
    Joachims (1999), Making large-scale SVM learning practical, section 11.4 (shrinking).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.compiled import compiled
from askew.solvers.explicit.rounds import kth_smallest, measure
from askew.solvers.working_set.smo import solve_block

LARGEST_BLOCK = 2048  # beyond, a step over all of A costs more than rounds do: its rows no longer come from a cache
NEAR = 8  # one row that only might move for so many that do
SPARE = 5  # one empty place for so many rows
LOOSE = 1.3  # times as many rows as are wanted: K_AA is gathered anew
MANY = 20  # steps per row
SIDES = 2  # groups, at most: one grows downwards from the middle, the other upwards

_compile = compiled()


class ActiveBlock:
    """K_AA, in places that leave room for newcomers at either end.

    Attributes
    ----------
    rows : array of int
        The variable at each place; places from ``first`` to ``last`` are in use.
    first, middle, last : int
        Variables of the first group, where there are two, stand before ``middle``.
    """

    def __init__(self) -> None:
        self._of: Any = None
        self._sides = np.empty(0, bool)
        self._memory: dict[Any, NDArray[Any]] = {}
        self._block: Any = None
        self.rows = np.empty(0, np.int64)
        self.first = self.middle = self.last = 0

    def forget(self) -> None:
        """Begin with another matrix, in the same memory."""
        self._of = None

    def hold(self, K: NDArray[Any], wanted: NDArray[np.int64], labels: NDArray[np.int64], groups: int) -> bool:
        """Have at least the ``wanted`` rows of K; returns whether any of them is new."""
        held, is_first = np.zeros(K.shape[0], bool), (labels == 0) & (groups == SIDES)
        is_known = self._of is K and np.array_equal(
            self._sides, is_first
        )  # one programme may have one sum, the next two
        if is_known:
            held[self.rows[self.first : self.last]] = True
        new = wanted[~held[wanted]]
        below, above = new[is_first[new]], new[~is_first[new]]
        has_room = len(below) <= self.first and len(above) <= len(self.rows) - self.last
        if not is_known or not has_room or LOOSE * len(wanted) < self.last - self.first:
            self._begin(K, wanted, is_first)
        elif len(new):
            first, last = self.first - len(below), self.last + len(above)
            self.rows[first : self.first], self.rows[self.last : last] = below, above
            fill(K, self.rows, self._block, first, last, self.first, self.last)
            self.first, self.last = first, last
        return len(new) > 0

    def _begin(self, K: NDArray[Any], wanted: NDArray[np.int64], is_first: NDArray[np.bool_]) -> None:
        below, above = wanted[is_first[wanted]], wanted[~is_first[wanted]]
        spare = len(wanted) // SPARE + 16
        room = spare if is_first.any() else 0
        size = len(wanted) + spare + room
        self._of, self._sides, self.rows = K, is_first, np.empty(size, np.int64)
        self.first, self.middle, self.last = room, room + len(below), room + len(wanted)
        self.rows[self.first : self.middle], self.rows[self.middle : self.last] = below, above
        if len(self._memory.get(K.dtype, ())) < size * size:
            self._memory[K.dtype] = np.empty(size * size, K.dtype)
        self._block = self._memory[K.dtype][: size * size].reshape(size, size)
        fill(K, self.rows, self._block, self.first, self.last, self.first, self.first)

    def solve(self, diagonal: Any, g: Any, beta: Any, lower: Any, upper: Any, goal: float, max_steps: int) -> Any:
        """Solve over the rows that are held; returns the steps, the violation among them and the least curvature."""
        starts = np.array([self.first, self.middle, self.last])
        if self.first == self.middle:
            starts = starts[1:]
        max_steps = min(max_steps, MANY * (self.last - self.first))  # then the gradient is due for a float64 one
        return solve_held(self._block, self.rows, starts, diagonal, g, beta, lower, upper, goal, max_steps)


@_compile
def fill(K, rows, block, first, last, old_first, old_last):  # type: ignore[no-untyped-def]
    """block[a, b] = K[rows[a], rows[b]] for places first ≤ a, b < last, known where both are within the old ones."""
    places = rows.astype(np.uint32)  # unsigned: no check for negative ones in the loop that counts
    for begin, end in ((first, old_first), (old_last, last)):
        a = begin
        while a + 4 <= end:  # four rows per pass: a place is read once for all of them
            r0, r1, r2, r3 = K[places[a]], K[places[a + 1]], K[places[a + 2]], K[places[a + 3]]
            t0, t1, t2, t3 = block[a], block[a + 1], block[a + 2], block[a + 3]
            for b in range(first, last):
                i = places[b]
                t0[b], t1[b], t2[b], t3[b] = r0[i], r1[i], r2[i], r3[i]
            a += 4
        while a < end:
            row, target = K[places[a]], block[a]
            for b in range(first, last):
                target[b] = row[places[b]]
            a += 1
        for a in range(old_first, old_last):
            for b in range(begin, end):
                block[a, b] = block[b, a]


@_compile
def find_movers(g, beta, lower, upper, labels, groups, most):  # type: ignore[no-untyped-def]
    """Variables that are inside their box or ask to leave a bound, and the nearest others; none where over ``most``."""
    n = g.shape[0]
    lows, highs = np.empty(groups), np.empty(groups)
    violation = measure(g, beta, lower, upper, labels, lows, highs)
    distance, values = np.empty(n), np.empty(n)
    m, moving = 0, 0
    for i in range(n):
        j, far = labels[i], np.inf
        can_rise, can_fall = beta[i] < upper[i], beta[i] > lower[i]
        if can_rise and can_fall:
            far = -np.inf
        elif can_rise:
            far = g[i] - highs[j]
        elif can_fall:
            far = lows[j] - g[i]
        distance[i] = far
        if far < np.inf:
            values[m] = far
            m += 1
        moving += far < 0
    if moving > most:
        return np.empty(0, np.int64), violation
    count = min(m, moving + moving // NEAR + 16)
    limit = kth_smallest(values, m, count - 1) if m > 0 else 0.0
    found, k = np.empty(n, np.int64), 0
    for i in range(n):
        if distance[i] <= limit and distance[i] < np.inf:
            found[k] = i
            k += 1
    return found[:k].copy(), violation


@_compile
def solve_held(block, rows, starts, diagonal, g, beta, lower, upper, goal, max_steps):  # type: ignore[no-untyped-def]
    """SMO over the places from starts[0] to starts[-1] of a kept block; β is moved in place."""
    size, first, last = rows.shape[0], starts[0], starts[-1]
    small, curved = np.zeros(size, block.dtype), np.ones(size, block.dtype)
    inside, low, high = np.zeros(size), np.zeros(size), np.zeros(size)
    for j in range(starts.shape[0] - 1):
        least, most = np.inf, -np.inf
        for a in range(starts[j], starts[j + 1]):
            i = rows[a]
            curved[a], inside[a], low[a], high[a] = diagonal[i], beta[i], lower[i], upper[i]
            if beta[i] < upper[i]:
                least = min(least, g[i])
            if beta[i] > lower[i]:
                most = max(most, g[i])
        centre = 0.5 * (least + most) if abs(least + most) < np.inf else 0.0
        for a in range(starts[j], starts[j + 1]):
            small[a] = g[rows[a]] - centre  # only differences count; small numbers round less
    steps, violation, curvature = solve_block(block, curved, small, inside, low, high, starts, goal, max_steps)
    for a in range(first, last):
        beta[rows[a]] = inside[a]
    return steps, violation, curvature
