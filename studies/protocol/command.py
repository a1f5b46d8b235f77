"""The command line of every study: ``python -m studies.NAME [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.protocol.cells import Cell, Ledger, run
from studies.protocol.page import fill
from studies.protocol.provenance import gathered


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
    def results(self) -> Path:
        """Where cells, summary and figures go."""
        place = self.folder / "results"
        return place / "quick" if self.quick else place


def read_order(folder: Path, description: str | None) -> Order:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few sets and repeats, to see that everything runs")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes, one thread each (default 2)")
    parser.add_argument("--only-pages", action="store_true", help="make tables and figures from finished cells")
    asked = parser.parse_args()
    if asked.jobs < 1:
        parser.error(f"--jobs must be at least 1; got {asked.jobs}")
    return Order(folder, asked.quick, asked.jobs, asked.only_pages)


def save_summary(
    order: Order,
    settings: Mapping[str, Any],
    summary: Mapping[str, Any],
    *,
    seeds: Mapping[str, str] | None = None,
    cells: Iterable[Cell] | None = None,
) -> Path:
    """Write ``summary.json``; beside first, then renamed.

    Parameters
    ----------
    order : Order
    settings : mapping
        The settings that the cells were computed under.
    summary : mapping
        The numbers of the page.
    seeds : mapping, optional
        What is drawn at random, and how it is seeded. Words for the reader, no part of the settings.
    cells : iterable of cells, optional
        Those the page rests on; by default all cells of these settings in the results and the folders below them.
        The summary says with which versions, commits and numbers of cores they were computed.
    """
    order.results.mkdir(parents=True, exist_ok=True)
    path = order.results / "summary.json"
    record = {"settings": settings, **({"seeds": seeds} if seeds else {}), **_made(order, settings, cells), **summary}
    draft = path.with_suffix(".json.part")
    draft.write_text(json.dumps(record, indent=1, default=lambda v: v.tolist()) + "\n")
    os.replace(draft, path)
    return path


def _made(order: Order, settings: Mapping[str, Any], cells: Iterable[Cell] | None) -> dict[str, Any]:
    """What the cells were computed with, from the lists in the results folder and in those below it."""
    if cells is not None:
        return gathered(Ledger(order.results, settings).provenances(cells))
    inner = [path.parent for path in sorted(order.results.glob("*/cells.jsonl")) if path.parent.name != "quick"]
    return gathered(made for folder in (order.results, *inner) for made in Ledger(folder, settings).provenances())


def conduct(folder: Path, description: str | None, experiment: Any, report: Any) -> int:
    """A study of one list of cells: compute what is missing, then summary, figures and the tables of the page.

    Parameters
    ----------
    folder : Path
        Of the study.
    description : str, optional
        For ``--help``.
    experiment : module
        With ``SETTINGS``, ``cells(quick)`` and ``work(cell)``; with ``SEEDS`` where it draws at random.
    report : module
        With ``summarise(rows)``, ``draw(summary, folder)`` and ``pages(summary)``.
    """
    order = read_order(folder, description)
    ledger, wanted = Ledger(order.results, experiment.SETTINGS), experiment.cells(order.quick)
    rows = ledger.rows(wanted) if order.only_pages else run(ledger, wanted, experiment.work, jobs=order.jobs)
    found = report.summarise(rows)
    save_summary(order, experiment.SETTINGS, found, seeds=getattr(experiment, "SEEDS", None), cells=wanted)
    report.draw(found, order.results)
    if not order.quick:
        fill(order.folder / "README.md", report.pages(found))
    return 0
