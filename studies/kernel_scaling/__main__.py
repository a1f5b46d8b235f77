"""Paper 003 run again: ``python -m studies.kernel_scaling [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import sys
from pathlib import Path

from studies.kernel_scaling import experiment, report
from studies.protocol.command import conduct

if __name__ == "__main__":
    sys.exit(conduct(Path(__file__).parent, __doc__, experiment, report))
