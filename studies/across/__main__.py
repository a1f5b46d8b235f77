"""All methods on many imbalanced sets: ``python -m studies.across [--quick] [--jobs N] [--only-pages]``.

Every method of askew, the controls and the usual references under one protocol, compared by mean ranks over sets. The
data folder (``ASKEW_DATA``) must hold the sets, see ``askew.datasets``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from studies.across.comparison import Results
from studies.across.experiment import SEEDS, SETTINGS, cells, work
from studies.across.figures import critical_differences, quality_and_cost
from studies.across.tables import all_tables, summary
from studies.protocol.cells import Ledger, run
from studies.protocol.command import read_order, save_summary
from studies.protocol.page import fill


def main() -> None:
    """Compute what is missing, then make summary, tables and figures."""
    order = read_order(Path(__file__).parent, __doc__)
    ledger, todo = Ledger(order.results, SETTINGS), cells(quick=order.quick)
    rows = ledger.rows(todo) if order.only_pages else run(ledger, todo, work, jobs=order.jobs)
    results = Results(rows)
    if len(results.sets) < 2:
        sys.exit(f"{len(rows)} of {len(todo)} cells are there, too few to compare methods on; run without --only-pages")
    core_minutes = round(sum(row["cpu"] for row in rows) / 60, 1)
    save_summary(order, SETTINGS, {"core_minutes": core_minutes, **summary(results)}, seeds=SEEDS, cells=todo)
    critical_differences(results, order.results)
    quality_and_cost(results, order.results)
    tables = all_tables(results)
    if order.quick:
        print(tables["ranks"])
    else:
        fill(order.folder / "README.md", tables)
    print(f"{len(results.sets)} sets, {len(rows)} of {len(todo)} cells, {core_minutes} core-minutes")


if __name__ == "__main__":
    main()
