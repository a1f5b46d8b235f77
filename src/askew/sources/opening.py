"""From what a person types (a file, a folder, a pattern, ``-``) to a source."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from askew.exceptions import DataError
from askew.sources.files import COMPRESSIONS, FORMATS, FileSource
from askew.sources.names import nearest
from askew.sources.source import Source
from askew.sources.svmlight import SUFFIXES, SvmlightSource

_MAGIC = {b"PAR1": ".parquet", b"ARRO": ".feather"}


def open_source(location: str, *, text: Sequence[str] = (), n_features: int | None = None) -> Source:
    """Open a file, a folder of files, a pattern such as ``data/*.parquet``, or ``-`` for standard input.

    Parameters
    ----------
    location : str
        The format is told by the ending: Parquet, Feather, CSV, JSON lines, svmlight, the text ones also compressed.
    text : sequence of str
        Columns to be read as text, where the format leaves a choice.
    n_features : int or None
        Number of features of svmlight rows.
    """
    if location == "-":
        return _standard_input(text)
    paths = _files(location)
    endings = {_ending(path) for path in paths}
    if len(endings) > 1:
        raise DataError(
            f"{location} holds files of different formats ({', '.join(sorted(endings))}). "
            f"Choose one, for instance {location.rstrip('/')}/*{sorted(endings)[0]}."
        )
    ending = endings.pop()
    if ending in SUFFIXES:
        if len(paths) > 1:
            raise DataError(f"{location} holds {len(paths)} svmlight files. Give one.")
        return SvmlightSource(paths[0], n_features=n_features)
    return FileSource(paths, FORMATS[ending], text=text, name=location)


def _files(location: str) -> list[Path]:
    path = Path(location)
    if path.is_file():
        _known(path)
        return [path]
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and _is_data(p.relative_to(path)))
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


def _is_data(path: Path) -> bool:
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
