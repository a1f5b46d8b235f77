"""A study is a list of cells, each computed once and kept: a run that is killed goes on where it stopped.

A cell is a small dictionary, say ``{"set": "pima", "repeat": 3, "method": "ASVM"}``; its result is another. Finished
cells are appended to ``cells.jsonl``, one line each, with a digest of the settings they were computed under: after a
change of settings the old lines no longer count. A line cut short by a kill is ignored and its cell computed again.
Each line also says what it was computed with (versions, commit, cores); older lines without that stay valid.

Workers use one thread each, and ``cpu`` is the processor time of the cell, so that neither a busy machine nor the
other worker changes what is recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from studies.protocol.provenance import provenance

Cell = Mapping[str, Any]
Work = Callable[[Cell], Mapping[str, Any]]
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class TooFewCells(Exception):
    """What is finished does not suffice for any table of the study."""


@dataclass(frozen=True)
class Finished:
    """What a study makes its tables and figures of.

    Attributes
    ----------
    rows : list of dict
        Cell and result together, one for each finished cell.
    planned : int
        Cells of the whole study, finished or not.
    """

    rows: list[dict[str, Any]]
    planned: int = 0

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """The rows of one kind of cell."""
        return [row for row in self.rows if row["kind"] == kind]

    def minutes(self, digits: int) -> float:
        """Processor time of all rows."""
        return round(sum(row["cpu"] for row in self.rows) / 60, digits)


class Ledger:
    """The finished cells of one study under one choice of settings.

    Parameters
    ----------
    folder : Path
        Where ``cells.jsonl`` lies; made when missing.
    settings : mapping
        Everything that a result depends on besides its cell. Plain data.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "cells.jsonl"
        self.settings = settings
        self.digest = hashlib.sha256(_plain(settings).encode()).hexdigest()[:12]

    def results(self) -> dict[str, dict[str, Any]]:
        """Result of every finished cell, by ``key(cell)``."""
        return {name: {**entry["result"], "cpu": entry["cpu"]} for name, entry in self._entries().items()}

    def provenances(self, cells: Iterable[Cell]) -> list[dict[str, Any] | None]:
        """What each of the cells that are finished was computed with; None for a line that does not say."""
        found = self._entries()
        return [found[name].get("made") for name in map(key, cells) if name in found]

    def rows(self, cells: Iterable[Cell]) -> list[dict[str, Any]]:
        """Cell and result together, one dictionary each, for those cells that are finished."""
        found = self.results()
        return [{**cell, **found[key(cell)]} for cell in cells if key(cell) in found]

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """Those of the cells that are not finished."""
        found = self.results()
        return [cell for cell in cells if key(cell) not in found]

    def write(self, cell: Cell, result: Mapping[str, Any], cpu: float) -> None:
        """Append a finished cell; on its own line even where a kill cut the last one short."""
        entry = {"cell": dict(cell), "result": dict(result), "cpu": round(cpu, 4), "settings": self.digest}
        entry["made"] = provenance()
        text = _plain(entry) + "\n"
        with self.path.open("a+b") as file:
            if file.tell() and not _ends_a_line(self.path):
                text = "\n" + text
            file.write(text.encode())

    def _entries(self) -> dict[str, dict[str, Any]]:
        """The last line of every finished cell, by ``key(cell)``."""
        found: dict[str, dict[str, Any]] = {}
        for line in self._lines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # the line a kill cut short
                continue
            if entry.get("settings") == self.digest:
                found[key(entry["cell"])] = entry
        return found

    def _lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.is_file() else []


def run(
    ledger: Ledger, cells: Sequence[Cell], work: Work, *, jobs: int = 2, every: float = 10.0
) -> list[dict[str, Any]]:
    """Compute the missing cells on ``jobs`` processes, saying how far it is; return the rows of all.

    ``work`` must be importable by name. A cell that raises is reported at the end and not recorded, so the next run
    tries it again; the others are computed all the same.

    Raises
    ------
    RuntimeError
        When cells failed: how many, and the first few with their errors.
    """
    todo = ledger.missing(cells)
    name = f"{work.__module__.removeprefix('studies.')}.{work.__name__}"
    print(f"{name}: {len(cells) - len(todo)} of {len(cells)} cells are there, {len(todo)} to compute", flush=True)
    failures: list[str] = []
    if todo:
        os.environ.update(_ONE_THREAD)  # inherited by the workers, read when their libraries load
        with ProcessPoolExecutor(min(jobs, len(todo)), mp_context=get_context("spawn")) as pool:
            futures = {pool.submit(_timed, work, cell): cell for cell in todo}
            try:
                _collect(ledger, futures, name, failures, every)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                print(f"{name}: stopped; what is finished is kept in {ledger.path.name}", file=sys.stderr)
                raise
    if failures:
        shown = "\n  ".join(failures[:5])
        raise RuntimeError(f"{len(failures)} of {len(todo)} cells of {name} failed:\n  {shown}")
    return ledger.rows(cells)


def _collect(ledger: Ledger, futures: dict[Future[Any], Cell], name: str, failures: list[str], every: float) -> None:
    begin, said, pending = time.monotonic(), time.monotonic(), set(futures)
    while pending:
        done, pending = wait(pending, timeout=every, return_when=FIRST_COMPLETED)
        for future in done:
            cell = futures[future]
            error = future.exception()
            if error is None:
                result, cpu = future.result()
                ledger.write(cell, result, cpu)
            else:
                failures.append(f"{key(cell)}: {type(error).__name__}: {error}")
        if time.monotonic() - said >= every or not pending:
            said = time.monotonic()
            n_done = len(futures) - len(pending)
            left = (said - begin) / max(n_done, 1) * len(pending)
            print(f"{name}: {n_done}/{len(futures)}, about {left / 60:.1f} min left", flush=True)


def _timed(work: Work, cell: Cell) -> tuple[Mapping[str, Any], float]:
    begin = time.process_time()
    result = work(cell)
    return result, time.process_time() - begin


def key(cell: Cell) -> str:
    """The cell as text, the same whatever the order of its entries."""
    return _plain(cell)


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_as_plain)


def _as_plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a cell and its result must be plain data; got {type(value).__name__}")


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
