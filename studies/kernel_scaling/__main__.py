"""Paper 003 run again: ``python -m studies.kernel_scaling [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import sys
from pathlib import Path

from studies.kernel_scaling import experiment, figures, summary, tables
from studies.protocol import cells, command, page


def main() -> int:
    """Compute what is missing, then the summary, the figures and the tables of the page."""
    order = command.read_order(Path(__file__).parent, __doc__)
    ledger = cells.Ledger(order.results, experiment.STATED)
    wanted = experiment.cells(order.quick)
    rows = ledger.rows(wanted) if order.only_pages else cells.run(ledger, wanted, experiment.work, jobs=order.jobs)
    found = summary.summarise(rows)
    command.save_summary(order, experiment.STATED, found)
    figures.draw(found, order.results)
    if not order.quick:
        page.fill(order.folder / "README.md", tables.pages(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
