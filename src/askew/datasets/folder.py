"""Where the files of the data sets lie."""

from __future__ import annotations

import os
from pathlib import Path

from askew.exceptions import DataError

VARIABLE = "ASKEW_DATA"
_NEIGHBOUR = Path("shared") / "data"


def find_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """The one given, else ``$ASKEW_DATA``, else ``../shared/data`` beside here or this repository."""
    if folder is not None:
        return _existing(Path(folder), "folder")
    if os.environ.get(VARIABLE):
        return _existing(Path(os.environ[VARIABLE]), f"${VARIABLE}")
    repository = Path(__file__).resolve().parents[3]
    for place in (Path.cwd(), repository):
        candidate = place.parent / _NEIGHBOUR
        if candidate.is_dir():
            return candidate
    raise DataError(
        f"No folder of data sets: pass `folder`, or set the environment variable {VARIABLE} to it. "
        "Without files, the make_* generators of askew.datasets serve."
    )


def _existing(path: Path, origin: str) -> Path:
    if not path.is_dir():
        raise DataError(f"{origin} must name an existing folder of data sets; got '{path}'.")
    return path
