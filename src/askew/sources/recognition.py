"""Whose object this is, told by its type alone: nothing is imported to find out."""

from __future__ import annotations

from os import PathLike
from typing import Any

from askew.sources.source import Source


def library_of(data: Any) -> str:
    """The top-level package that the type of ``data`` comes from.

    Examples
    --------
    >>> import numpy as np
    >>> library_of(np.zeros(3))
    'numpy'
    """
    return type(data).__module__.partition(".")[0]


def is_dask(data: Any) -> bool:
    """Whether ``data`` is a Dask array, dataframe or series."""
    return library_of(data) in ("dask", "dask_expr") and hasattr(data, "__dask_graph__")


def is_spark(data: Any) -> bool:
    """Whether ``data`` is a Spark DataFrame."""
    return library_of(data) == "pyspark" and hasattr(data, "mapInArrow")


def is_lazy(data: Any) -> bool:
    """Whether the rows of ``data`` stay with another engine until it is asked for them."""
    return is_dask(data) or is_spark(data)


def is_dataset(data: Any) -> bool:
    """Whether ``data`` is a pyarrow dataset of files."""
    return library_of(data) == "pyarrow" and hasattr(data, "get_fragments")


def is_beyond_memory(data: Any) -> bool:
    """Whether the rows of ``data`` have to be read in blocks: a path, a source, a dataset, Dask or Spark."""
    return isinstance(data, (str, PathLike, Source)) or is_dataset(data) or is_lazy(data)
