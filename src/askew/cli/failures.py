"""Exit codes, and errors as a sentence instead of a traceback.

====  =================================================================
0     done
1     an error in askew itself, with a traceback
2     the command was wrong: an unknown option, column, method or value
3     the data or the model file cannot be used as they are
4     parameters and data exclude each other: too few negatives, say
5     an optional package is missing
6     ``askew report --fail-on-drift``: the promise does not hold any more
130   interrupted; nothing half-written is left
====  =================================================================
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from askew.cli.console import Console
from askew.exceptions import DataError, InfeasibleError, MissingDependencyError, ParameterError

DRIFTED = 6
_CODES = {ParameterError: 2, DataError: 3, InfeasibleError: 4, MissingDependencyError: 5}


@contextmanager
def told(console: Console) -> Iterator[None]:
    """Turn expected errors into one line on standard error and an exit code; warnings into remarks."""
    _leave_interrupts_to_python()
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("once")
            try:
                yield
            finally:
                for warning in seen:
                    if issubclass(warning.category, UserWarning):  # scikit-learn's are user warnings, all of them
                        console.warn(str(warning.message))
    except tuple(_CODES) as error:
        _complain(console, str(error))
        raise typer.Exit(next(code for kind, code in _CODES.items() if isinstance(error, kind))) from None
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is nobody to tell
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        _complain(console, "interrupted; nothing was written.")
        raise typer.Exit(130) from None
    except OSError as error:
        _complain(console, f"{error.filename or 'a file'}: {error.strerror or error}.")
        raise typer.Exit(3) from None


def _complain(console: Console, message: str) -> None:
    console.err.print(f"Error: {message}", style="red", markup=False)
    console.result({"error": message})


def _leave_interrupts_to_python() -> None:
    """Arrow catches Ctrl-C while it reads and may lose it between two reads; Python's own handler does not."""
    try:
        import pyarrow
    except ImportError:
        return
    pyarrow.enable_signal_handlers(False)
