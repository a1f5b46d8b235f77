"""The main command on plain tables: ``askew fit t.csv --target fraud`` with the method left to askew.

Run with ``python -m benchmarks.plain_tables [--seconds S] [--fresh]``. Tables of 500 to 130,000 rows are made from a
seed: numbers only, categories only and both, with 0.5 % to 10 % positives. Each is fitted by the command line in a
process of its own and has to end with a model. The one exception is a table too small for the default tolerance: there
the command has to end with exit code 4 and the number of negatives it needs. The program ends with exit code 1 where a
fit does not end as it has to.

A run goes on where the last one was stopped, or where it began no more fits after S seconds; ``--fresh`` begins anew.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import RESULTS, save

KINDS = ("numbers", "categories", "both")
NAME = "plain_tables"
INFEASIBLE = 4
LIMIT_SECONDS = 900.0


@dataclass(frozen=True)
class Case:
    """One table and how it is fitted.

    Attributes
    ----------
    rows : int
    share : float
        Of the rows that are fraud.
    kind : {"numbers", "categories", "both"}
        What the columns hold.
    options : list of str
        Of ``askew fit``, beside table, target and output.
    is_feasible : bool
        Whether the table has enough negatives for the promise.
    """

    rows: int
    share: float
    kind: str
    options: list[str] = field(default_factory=list)
    is_feasible: bool = True


def cases() -> list[Case]:
    """Every table of the benchmark, small ones first."""
    small = [Case(500, share, kind, ["--tolerance", "0.1"]) for share in (0.02, 0.1) for kind in KINDS]
    small += [Case(500, share, "both", is_feasible=False) for share in (0.02, 0.1)]
    sizes = (3_000, 9_000, 14_000, 25_000)
    middle = [Case(rows, share, kind) for rows in sizes for share in (0.02, 0.1) for kind in KINDS]
    return small + middle + [Case(rows, 0.005, "both", ["--minutes", "1"]) for rows in (60_000, 130_000)]


def plain_table(rows: int, share: float, kind: str, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of a table with exactly ``share`` of fraud, in random order, whose kinds of rows overlap."""
    rng = np.random.default_rng(seed)
    fraud = np.zeros(rows, np.int64)
    fraud[rng.permutation(rows)[: round(share * rows)]] = 1
    columns: dict[str, np.ndarray] = {}
    if kind in ("numbers", "both"):
        columns["amount"] = np.round(np.exp(rng.normal(3.5 + 1.0 * fraud, 1.0)), 2)
        columns["age_days"] = np.round(rng.gamma(2.0, 200.0, rows) * np.where(fraud, 0.4, 1.0))
        columns["hour"] = np.where(rng.random(rows) < 0.6 * fraud, rng.integers(0, 6, rows), rng.integers(0, 24, rows))
        for k in range(4):
            columns[f"score_{k}"] = np.round(rng.normal(0.5 * fraud * (k < 2), 1.0), 4)
    if kind in ("categories", "both"):
        for name, levels, pull in (("channel", 3, 0.5), ("country", 20, 0.4), ("device", 8, 0.3), ("weekday", 7, 0.0)):
            usual = rng.dirichlet(np.ones(levels))
            unusual = (1.0 - pull) * usual + pull * rng.dirichlet(np.full(levels, 0.3))
            drawn = np.where(fraud, rng.choice(levels, rows, p=unusual), rng.choice(levels, rows, p=usual))
            columns[name] = np.array([f"{name[:2]}{level}" for level in range(levels)])[drawn]
    return {**columns, "fraud": fraud}


def write_csv(path: Path, columns: dict[str, np.ndarray]) -> None:
    """A table as a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def measure(case: Case, folder: Path) -> dict[str, Any]:
    """Fit one table in a process of its own."""
    table, model = folder / "t.csv", folder / "m.skops"
    model.unlink(missing_ok=True)
    write_csv(table, plain_table(case.rows, case.share, case.kind))
    command = [sys.executable, "-m", "askew.cli", "fit", str(table), "--target", "fraud", *case.options]
    begin = time.perf_counter()
    done = subprocess.run(
        [*command, "-o", str(model), "--json"], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    seconds = time.perf_counter() - begin
    if case.is_feasible:
        ends_well = done.returncode == 0 and model.exists()
    else:
        ends_well = done.returncode == INFEASIBLE and "needs at least" in done.stderr and not model.exists()
    found = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    return {
        **asdict(case),
        "ends_well": ends_well,
        "exit_code": done.returncode,
        "seconds": round(seconds, 1),
        "method": found.get("method"),
        "params": found.get("params"),
        "auc": found.get("auc"),
        "tpr": found.get("promise", {}).get("tpr"),
        "remarks": [line for line in done.stderr.splitlines() if line.strip()],
    }


def show(found: dict[str, Any]) -> None:
    """One line of the table, and under it what the command said on standard error."""
    auc = "" if found["auc"] is None else f"{found['auc']:.3f}"
    print(
        f"{found['rows']:7,}  {found['share']:6.1%}  {found['kind']:10}  {' '.join(found['options']):15}  "
        f"{found['exit_code']:4}  {found['seconds']:7.1f}  {auc:>5}  {found['method'] or ''}"
        f"{'' if found['ends_well'] else '  <- does not end as it has to'}",
        *(f"{'':9}{remark}" for remark in found["remarks"]),
        sep="\n",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no fit after so many seconds")
    parser.add_argument("--fresh", action="store_true", help="forget what the last run found")
    options = parser.parse_args()
    begin, path = time.monotonic(), RESULTS / f"{NAME}.json"
    known = json.loads(path.read_text())["fits"] if path.exists() and not options.fresh else []
    left = [case for case in cases() if not any(asdict(case) == {k: found[k] for k in asdict(case)} for found in known)]
    print(f"{'rows':>7}  {'fraud':>6}  {'columns':10}  {'options':15}  {'exit':>4}  {'seconds':>7}  {'AUC':>5}  method")
    for found in known:
        show(found)
    with tempfile.TemporaryDirectory() as folder:
        for case in left:
            if time.monotonic() - begin > options.seconds:
                break
            known.append(measure(case, Path(folder)))
            show(known[-1])
            save(NAME, {"fits": known})
    if not all(found["ends_well"] for found in known):
        sys.exit(1)


if __name__ == "__main__":
    main()
