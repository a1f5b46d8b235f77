"""pyarrow, asked for only when a table has to be read or written."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from askew.exceptions import MissingDependencyError


@cache
def arrow(part: str = "") -> ModuleType:
    """The module ``pyarrow`` or one of its parts, such as "dataset".

    Raises
    ------
    MissingDependencyError
        With the line that installs it.
    """
    import importlib

    try:
        return importlib.import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError as error:
        raise MissingDependencyError(
            "Reading and writing tables needs pyarrow. Install it with: pip install 'askew[cli]'"
        ) from error
