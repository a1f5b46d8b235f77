"""The command line of every study: ``python -m studies.NAME [--quick] [--jobs N] [--only-pages]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from studies.protocol.cells import Ledger, run
from studies.protocol.page import fill

_PACKAGES = ("askew", "numpy", "scipy", "scikit-learn", "numba", "imbalanced-learn", "pyod", "matplotlib")


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


def save_summary(order: Order, settings: Mapping[str, Any], summary: Mapping[str, Any]) -> Path:
    """Write ``summary.json`` with the settings and versions it rests on; beside first, then renamed."""
    order.results.mkdir(parents=True, exist_ok=True)
    path = order.results / "summary.json"
    record = {"settings": settings, "versions": _versions(), **summary}
    draft = path.with_suffix(".json.part")
    draft.write_text(json.dumps(record, indent=1, default=lambda v: v.tolist()) + "\n")
    os.replace(draft, path)
    return path


def conduct(folder: Path, description: str | None, experiment: Any, report: Any) -> int:
    """A study of one list of cells: compute what is missing, then summary, figures and the tables of the page.

    Parameters
    ----------
    folder : Path
        Of the study.
    description : str, optional
        For ``--help``.
    experiment : module
        With ``SETTINGS``, ``cells(quick)`` and ``work(cell)``.
    report : module
        With ``summarise(rows)``, ``draw(summary, folder)`` and ``pages(summary)``.
    """
    order = read_order(folder, description)
    ledger, wanted = Ledger(order.results, experiment.SETTINGS), experiment.cells(order.quick)
    rows = ledger.rows(wanted) if order.only_pages else run(ledger, wanted, experiment.work, jobs=order.jobs)
    found = report.summarise(rows)
    save_summary(order, experiment.SETTINGS, found)
    report.draw(found, order.results)
    if not order.quick:
        fill(order.folder / "README.md", report.pages(found))
    return 0


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {"python": platform.python_version(), "architecture": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
