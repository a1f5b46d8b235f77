"""Paper 001 run again: ``python -m studies.cosvm [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import sys
from pathlib import Path

from studies.cosvm import experiment, report
from studies.protocol.command import conduct

if __name__ == "__main__":
    sys.exit(conduct(Path(__file__).parent, __doc__, experiment, report))
