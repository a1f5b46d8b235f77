"""The command as it was typed, for the page and the model file."""

from __future__ import annotations

import shlex
import sys


def command_line() -> str:
    """``askew …`` with its arguments, quoted where a shell needs it."""
    return shlex.join(["askew", *sys.argv[1:]])
