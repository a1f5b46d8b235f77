"""Tables 1–5 and the ROC figures of papers 000 and 002: ``python -m studies.moments [--quick] [--only-pages]``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from askew.exceptions import DataError
from benchmarks.data import available
from studies.moments import experiment, timing
from studies.moments.grids import SETTINGS
from studies.moments.pages import publish
from studies.moments.sets import DENSE, DENSE_RARE, RCV1, REUTERS, REUTERS_RARE, TEXT
from studies.protocol.cells import Ledger, run
from studies.protocol.command import read_order


@dataclass(frozen=True)
class Size:
    """How much of the study to run: tasks, and cuts of each."""

    dense: tuple[str, ...] = DENSE
    rare: tuple[str, ...] = DENSE_RARE
    text: tuple[str, ...] = TEXT
    timed: tuple[str, ...] = (*DENSE, *RCV1, *REUTERS_RARE)
    worded: tuple[str, ...] = (*REUTERS, *REUTERS_RARE)
    dense_cuts: int = 20
    other_cuts: int = 10
    timed_cuts: int = 3


QUICK = Size(("mammography",), (), (RCV1[1], REUTERS_RARE[1]), (REUTERS_RARE[1],), (), 2, 2, 1)


def _check_data(tasks: tuple[str, ...]) -> None:
    """End here, with one line, where the data are not at hand."""
    try:
        missing = sorted({task.partition("/")[0] for task in tasks} - set(available()))
    except DataError as error:
        raise SystemExit(f"This study needs the data folder: {error}") from None
    if missing:
        raise SystemExit(f"The data folder lacks {', '.join(missing)}; see askew.datasets for where they come from.")


def main() -> None:
    """Compute what is missing, then draw."""
    order = read_order(Path(__file__).parent, __doc__)
    size = QUICK if order.quick else Size()
    cells = [
        *experiment.count_cells((*size.dense, *size.text)),
        *experiment.text_cells(size.text, size.other_cuts),
        *experiment.dense_cells(size.dense, size.dense_cuts),
        *experiment.rare_cells(size.rare, size.other_cuts),
        *experiment.kernel_cells(size.dense, size.other_cuts),
        *experiment.word_cells(size.worded),
    ]
    timed = timing.timing_cells(size.timed, size.timed_cuts)
    ledger, clock = Ledger(order.results, SETTINGS), Ledger(order.results / "times", SETTINGS)
    if not order.only_pages:
        _check_data((*size.dense, *size.text))
        run(ledger, cells, experiment.work, jobs=order.jobs)
        run(clock, timed, timing.work, jobs=1)
    publish(order, ledger.rows(cells), clock.rows(timed))


if __name__ == "__main__":
    main()
