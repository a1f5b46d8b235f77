"""A score as a kernel expansion: what the solution of every programme is read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def positive_side(score: Any) -> NDArray[np.bool_]:
    """Where a score is on the positive side: at 0 or above. Every machine decides so, and every certificate counts so.

    (A tolerance is another rule: only a score strictly beyond its threshold is an alarm.)
    """
    return np.asarray(score) >= 0


@dataclass(frozen=True)
class Expansion:
    """score(x) = Σ_j coefficients[j] k(x_support[j], x) + intercept.

    Attributes
    ----------
    support : array of int
        Which points carry a coefficient.
    coefficients : array of float
    intercept : float
    """

    support: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    intercept: float

    @classmethod
    def of(cls, beta: NDArray[np.float64], intercept: float) -> Expansion:
        """Keep the non-zero entries of β."""
        support = np.flatnonzero(beta)
        return cls(support, beta[support], float(intercept))
