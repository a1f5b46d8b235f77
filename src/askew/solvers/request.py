"""What every loop is given besides the problem: the wishes of the caller, and what earlier solves have left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from askew.qp.problem import Vector

DEFAULT_MEMORY = 2**30  # bytes for rows of K or features


@dataclass(frozen=True)
class Request:
    """The wishes of a caller; see ``askew.solvers.solve`` for their meaning."""

    start: Vector | None = None
    start_scores: Vector | None = None
    """K times ``start``, when it is at hand."""
    tol: float = 1e-3
    max_iter: int = -1
    memory: int = DEFAULT_MEMORY
    on_round: Callable[[], bool] | None = None

    @property
    def step_limit(self) -> int:
        """``max_iter``, or a number that no solve reaches."""
        return self.max_iter if self.max_iter >= 0 else int(np.iinfo(np.int64).max)


@dataclass
class Kept:
    """What solves on one matrix leave for the next; every loop looks after what is its own."""

    rows: Any = None
    """``working_set.rows.RowCache``: rows of K."""
    block: Any = None
    """``explicit.active_block.ActiveBlock``: K among the variables that may move."""
    whole: tuple[Any, Any] | None = None
    """A matrix, and the array it was formed into (``explicit.box``)."""
    surrogate: Any = None
    """``surrogate.GuidedRounds``: the sketch of Δ, rows of Q, and what products have shown."""

    def forget(self) -> None:
        """Another matrix comes: keep nothing but the memory of the block."""
        for cache in (self.rows, self.surrogate):
            if cache is not None:
                cache.close()
        self.rows = self.whole = self.surrogate = None
        if self.block is not None:
            self.block.forget()
