"""Outputs, checked before any work: none of them may be what is read."""

from __future__ import annotations

import glob
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from askew.exceptions import ParameterError
from askew.sources.opening import files_at, is_data
from askew.sources.source import Source
from askew.whole_file import WholeFile

_Identity = tuple[int, int]  # device and inode: the same for all links to a file, and for both cases of its name


def check_outputs(
    outputs: Sequence[str | Path], data: str | Source | None = None, models: Sequence[str | Path] = ()
) -> None:
    """Refuse an output that names what is read, what would be read next time, or another output.

    Parameters
    ----------
    outputs : sequence of str or Path
        Files to be written; ``-`` is standard output.
    data : str, Source or None
        The rows: a file, a folder, a pattern, ``-`` for standard input; or a source that was opened already.
    models : sequence of str or Path
        Model files to be read.
    """
    read = dict(_read(data, models))
    written: dict[_Identity | str, str] = {}
    for output in outputs:
        name, mine = str(output), _identity(output, sys.stdout)
        if mine in read:
            raise ParameterError(f"The output {name} is {read[mine]}, which would be destroyed. Give it another name.")
        if name == "-":
            continue
        WholeFile(output).check()
        if isinstance(data, str) and _would_be_read(output, data):
            raise ParameterError(
                f"The output {name} lies among the rows at {data!r} and would be read as rows the next time. "
                "Write it to another folder, or under another name."
            )
        key = mine or os.path.realpath(output)
        if key in written and not _is_stream(output):
            raise ParameterError(f"The outputs {written[key]} and {name} are one file. Give them different names.")
        written[key] = name


def _read(data: str | Source | None, models: Sequence[str | Path]) -> Iterator[tuple[_Identity, str]]:
    """The identity of every file that is read, and what it is."""
    files: Sequence[str | Path] = ()
    if isinstance(data, Source):
        files = data.files
    elif data is not None:
        files = [data] if data == "-" else files_at(data)
    for what, paths in (("the input", files), ("the model", models)):
        for path in paths:
            if mine := _identity(path, sys.stdin):
                yield mine, what if len(paths) == 1 else f"one of the inputs, {path}"


def _identity(path: str | Path, stream: object) -> _Identity | None:
    """Of a regular file, links followed; None where there is none. ``-`` is the file behind ``stream``."""
    try:
        found = os.fstat(stream.fileno()) if str(path) == "-" else os.stat(path)  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):  # no such file, or a stream that is closed or none of the system's
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _is_stream(path: str | Path) -> bool:
    return Path(path).exists() and not Path(path).is_file()


def _would_be_read(output: str | Path, location: str) -> bool:
    """Whether the name of an output, or what it links to, belongs to a folder or a pattern that is read."""
    location = os.path.expanduser(location)
    is_pattern = glob.has_magic(location) and not Path(location).exists()
    if _is_stream(output) or not (is_pattern or Path(location).is_dir()):
        return False
    there = Path(os.path.realpath(Path(output).parent)) / Path(output).name
    for path in (there, Path(os.path.realpath(output))):
        if not is_pattern:
            folder = Path(os.path.realpath(location))
            if path.is_relative_to(folder) and is_data(path.relative_to(folder)):
                return True
        elif fnmatch(path.name, os.path.basename(location)):
            folders = glob.glob(os.path.dirname(location) or ".", recursive=True)
            if any(os.path.realpath(folder) == str(path.parent) for folder in folders):
                return True
    return False
