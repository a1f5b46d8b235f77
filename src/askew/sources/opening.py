"""From what a person has (a path, a pattern, ``-``, a frame, an array, a Dask or Spark object) to a source.

Whose object it is is told by its type alone: nothing is imported to find out.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from askew.exceptions import DataError, ParameterError
from askew.sources.dataset import DatasetSource, has_settings
from askew.sources.files import COMPRESSIONS, FORMATS, FileSource
from askew.sources.frames import FrameSource
from askew.sources.memory import MemorySource
from askew.sources.names import nearest
from askew.sources.source import Source
from askew.sources.svmlight import SUFFIXES, SvmlightSource

_MAGIC = {b"PAR1": ".parquet", b"ARRO": ".feather"}


def open_source(
    location: Any, *, text: Sequence[str] = (), n_features: int | None = None, y: Any = None, sample_weight: Any = None
) -> Source:
    """Open whatever holds rows.

    Parameters
    ----------
    location : str or path, list of them, pyarrow dataset, Dask or Spark object, frame, array, or Source
        A file, a folder of files, a pattern such as ``data/*.parquet``, or ``-`` for standard input; the format is told
        by the ending: Parquet, Feather, CSV, JSON lines, svmlight, the text ones also compressed. Below a folder, names
        such as ``country=fr`` are a column. A filter, schema, partitions and options of a dataset are honoured. A Dask
        or Spark object is told by its type, without importing either.
    text : sequence of str
        Columns to be read as text, where the format leaves a choice.
    n_features : int or None
        Number of features of svmlight rows.
    y, sample_weight : Dask array or series, optional
        Labels and weights that stand beside Dask rows.

    Examples
    --------
    >>> open_source({"amount": [1.0, 2.0]}).columns
    ('amount',)
    """
    if is_dask(location):
        from askew.sources.dask import DaskSource

        return DaskSource(location, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ParameterError(
            f"Labels and weights of {type(location).__name__} rows are columns of it: name them, as in target='fraud'."
        )
    if is_spark(location):
        from askew.sources.spark import SparkSource

        return SparkSource(location)
    if isinstance(location, Source):
        return location
    if is_dataset(location):
        return _dataset(location, text)
    if isinstance(location, (str, PathLike)):
        return _located(str(location), text, n_features)
    if isinstance(location, (list, tuple)) and location and all(isinstance(each, (str, PathLike)) for each in location):
        return _listed([os.path.expanduser(each) for each in location], text, n_features)
    if hasattr(location, "shape") and not hasattr(location, "columns"):
        return MemorySource(location)
    return FrameSource(location)


def _dataset(dataset: Any, text: Sequence[str]) -> Source:
    """A pyarrow dataset without settings of its own is its files, read by our own blocks: its scan would run ahead by
    hundreds of megabytes."""
    paths = [Path(path) for path in getattr(dataset, "files", [])]
    if not paths or not all(path.is_file() for path in paths):
        raise DataError("A pyarrow dataset must be made of files on this machine. Give its table, or a path.")
    if has_settings(dataset):
        return DatasetSource(dataset)
    endings = {_ending(path) for path in paths}
    if len(endings) > 1 or not endings <= set(FORMATS):
        raise DataError(f"A pyarrow dataset must hold files of one known format ({_formats()}); got {sorted(endings)}.")
    return FileSource(paths, FORMATS[endings.pop()], text=text)


def _located(location: str, text: Sequence[str], n_features: int | None) -> Source:
    if location == "-":
        return _standard_input(text)
    location = os.path.expanduser(location)
    return _of_files(files_at(location), location, text, n_features, _top_folder(location))


def _listed(locations: Sequence[str], text: Sequence[str], n_features: int | None) -> Source:
    paths = list(dict.fromkeys(path for location in locations for path in files_at(location)))
    name = locations[0] if len(locations) == 1 else f"{locations[0]} and {len(locations) - 1} more"
    folder = Path(os.path.commonpath([path.absolute().parent for path in paths]))
    return _of_files(paths, name, text, n_features, folder)


def _of_files(
    paths: Sequence[Path], name: str, text: Sequence[str], n_features: int | None, folder: Path | None
) -> Source:
    endings = {_ending(path) for path in paths}
    if len(endings) > 1:
        raise DataError(
            f"{name} holds files of different formats ({', '.join(sorted(endings))}). "
            f"Choose one, for instance {name.rstrip('/')}/*{sorted(endings)[0]}."
        )
    ending = endings.pop()
    if ending in SUFFIXES:
        if len(paths) > 1:
            raise DataError(f"{name} holds {len(paths)} svmlight files. Give one.")
        return SvmlightSource(paths[0], n_features=n_features)
    return FileSource(paths, FORMATS[ending], text=text, name=name, folder=folder)


def _top_folder(location: str) -> Path | None:
    """The folder below which the names of folders are told to be columns: a file alone has none."""
    path = Path(location)
    if path.is_dir():
        return path
    plain = []
    for part in path.parts[:-1]:
        if glob.has_magic(part):
            break
        plain.append(part)
    return Path(*plain) if glob.has_magic(location) and not path.is_file() else None


def files_at(location: str) -> list[Path]:
    """The files that a path, a folder or a pattern stands for, in order; an error where there is none."""
    location = os.path.expanduser(location)
    path = Path(location)
    if path.is_file():
        _known(path)
        return [path]
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and is_data(p.relative_to(path)))
        if not found:
            raise DataError(f"The folder {location} holds no file of a known format ({_formats()}).")
        return found
    if glob.has_magic(location):
        found = sorted(Path(name) for name in glob.glob(location, recursive=True) if Path(name).is_file())
        if not found:
            raise DataError(f"No file matches {location!r}.")
        for each in found:
            _known(each)
        return found
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    hint = nearest(path.name, siblings) if siblings else f"The folder {path.parent} does not exist either."
    raise DataError(f"{location} does not exist. {hint if 'Did you' in hint or not siblings else ''}".rstrip())


def is_data(path: Path) -> bool:
    """Not hidden, and of a known format; markers such as _SUCCESS are left aside."""
    return not any(part.startswith((".", "_")) for part in path.parts) and _ending(path) in _endings()


def _known(path: Path) -> None:
    if _ending(path) not in _endings():
        raise DataError(f"{path} ends in {path.suffix!r}, which is no known format. Known: {_formats()}.")


def _ending(path: Path) -> str:
    """The ending that tells the format, a compression left aside."""
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return bare.suffix.lower()


def _endings() -> list[str]:
    return [*FORMATS, *SUFFIXES]


def _formats() -> str:
    return ", ".join(_endings())


def _standard_input(text: Sequence[str]) -> Source:
    """Standard input, laid down in a temporary file: a fit needs more than one pass."""
    stream = sys.stdin.buffer
    head = stream.read(4)
    if not head:
        raise DataError("Standard input is empty.")
    ending = _MAGIC.get(head, ".jsonl" if head.lstrip()[:1] == b"{" else ".csv")
    folder = tempfile.TemporaryDirectory(prefix="askew-")
    path = Path(folder.name) / f"standard-input{ending}"
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(stream, file)
    source = FileSource([path], FORMATS[ending], text=text, name="standard input")
    source._folder = folder  # removed with the source
    return source


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
