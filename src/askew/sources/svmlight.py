"""Sparse rows in svmlight format: ``label index:value index:value …``."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from askew.exceptions import DataError, ParameterError
from askew.sources.source import Source

SUFFIXES = (".svm", ".svmlight", ".libsvm")
BLOCK_LINES = 8_192


class SparseBlock(NamedTuple):
    """Rows as a CSR matrix, with their labels."""

    X: Any
    y: NDArray[np.float64]


class SvmlightSource(Source):
    """Sparse rows of a svmlight file, plain or compressed by gzip or bzip2.

    Parameters
    ----------
    path : Path
    n_features : int or None
        Width of the blocks; features beyond are dropped. None looks for the largest index in one pass.
    """

    def __init__(self, path: Path, *, n_features: int | None = None) -> None:
        self.name, self._path, self.files = str(path), path, (str(path),)
        self.n_features = n_features if n_features is not None else self._largest_index()

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[SparseBlock]:
        if columns is not None:
            raise ParameterError("A svmlight file has numbered features and no columns to choose by.")
        for start, lines in self._lines():
            X, y = self._parsed(start, lines)
            yield SparseBlock(_fitted(X, self.n_features), y)

    def _largest_index(self) -> int:
        return max((self._parsed(start, lines)[0].shape[1] for start, lines in self._lines()), default=0)

    def _lines(self) -> Iterator[tuple[int, list[bytes]]]:
        opener = {".gz": gzip.open, ".bz2": bz2.open}.get(self._path.suffix, open)
        start = 1
        with opener(self._path, "rb") as stream:
            while lines := list(islice(stream, BLOCK_LINES)):
                if any(line.strip() for line in lines):
                    yield start, lines
                start += len(lines)

    def _parsed(self, start: int, lines: list[bytes]) -> tuple[Any, NDArray[np.float64]]:
        try:
            X, y = load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
        except ValueError as error:
            raise DataError(
                f"{self.name}, lines {start} to {start + len(lines) - 1}, is not svmlight text: {error}"
            ) from error
        return X, y


def _fitted(X: Any, n_features: int) -> Any:
    if X.shape[1] > n_features:
        return X[:, :n_features]
    X.resize((X.shape[0], n_features))
    return X
