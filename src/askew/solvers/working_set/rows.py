"""Kernel rows kept under a byte budget, and the gradient update that reads them.

Solves
    g += Σ_i steps_i K[i, :] for a few hundred indices i at a time.
Given
    A matrix that produces tiles of rows, a precision and a budget in bytes. Rows seen before are read from the cache.
    New rows are produced tile by tile; while a tile is hot in a core's cache it is multiplied by its steps and only
    then written to the slots of its rows, so each entry crosses memory once.
Returns
    The gradient moved in place. The least recently used rows give way to new ones; rows for which there is no room at
    all are used and not kept. The memory of a closed cache serves the next one; ``release_memory`` frees it.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.qp import Ability
from askew.threads import Workers, spans

Indices = NDArray[np.int64]
_HIT_WINDOW = 4096
_spare: list[NDArray[np.uint8]] = []  # memory of the last cache, kept for the next
_spare_lock = threading.Lock()


def release_memory() -> None:
    """Give the memory that is kept for the next cache back to the system."""
    with _spare_lock:
        _spare.clear()


def _take_memory(size: int) -> NDArray[np.uint8]:
    """``size`` bytes: those of the last cache when they suffice, since memory never touched before is slow."""
    with _spare_lock:
        for k, memory in enumerate(_spare):
            if memory.size >= size:
                return _spare.pop(k)
    return np.empty(size, np.uint8)


def _return_memory(memory: NDArray[np.uint8]) -> None:
    """Keep the larger of what is there and what comes back."""
    with _spare_lock:
        if not _spare or memory.size > _spare[0].size:
            _spare[:] = [memory]


class RowCache:
    """Least-recently-used cache of rows of a symmetric matrix.

    Parameters
    ----------
    matrix : SymmetricMatrix
    dtype : float32 or float64
    budget : int
        Bytes the cached rows may take.
    """

    def __init__(self, matrix: Any, dtype: Any, budget: int) -> None:
        self.matrix, self.dtype = matrix, np.dtype(dtype)
        self._memory: NDArray[np.uint8] | None = None
        n, is_whole = matrix.n, Ability.WHOLE in matrix.abilities and not len(matrix.bend)
        rows = matrix.whole(self.dtype) if is_whole else None
        if rows is not None:  # a matrix that is stored whole is a full cache
            self.capacity, self._rows = n, rows
            self._slot_of = self._owner = np.arange(n)
        else:
            self.capacity = int(min(n, budget // max(1, n * self.dtype.itemsize)))
            size = self.capacity * n * self.dtype.itemsize
            self._memory = _take_memory(size)
            self._rows = self._memory[:size].view(self.dtype).reshape(self.capacity, n)
            self._slot_of = np.full(n, -1, np.int64)
            self._owner = np.full(self.capacity, -1, np.int64)
        self._used_at = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self._scratch = threading.local()
        self.rows_computed = 0

    def add_product(
        self, g: NDArray[np.float64], indices: Indices, steps: NDArray[Any], pool: Workers, keep: bool = True
    ) -> NDArray[np.float64]:
        """g += steps @ K[indices]; new rows are kept for the next time unless ``keep`` is false."""
        from askew.solvers.working_set.accumulate import absorb_tile, add_rows

        self._clock += 1
        slots = self._slot_of[indices]
        known, new = slots >= 0, slots < 0
        hit_slots, hit_steps = slots[known], steps[known]
        self._used_at[hit_slots] = self._clock
        missing, missing_steps = indices[new], steps[new].astype(self.dtype)
        self.rows_computed += len(missing)
        missing_slots = self._make_room(missing) if keep else np.empty(0, np.int64)
        if len(missing):
            prepared = self.matrix.prepare(missing, self.dtype)
            width = self.matrix.tile_width(len(missing), self.dtype.itemsize)
        else:
            width = max(_HIT_WINDOW, -(-self.matrix.n // (4 * pool.count)))

        def work(first: int, last: int) -> None:
            if len(missing):
                tile = self.matrix.tile(prepared, slice(first, last), self._buffer(len(missing), last - first))
                absorb_tile(g, self._rows, missing_slots, tile, missing_steps, first)
            if len(hit_slots):
                add_rows(g, self._rows, hit_slots, hit_steps, first, last)

        pool.map(work, spans(self.matrix.n, width))
        return g

    def close(self) -> None:
        """Hand the memory on; the cache is not used any more."""
        if self._memory is not None:
            _return_memory(self._memory)
        del self._memory, self._rows

    def _make_room(self, missing: Indices) -> Indices:
        """Slots for as many of the missing rows as fit, taken from those unused the longest."""
        free = np.flatnonzero(self._used_at < self._clock)
        count = min(len(missing), len(free))
        if not count:
            return np.empty(0, np.int64)
        oldest = free if count == len(free) else free[np.argpartition(self._used_at[free], count - 1)[:count]]
        slots = np.sort(oldest)
        evicted = self._owner[slots]
        self._slot_of[evicted[evicted >= 0]] = -1
        self._owner[slots] = missing[:count]
        self._slot_of[missing[:count]] = slots
        self._used_at[slots] = self._clock
        return slots

    def _buffer(self, m: int, width: int) -> NDArray[Any]:
        """This thread's scratch: fresh memory for every tile costs more than the arithmetic."""
        flat = getattr(self._scratch, "flat", None)
        if flat is None or flat.size < m * width:
            flat = self._scratch.flat = np.empty(m * width, self.dtype)
        return flat[: m * width].reshape(m, width)


class Uncached:
    """The same update for a matrix that moves a gradient faster than its rows could: on a device, or of low rank.

    Parameters
    ----------
    matrix : matrix with ``add_product_at``
    dtype : float32 or float64
    """

    def __init__(self, matrix: Any, dtype: Any) -> None:
        self.matrix, self.dtype = matrix, np.dtype(dtype)

    def add_product(self, g: Any, indices: Any, steps: Any, pool: Workers, keep: bool = True) -> Any:
        """g + steps @ K[indices]; g may be changed in place."""
        return self.matrix.add_product_at(g, indices, steps, self.dtype)

    def close(self) -> None:
        """Nothing is held."""
