"""The command line: parse, call, print. No numerics."""

from __future__ import annotations


def main() -> None:
    """Entry point of ``askew``."""
    import sys

    try:
        from askew.cli.app import app
    except ImportError as error:
        if error.name not in ("typer", "rich", "click"):
            raise
        sys.exit(f"The command line needs {error.name}. Install it with: pip install 'askew[cli]'")
    app(prog_name="askew")
