"""A number in [0, 1) for every row, decided by its place alone.

Rows are drawn for training or calibration on a stream that is read more than once, in blocks of any size. A hash of the
row's number gives the same draw on every pass, whatever the blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniform(start: int, n: int, seed: int) -> NDArray[np.float64]:
    """Numbers of rows ``start`` to ``start + n − 1``: splitmix64 of the row number, one stream per seed.

    Examples
    --------
    >>> whole = uniform(0, 10, seed=1)
    >>> bool((whole == np.concatenate([uniform(0, 4, 1), uniform(4, 6, 1)])).all())
    True
    """
    z = _mixed(np.full(1, seed + 1, dtype=np.uint64)) + np.arange(start, start + n, dtype=np.uint64) * _GOLDEN
    return (_mixed(z) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = z + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
