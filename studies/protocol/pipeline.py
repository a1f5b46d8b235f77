"""The pipeline of every study: ``python -m studies.NAME [--quick] [--jobs N] [--only-pages]``.

A study is a folder of files that are named alike:

    sets.py          the rows, and how they are split
    methods.py       what is compared
    measurements.py  what is measured in a cell, where the experiment does not hold it
    experiment.py    SETTINGS, and SEEDS where the settings do not say them; cells(quick), work(cell); sets_of(cell),
                     the data sets that a cell reads; timed_cells(quick), computed one at a time and kept apart
    summary.py       summarise(finished): what is found, for tables and figures
    tables.py        TABLES by the names of their places in the page; QUICK, those that a quick run has the cells for;
                     numbers(found), where summary.json keeps something else than what is found
    figures.py       draw(found, folder)
    paper.py         what the paper prints
    README.md        the page
    results/         cells.jsonl, summary.json and figures
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from askew.exceptions import DataError
from benchmarks.data import missing
from studies.protocol.cells import Cell, Finished, Ledger, TooFewCells, run
from studies.protocol.provenance import gathered
from studies.protocol.tables import fill

_MAKERS = ("summary", "tables", "figures")


@dataclass(frozen=True)
class Order:
    """What the user asked for.

    Attributes
    ----------
    folder : Path
        Of the study: its README lies there, its results and figures in ``results`` under it.
    quick : bool
        Few sets, few repeats, in ``results/quick``, which is not committed; the README is left alone.
    jobs : int
        Worker processes.
    only_pages : bool
        Compute nothing; make tables and figures from the cells that are there.
    """

    folder: Path
    quick: bool
    jobs: int
    only_pages: bool

    @property
    def study(self) -> str:
        """Name of the study."""
        return self.folder.name

    @property
    def results(self) -> Path:
        """Where cells, summary and figures go."""
        place = self.folder / "results"
        return place / "quick" if self.quick else place


def main(package: str) -> None:
    """Run the study of this package as the command line asks."""
    study = import_module(package)
    order = read_order(Path(study.__file__).parent, study.__doc__)
    try:
        sys.exit(conduct(order))
    except DataError as error:
        sys.exit(f"{order.study}: {error}")


def read_order(folder: Path, description: str | None) -> Order:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog=f"python -m studies.{folder.name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="few sets and repeats, to see that everything runs")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes, one thread each (default 2)")
    parser.add_argument("--only-pages", action="store_true", help="make tables and figures from finished cells")
    asked = parser.parse_args()
    if asked.jobs < 1:
        parser.error(f"--jobs must be at least 1; got {asked.jobs}")
    return Order(folder, asked.quick, asked.jobs, asked.only_pages)


def conduct(order: Order) -> int:
    """Compute the cells that are not finished, then make summary, figures and tables; the exit status.

    A quick run leaves out the cells whose data sets are not there. A whole run does not begin without them: nobody
    would notice that its page was made from a part of the sets.
    """
    experiment = import_module(f"studies.{order.study}.experiment")
    plan = [Batch(Ledger(order.results, experiment.SETTINGS), experiment.cells(order.quick), order.jobs)]
    if hasattr(experiment, "timed_cells"):
        times = Ledger(order.results / "times", experiment.SETTINGS)
        plan.append(Batch(times, experiment.timed_cells(order.quick), jobs=1))
    planned = sum(len(batch.cells) for batch in plan)
    if not order.only_pages:
        lacking = _lacking(order, plan, experiment.sets_of)
        if lacking and not order.quick:
            return 2
        plan = [batch.without(lacking, experiment.sets_of) for batch in plan]
        for batch in (each for each in plan if each.cells):
            run(batch.ledger, batch.cells, experiment.work, jobs=batch.jobs)
    finished = Finished([row for batch in plan for row in batch.ledger.rows(batch.cells)], planned)
    count = f"{order.study}: {len(finished.rows)} of {planned} cells are there"
    try:
        publish(order, experiment, finished, gathered(made for batch in plan for made in batch.made()))
    except TooFewCells as error:
        print(f"{count}, {error}", flush=True)
        return 0 if order.quick else 1
    print(f"{count}, {finished.minutes(1)} CPU minutes", flush=True)
    return 0


@dataclass(frozen=True)
class Batch:
    """Cells that are kept in one list and computed on so many processes."""

    ledger: Ledger
    cells: list[Cell]
    jobs: int

    def without(self, lacking: Collection[str], sets_of: Callable[[Cell], Sequence[str]]) -> Batch:
        """The cells that read none of these sets."""
        return replace(self, cells=[cell for cell in self.cells if not set(sets_of(cell)) & set(lacking)])

    def made(self) -> list[dict[str, Any] | None]:
        """What the finished cells were computed with."""
        return self.ledger.provenances(self.cells)


def _lacking(order: Order, plan: list[Batch], sets_of: Callable[[Cell], Sequence[str]]) -> list[str]:
    """Data sets that unfinished cells read and that are not there; a line for each says how to get it."""
    unfinished = [cell for batch in plan for cell in batch.ledger.missing(batch.cells)]
    lacking = missing(name for cell in unfinished for name in sets_of(cell))
    for name, remedy in lacking.items():
        print(f"{order.study}: the set {name} is not there and left out; to have it, {remedy}", flush=True)
    return list(lacking)


def publish(order: Order, experiment: Any, finished: Finished, made: Mapping[str, Any]) -> None:
    """Summary, figures and tables; the tables of a quick run go into its results, the page is left alone.

    Raises
    ------
    TooFewCells
        Where there is nothing to make them of.
    """
    summary, tables, figures = (import_module(f"studies.{order.study}.{part}") for part in _MAKERS)
    if not finished.rows:
        raise TooFewCells("so nothing is made of them")
    found = summary.summarise(finished)
    seeds = {"seeds": experiment.SEEDS} if hasattr(experiment, "SEEDS") else {}
    numbers = tables.numbers(found) if hasattr(tables, "numbers") else found
    save_summary(order, {"settings": experiment.SETTINGS, **seeds, **made, **numbers})
    figures.draw(found, order.results)
    if order.quick:
        texts = (f"{name}\n\n{tables.TABLES[name](found)}\n" for name in tables.QUICK)
        (order.results / "tables.md").write_text("\n".join(texts))
    else:
        fill(order.folder / "README.md", {name: make(found) for name, make in tables.TABLES.items()})


def save_summary(order: Order, record: Mapping[str, Any]) -> Path:
    """Write ``summary.json``; beside first, then renamed."""
    order.results.mkdir(parents=True, exist_ok=True)
    path = order.results / "summary.json"
    draft = path.with_suffix(".json.part")
    draft.write_text(json.dumps(record, indent=1, default=lambda v: v.tolist()) + "\n")
    os.replace(draft, path)
    return path
