"""Which variables to move next.

Solves
    The working set: in each group, the variables with the least gradient among those that can rise and the largest
    among those that can fall, as many of either; the rest of the set is kept from the last round. Without the part
    that is kept, the method forgets what it just balanced and needs ten times as many rounds.
Given
    Gradient, β and its box, groups, the last working set.
Returns
    Indices sorted by group.
Reference
    Zanni, Serafini, Zanghirati (2006), JMLR 7:1467, for keeping a part; Wen et al. (2018), JMLR 19:1, for half of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from askew.arrays import assign, distinct, host, is_numpy_array, namespace, smallest
from askew.qp.certificate import between

Array = Any
"""Of whichever library the vectors of the programme live in."""


@dataclass(frozen=True)
class Standing:
    """Who can move: per variable the gradient where it can rise or fall, and the worst of each group."""

    rising: Array
    """g_i where β_i can rise, +∞ elsewhere."""
    falling: Array
    """−g_i where β_i can fall, +∞ elsewhere."""
    low: tuple[float, ...]
    """Least g that can rise, of each group (the slack variable counted in)."""
    high: tuple[float, ...]
    """Largest g that can fall, of each group."""

    @property
    def centres(self) -> list[float]:
        """A multiplier of each group between its low and its high."""
        return [between(h, l) for l, h in zip(self.low, self.high, strict=True)]

    @property
    def violation(self) -> float:
        """The largest high − low over the groups, at least 0."""
        return max(0.0, *(h - l for l, h in zip(self.low, self.high, strict=True)))


def take_standing(g: Array, beta: Array, lower: Array, upper: Array, members: list[Any], slack: Any) -> Standing:
    """Measure every variable; ``slack`` is (value, lowest, highest) of the slack variable, or None."""
    xp = namespace(g)
    rising = xp.where(beta < upper, g, np.inf)
    falling = xp.where(beta > lower, -g, np.inf)
    least = _least(xp, [values[mine] for mine in members for values in (rising, falling)])
    low, high = least[::2], [-value for value in least[1::2]]
    if slack is not None:  # its gradient is 0
        value, lowest, highest = slack
        low[0] = min(low[0], 0.0) if value < highest else low[0]
        high[0] = max(high[0], 0.0) if value > lowest else high[0]
    return Standing(rising, falling, tuple(low), tuple(high))


def choose(standing: Standing, members: list[Any], size: int, last: Array) -> Array:
    """The next working set of at most ``size`` variables, sorted by group."""
    xp = namespace(standing.rising)
    fresh = size if not last.shape[0] else size // 2
    share = max(1, fresh // (2 * len(members)))
    picked, asks = [], []
    for mine in members:
        for values in (standing.rising[mine], standing.falling[mine]):
            some = smallest(values, share)
            picked.append(some if isinstance(mine, slice) else mine[some])
            asks.append(values[some])
    new = distinct(xp.concat(picked)[xp.isfinite(xp.concat(asks))])
    taken = assign(xp.zeros_like(standing.rising, dtype=xp.bool), new, True)
    kept = last[~taken[last]]
    return xp.concat([new, kept[: min(kept.shape[0], max(0, size - new.shape[0]))]])


def _least(xp: Any, parts: list[Array]) -> list[float]:
    """The least value of each part, +∞ of none; they come to the host together."""
    known = [k for k, part in enumerate(parts) if part.shape[0]]
    least = [np.inf] * len(parts)
    if is_numpy_array(parts[0]):
        for k in known:
            least[k] = float(parts[k].min())
    elif known:
        for k, value in zip(known, host(xp.stack([xp.min(parts[k]) for k in known])), strict=True):
            least[k] = float(value)
    return least
