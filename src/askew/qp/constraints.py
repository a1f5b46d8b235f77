"""The constraint shapes of the programmes in askew, written for signed variables β = y∘α.

============  =====================================  ==========================================
shape         meaning                                used by
============  =====================================  ==========================================
Free          the box alone                          MIBC, C and ν forms, hard margin
Sum           Σβ = total                             C-SVC, one-class SVM, COSVM, SVDD, scaling
GroupSums     Σ_{i in group g} β = totals[g]         ν-SVC, ASVM
SumAtMost     Σβ ≤ total                             MIBC, two slacks
============  =====================================  ==========================================

Absorbing the labels into the variables turns every ±1 coefficient into +1, so a solver sees sums only.
``Free`` and ``SumAtMost`` are the equality Σβ + s = total with a slack s whose kernel row is zero: ``slack``
gives the interval of s, and that interval is all a solver has to know to treat the shapes alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Constraint:
    """Base of the shapes: sums of the variables over disjoint groups that cover all of them."""

    @property
    def totals(self) -> tuple[float, ...]:
        """Right-hand side of each sum."""
        return (0.0,)

    @property
    def slack(self) -> tuple[float, float] | None:
        """Interval of the slack variable, or None when the sums are equalities."""
        return None

    def labels(self, n: int) -> NDArray[np.int64]:
        """Group number of each of n variables."""
        return np.zeros(n, dtype=np.int64)


@dataclass(frozen=True)
class Free(Constraint):
    """No constraint beside the box."""

    @property
    def slack(self) -> tuple[float, float]:
        return (-np.inf, np.inf)


@dataclass(frozen=True)
class Sum(Constraint):
    """Σβ = total.

    Attributes
    ----------
    total : float
    """

    total: float = 0.0

    @property
    def totals(self) -> tuple[float, ...]:
        return (self.total,)


@dataclass(frozen=True)
class SumAtMost(Constraint):
    """Σβ ≤ total.

    Attributes
    ----------
    total : float
    """

    total: float = 0.0

    @property
    def totals(self) -> tuple[float, ...]:
        return (self.total,)

    @property
    def slack(self) -> tuple[float, float]:
        return (0.0, np.inf)


@dataclass(frozen=True)
class GroupSums(Constraint):
    """Σ_{i: group[i] = g} β_i = group_totals[g] for g = 0, 1.

    Attributes
    ----------
    group : array of shape (n,)
        0 or 1 for each variable.
    group_totals : (float, float)
    """

    group: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    group_totals: tuple[float, ...] = (0.0, 0.0)

    @property
    def totals(self) -> tuple[float, ...]:
        return self.group_totals

    def labels(self, n: int) -> NDArray[np.int64]:
        return np.asarray(self.group, dtype=np.int64)
