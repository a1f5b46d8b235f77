"""Asymmetric support vector machines, run again: ``python -m studies.asvm [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import sys
from pathlib import Path

from askew.exceptions import DataError
from benchmarks.data import available
from studies.asvm import pages
from studies.asvm.experiment import QUICK, SETTINGS, comparisons, pictures, work
from studies.asvm.sets import TITLES
from studies.protocol.cells import Ledger, run
from studies.protocol.command import read_order


def main() -> int:
    """Compute what is missing, then write tables and figures."""
    order = read_order(Path(__file__).parent, __doc__)
    ledger = Ledger(order.results, SETTINGS)
    cells = [*pictures(order.quick), *(comparisons(QUICK, 2) if order.quick else comparisons())]
    if not order.only_pages:
        try:
            missing = sorted(set(TITLES) - set(available()))
        except DataError as error:
            print(error, file=sys.stderr)
            return 2
        if missing:
            print(f"These sets are not in the data folder: {', '.join(missing)}.", file=sys.stderr)
            return 2
        run(ledger, cells, work, jobs=order.jobs)
    pages.write(order, ledger, cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())
