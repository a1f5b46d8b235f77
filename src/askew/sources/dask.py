"""Dask arrays and dataframes: blocks are partitions, reductions are trees of tasks, scores stay lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from askew.exceptions import DataError, MissingDependencyError, ParameterError
from askew.sources.frames import as_table
from askew.sources.rows import LabelledRows
from askew.sources.source import Source, count_rows, naming, read_ahead

T = TypeVar("T")
_NUMBERS = "fiubO"
_ENCODE = "Encode it in numbers first, or give a dataframe, whose columns of text are categories."
_PARTS = "Take the real and the imaginary part as features of their own."
FAN_IN = 8
"""Results merged by one task: few enough that no worker holds many, so many that the tree stays flat."""


def dask() -> Any:
    """The module ``dask``.

    Raises
    ------
    MissingDependencyError
        With the line that installs it.
    """
    try:
        import dask
    except ImportError as error:
        raise MissingDependencyError("Dask data need dask. Install it with: pip install 'askew[dask]'") from error
    return dask


class DaskSource(Source):
    """The partitions of a Dask array or dataframe, with labels and weights beside them where they are given.

    The work goes to whatever scheduler is active: the client of a cluster, or threads of this process. Partitions are
    merged in their order, so the result does not depend on which worker was first, or on one that was lost.

    Parameters
    ----------
    X : dask array of shape (n, d) or dask dataframe
    y, sample_weight : dask array or series, optional
        Cut into the same partitions.
    name : str

    Examples
    --------
    >>> import dask.array as da
    >>> from askew.moments import Moments
    >>> X = da.arange(20, chunks=6).reshape(-1, 2).rechunk((3, 2))
    >>> DaskSource(X).map_reduce(Moments.of, Moments.merge).n_samples
    10.0
    """

    def __init__(self, X: Any, y: Any = None, sample_weight: Any = None, *, name: str = "Dask") -> None:
        dask()
        X = checked(X, name)
        self.name, self._is_frame = name, not hasattr(X, "chunks")
        self._X = X if self._is_frame else X.rechunk({1: -1})
        if self._is_frame:
            self.columns = tuple(X.columns)
            self.categories = tuple(name for name, kind in X.dtypes.items() if _is_category(kind))
        elif not np.isnan(X.shape[0]):
            self.n_rows = int(X.shape[0])
        self._beside = [None if each is None else self._matched(each) for each in (y, sample_weight)]

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        return (block for _, block in self.located_blocks(columns))

    def located_blocks(self, columns: Sequence[str] | None = None) -> Iterator[tuple[str, Any]]:
        return read_ahead(self._computed(self._partitions(columns)))

    def map_reduce(self, of: Callable[[Any], T], merge: Callable[[T, T], T], columns: Sequence[str] | None = None) -> T:
        delayed = dask().delayed
        reduced = delayed(partial(_reduced, of), pure=False)
        merged = delayed(partial(_merged, merge), pure=False)
        partitions = self._partitions(columns)
        level = [reduced(self._where(k), rows) for k, rows in enumerate(partitions)]
        while len(level) > 1:
            level = [merged(*level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
        try:
            return self._required(level[0].compute())
        except DataError:
            raise
        except (OSError, ValueError, TypeError, KeyError, NotImplementedError) as error:
            self._blame(partitions, error)
            raise

    def _partitions(self, columns: Sequence[str] | None) -> list[Any]:
        """The rows of every partition, delayed, with labels and weights where they stand beside them."""
        if columns is not None and not self._is_frame:
            raise ParameterError("A Dask array has no column names to choose by.")
        X = self._X if columns is None else self._X[list(columns)]
        beside = {name: each for name, each in zip(("y", "weight"), self._beside, strict=True) if each is not None}
        if not beside:
            return _delayed(X)
        bundle = partial(_bundled, tuple(beside))
        if self._is_frame:  # one expression: apart, Dask may fuse small files of one and not of the other
            options = {"meta": X._meta, "align_dataframes": False, "enforce_metadata": False}
            return _delayed(X.map_partitions(bundle, *beside.values(), **options))
        bundled = dask().delayed(bundle, pure=False)
        return [bundled(*parts) for parts in zip(_delayed(X), *map(_delayed, beside.values()), strict=True)]

    def _matched(self, values: Any) -> Any:
        """Labels or weights in as many partitions as X."""
        if not hasattr(values, "__dask_graph__"):
            raise DataError(f"Labels and weights of Dask rows must be Dask objects, too; got {type(values).__name__}.")
        if not self._is_frame and hasattr(values, "chunks") and not np.isnan([*values.shape, self._X.shape[0]]).any():
            if values.shape[0] != self._X.shape[0]:
                raise DataError(f"X has {self._X.shape[0]:,} rows and the labels or weights {values.shape[0]:,}.")
            values = values.rechunk({0: self._X.chunks[0]})
        if self._is_frame and hasattr(values, "chunks"):
            values = values.to_dask_dataframe()
        if (mine := self._X.npartitions) != (theirs := values.npartitions):
            raise DataError(f"X has {mine} partitions and the labels or weights {theirs}. Cut them alike.")
        return values

    def _where(self, k: int) -> str:
        return f"{self.name}, partition {k}"

    def _computed(self, partitions: list[Any]) -> Iterator[tuple[str, Any]]:
        for k, rows in enumerate(partitions):
            block = _as_block(rows.compute())
            if count_rows(block):
                yield self._where(k), block

    def _blame(self, partitions: list[Any], error: Exception) -> None:
        """Find the partition that cannot be made, one after the other, and name it."""
        for k, rows in enumerate(partitions):
            try:
                rows.compute()
            except type(error) as again:
                raise DataError(f"{self._where(k)} could not be read: {again}") from error


def checked(X: Any, name: str = "Dask") -> Any:
    """Rows of real numbers, or a dataframe whose columns have names of their own, as text: other blocks know no other.

    Parameters
    ----------
    X : dask array or dataframe
    name : str
        For messages.
    """
    if getattr(X, "ndim", 2) != 2 or not (hasattr(X, "chunks") or hasattr(X, "columns")):
        raise DataError(f"X must be a Dask dataframe or an array of two dimensions; got {type(X).__name__}.")
    if hasattr(X, "chunks"):
        if X.dtype.kind not in _NUMBERS:
            remedy = _PARTS if X.dtype.kind == "c" else _ENCODE
            raise DataError(f"{name} holds {X.dtype}, and real numbers are needed. {remedy}")
        if X.shape[1] == 0:
            raise DataError(f"{name} has 0 features, and at least one is needed.")
        return X
    names = [str(column) for column in X.columns]
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise DataError(f"{name} has more than one column called {twice!r}. Rename one of them.")
    return X if names == list(X.columns) else X.rename(columns=dict(zip(X.columns, names, strict=True)))


def map_rows(score: Callable[[Any], Any], X: Any, example: Any, name: str) -> Any:
    """``score`` of every partition, lazily: a dataframe gives a series (or frame) on its index, an array an array.

    Parameters
    ----------
    score : callable
        Of an array or a pandas frame.
    X : dask array or dataframe
    example : array
        What ``score`` gives for one row: its type, and whether a row has one number or several.
    name : str
        Of the series.
    """
    dask()
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        empty = np.empty((0,) * example.ndim, example.dtype)
        chunks = X.chunks[:1] if example.ndim == 1 else (X.chunks[0], (example.shape[1],))
        shape = {"drop_axis": 1} if example.ndim == 1 else {}
        return X.map_blocks(partial(_scored, score, example[:0]), chunks=chunks, meta=empty, dtype=empty.dtype, **shape)
    import pandas as pd

    columns = None if example.ndim == 1 else range(example.shape[1])
    scored = partial(_scored_frame, score, example[:0], name)
    meta = (
        pd.Series(example[:0], name=name)
        if columns is None
        else pd.DataFrame(example[:0], columns=[f"{name}_{j}" for j in columns])
    )
    return X.map_partitions(scored, meta=meta)


def _is_category(kind: Any) -> bool:
    """Whether a pandas type holds text or categories."""
    return kind.kind in "OUS" if isinstance(kind, np.dtype) else str(kind).startswith(("str", "category", "large_str"))


def _delayed(collection: Any) -> list[Any]:
    return list(np.ravel(collection.to_delayed()))


def _bundled(names: tuple[str, ...], X: Any, *beside: Any) -> LabelledRows:
    return LabelledRows(X, **dict(zip(names, beside, strict=True)))


def _as_block(rows: Any) -> Any:
    """A partition, alone or with what stands beside it, as a block."""
    if isinstance(rows, LabelledRows):
        return rows._replace(X=_as_block(rows.X))
    return as_table(rows.reset_index(drop=True)) if hasattr(rows, "columns") else rows


def _reduced(of: Callable[[Any], T], where: str, rows: Any) -> T | None:
    """``of`` one partition; None where it has no rows."""
    block = _as_block(rows)
    return naming(where, of, block) if count_rows(block) else None


def _merged(merge: Callable[[T, T], T], *parts: T | None) -> T | None:
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else merge(total, part)
    return total


def _scored(score: Callable[[Any], Any], none: Any, rows: Any, block_id: Any = None) -> Any:
    """Scores of a chunk; Dask tells which it is."""
    where = "Dask" if block_id is None else f"Dask, partition {block_id[0]}"
    return naming(where, score, rows) if rows.shape[0] else none


def _scored_frame(score: Callable[[Any], Any], none: Any, name: str, rows: Any, partition_info: Any = None) -> Any:
    import pandas as pd

    values = _scored(score, none, rows, None if partition_info is None else (partition_info["number"],))
    if values.ndim == 1:
        return pd.Series(values, index=rows.index, name=name)
    return pd.DataFrame(values, index=rows.index, columns=[f"{name}_{j}" for j in range(values.shape[1])])
