"""All studies, one after the other: ``python -m studies [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

NAMES = ("moments", "cosvm", "kernel_scaling", "asvm", "across")


def main() -> int:
    """Run each as its own program, so that one that fails does not stop the rest; the worst exit status."""
    begin, worst = time.monotonic(), 0
    for name in NAMES:
        print(f"== studies.{name}", flush=True)
        status = subprocess.run(
            [sys.executable, "-m", f"studies.{name}", *sys.argv[1:]], cwd=Path(__file__).parents[1], check=False
        ).returncode
        worst = max(worst, abs(status))
        print(f"== studies.{name}: exit {status} after {(time.monotonic() - begin) / 60:.1f} min in all", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
