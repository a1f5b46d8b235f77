"""Kernel rows kept under a byte budget, and the gradient update that reads them.

Solves
    g += Σ_i steps_i K[i, :] for a few hundred indices i at a time.
Given
    A matrix that produces tiles of rows, a precision and a budget in bytes. Rows seen before are read from the cache.
    New rows are produced tile by tile; while a tile is hot in a core's cache it is multiplied by its steps and only
    then written to the slots of its rows, so each entry crosses memory once.
Returns
    The gradient moved in place. The least recently used rows give way to new ones; rows for which there is no room at
    all are used and not kept.
Memory
    A fresh gigabyte costs 0.1 s and more before the first row is in it, as much as a fit. So the memory of a closed
    cache serves the next one; but it is handed to the system when the cache is closed (``MADV_FREE``), which takes the
    pages as soon as anyone needs them. Where a system knows no such promise, memory is given back at once.
"""

from __future__ import annotations

import mmap
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.qp import Ability
from askew.solvers.working_set.accumulate import absorb_tile, add_rows
from askew.threads import Workers, spans

Indices = NDArray[np.int64]
_HIT_WINDOW = 4096  # columns at least of a task that only reads kept rows
_SMALLEST = 2**22  # bytes of a cache that takes part: less is as fast from the allocator


class _Reserve:
    """Memory of the last closed cache, which the next one may take before the system does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory: mmap.mmap | None = None

    def take(self, size: int) -> mmap.mmap | NDArray[np.uint8]:
        """``size`` bytes at least."""
        if size < _SMALLEST or not hasattr(mmap, "MADV_FREE"):
            return np.empty(max(1, size), np.uint8)
        with self._lock:
            memory, self._memory = self._memory, None
        if memory is None or len(memory) < size:
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                memory.madvise(mmap.MADV_HUGEPAGE)
        return memory

    def give(self, memory: mmap.mmap | NDArray[np.uint8], size: int) -> None:
        """Let the system have the pages of the first ``size`` bytes; keep the larger of what is there and this."""
        if not isinstance(memory, mmap.mmap):
            return
        memory.madvise(mmap.MADV_FREE, 0, size)
        with self._lock:
            if self._memory is None or len(memory) > len(self._memory):
                self._memory = memory


_reserve = _Reserve()


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
        self._memory: Any = None
        n, is_whole = matrix.n, Ability.WHOLE in matrix.abilities and not len(matrix.bend)
        rows = matrix.whole(self.dtype) if is_whole else None
        if rows is not None:  # a matrix that is stored whole is a full cache
            self.capacity, self._rows = n, rows
            self._slot_of = self._owner = np.arange(n)
        else:
            self.capacity = int(min(n, budget // max(1, n * self.dtype.itemsize)))
            size = self.capacity * n * self.dtype.itemsize
            self._memory = _reserve.take(size)
            self._rows = np.frombuffer(self._memory, self.dtype, self.capacity * n).reshape(self.capacity, n)
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
            _reserve.give(self._memory, self._rows.nbytes)
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
