"""Rows that are already in memory, as an array or a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from askew.exceptions import DataError, ParameterError
from askew.sources.source import BLOCK_ROWS, Source


class MemorySource(Source):
    """An array or sparse matrix, cut into blocks of rows without a copy.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    block_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> [len(block) for block in MemorySource(np.zeros((10, 2)), block_rows=4).blocks()]
    [4, 4, 2]
    """

    def __init__(self, X: Any, *, block_rows: int = BLOCK_ROWS) -> None:
        if block_rows < 1:
            raise ParameterError(f"block_rows must be at least 1; got {block_rows}.")
        self._X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        if self._X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows by features; got {self._X.ndim}.")
        self._block_rows = block_rows
        self.n_rows = int(self._X.shape[0])

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        if columns is not None:
            raise ParameterError("An array has no column names to choose by.")
        for start in range(0, self._X.shape[0], self._block_rows):
            yield self._X[start : start + self._block_rows]
