"""Where askew is slower than a peer: the guard for speed, cell by cell.

Run with ``make versus`` or ``python -m benchmarks.versus``; writes ``results/versus.json`` after every cell and goes on
where it was stopped. Each cell runs in a process of its own: contestants take turns, medians and quartiles of the
ratio (time of the peer / time of askew; above 1 askew is faster) stand beside the KKT violation and the objective of
every answer, recomputed in float64 (``benchmarks.judge``). A peer that takes more than 20 times as long is ended, and
its ratio is a lower bound (≥). Real data come from the folder in ASKEW_DATA; what is not there is generated and said.

    --only GLOB            cells whose name matches; may be repeated        --again        compute them anew
    --quick                a few cells, kept in versus_quick.json           --rounds N     turns in a fast cell
    --prefix "nice -n -5"  a command that starts each cell                  --check        fail where a goal is missed
    --compare BEFORE [AFTER]   only name the cells that got slower by more than their spread
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import contest

ROOT = Path(__file__).parents[1]
LIMIT = 150.0  # seconds that reading, judging, or one call may take
TOO_SLOW, AT_LEAST = 20.0, 15.0  # times as long as ours, but at least so many seconds: then a peer is ended
BUDGET = 6.0  # seconds of turns after the first three
NOISE, NOISE_OF_FEW = 0.05, 0.15  # least spread of a ratio, with three rounds or more and with fewer
ALARM = (-signal.SIGALRM, 128 + signal.SIGALRM)
Record = dict[str, Any]


def main(words: Sequence[str] | None = None) -> int:
    options = parse(words)
    name = "versus_quick" if options.quick else "versus"
    if options.cell:
        print(json.dumps(compute(options.cell, options.rounds, json.loads(options.ended))))
        return 0
    if options.compare:
        before, after = (read(Path(p)) for p in (*options.compare, contest.RESULTS / f"{name}.json")[:2])
        return report_slower(before, after)
    from benchmarks.versus_cells import QUICK, cells, intelex

    if intelex() is None:
        print('scikit-learn-intelex is not installed (pip install "askew[bench]"): its ratios are left out')
    wanted = [c for c in (QUICK if options.quick else cells()) if any(fnmatch(c, glob) for glob in options.only or "*")]
    known = run(name, wanted, options)
    done = {cell: known[cell] for cell in wanted if cell in known}
    missed = summarise(done)
    return 1 if options.check and (missed or len(done) < len(wanted)) else 0


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="GLOB")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--compare", nargs="+", metavar="FILE")
    parser.add_argument("--cell", help="compute this one cell in this process and print its record")
    parser.add_argument("--ended", default="{}", help="with --cell: peers not to run, as JSON of the seconds they had")
    return parser.parse_args(words)


def read(path: Path) -> dict[str, Record]:
    """The cells of a file of results; none where there is no file."""
    return json.loads(path.read_text())["cells"] if path.is_file() else {}


def run(name: str, wanted: Sequence[str], options: argparse.Namespace) -> dict[str, Record]:
    """Compute the cells that are missing, keeping each as soon as it is there."""
    known = read(contest.RESULTS / f"{name}.json")
    todo = [cell for cell in wanted if options.again or cell not in known]
    print(f"{len(wanted) - len(todo)} of {len(wanted)} cells are there, {len(todo)} to compute", flush=True)
    for number, cell in enumerate(todo, 1):
        known[cell] = run_apart(cell, options.rounds, shlex.split(options.prefix))
        contest.save(name, {"cells": known})
        print(f"{number}/{len(todo)}  {line(cell, known[cell])}", flush=True)
    return known


def run_apart(cell: str, rounds: int, prefix: Sequence[str] = ()) -> Record:
    """The record of a cell computed in its own process; begun again without a peer that had to be ended."""
    ended: dict[str, float] = {}
    while True:
        words = [*prefix, sys.executable, "-m", "benchmarks.versus", "--cell", cell, "--rounds", str(rounds)]
        status, said, error = call([*words, "--ended", json.dumps(ended)])
        if status == 0:
            return said[-1]
        last = said[-1] if said else {}
        if status in ALARM and not last.get("is_ours", True):
            ended[last["running"]] = last["limit"]
            continue
        stage = last.get("running", "reading the data")
        return {"failed": f"{stage}: " + (f"over {LIMIT:g} s" if status in ALARM else error or f"status {status}")}


def call(words: Sequence[str]) -> tuple[int, list[Record], str]:
    """Status, JSON lines and last line of error of a process in a group of its own, none of which outlives it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        environment = {"PYTHONWARNINGS": "ignore", **os.environ, "TMPDIR": folder}
        process = subprocess.Popen(
            words, cwd=ROOT, env=environment, text=True, start_new_session=True, stdout=subprocess.PIPE, stderr=errors
        )
        try:
            said = [json.loads(text) for text in process.stdout if text.startswith("{")]
            status = process.wait()
        finally:
            with suppress(ProcessLookupError):  # nothing was left
                os.killpg(process.pid, signal.SIGKILL)
        errors.seek(0)
        return status, said, ["", *errors.read().strip().splitlines()][-1]


def compute(cell: str, rounds: int, ended: Mapping[str, float]) -> Record:
    """One cell, in this process. SIGALRM ends it where a call takes too long, C code included."""
    from benchmarks.versus_cells import OURS, cells

    def watch(name: str, ours: float | None) -> None:
        limit = LIMIT if ours is None or name == OURS else min(LIMIT, max(AT_LEAST, TOO_SLOW * ours))
        print(json.dumps({"running": name, "limit": limit, "is_ours": name == OURS}), flush=True)
        signal.setitimer(signal.ITIMER_REAL, limit)

    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    made = cells()[cell]()
    runs = {name: call for name, call in made.runs.items() if name not in ended}
    seconds, last = contest.race(runs, rounds, BUDGET, watch)
    watch("the judge", None)
    judged = made.judge(last)
    signal.setitimer(signal.ITIMER_REAL, 0)
    ratios = {name: contest.ratio_with_spread(seconds[name], seconds[OURS]) for name in seconds if name != OURS}
    for name, limit in ended.items():
        bound = round(limit / median(seconds[OURS]), 3)
        ratios[name] = {"ratio": bound, "low": bound, "high": bound, "is_bound": True}
    return {
        "n": made.shape[0],
        "d": made.shape[1],
        "data": made.data,
        "ratios": {name: {**ratio, "goal": made.goal(name)} for name, ratio in ratios.items()},
        "median seconds": {name: float(f"{median(times):.4g}") for name, times in seconds.items()},
        "rounds": {name: len(times) for name, times in seconds.items()},
        "judged in float64": judged,
        "objective above ours": objective_differences(judged, OURS) if made.is_one_programme else {},
        "made": {**contest.machine(), "commit": contest.commit()},
    }


def objective_differences(judged: Mapping[str, Mapping[str, Any]], ours: str) -> dict[str, float]:
    """(theirs − ours) / |ours| of one programme's objective."""
    mine = judged[ours].get("objective")
    return {
        name: (said["objective"] - mine) / max(abs(mine), 1e-300)
        for name, said in judged.items()
        if name != ours and mine is not None and "objective" in said
    }


def losing(record: Record) -> list[str]:
    """Peers against whom a cell misses its goal; a cell that failed misses them all."""
    if "failed" in record:
        return ["failed"]
    return [name for name, r in record["ratios"].items() if r["goal"] is not None and r["ratio"] < r["goal"]]


def line(cell: str, record: Record) -> str:
    """A cell in one line: its ratios with quartiles, those below their goal marked, and the violations."""
    if "failed" in record:
        return f"{cell:<36} * failed: {record['failed']}"
    bad = losing(record)
    shown = []
    for name, r in record["ratios"].items():
        mark, bound = "*" if name in bad else "", "≥" if r.get("is_bound") else ""
        shown.append(f"{mark}{name} {bound}{r['ratio']:.3g} ({r['low']:.2g}–{r['high']:.2g})")
    kkt = [f"{said['kkt']:.1e}" for said in record["judged in float64"].values() if "kkt" in said]
    return f"{cell:<36} {record['n']}×{record['d']}  {'  '.join(shown)}" + (f"  KKT {' '.join(kkt)}" if kkt else "")


def summarise(done: Mapping[str, Record]) -> int:
    """Print the table; return how many cells miss a goal."""
    missed = [cell for cell in done if losing(done[cell])]
    print("\npeer's time / askew's, median (quartiles); * below its goal; KKT in the order askew, peers")
    for cell, record in done.items():
        print(line(cell, record))
    commits = sorted({str(record["made"]["commit"]) for record in done.values() if "made" in record})
    print(f"{len(missed)} of {len(done)} cells miss a goal; measured at {', '.join(commits)}")
    return len(missed)


def report_slower(before: Mapping[str, Record], after: Mapping[str, Record]) -> int:
    """Print every cell that got slower, or is gone; 1 where there is one."""
    worse = [f"{cell}: not in the later file" for cell in before if cell not in after]
    for cell in before.keys() & after.keys():
        told = slower(before[cell], after[cell])
        worse += [f"{cell}: {told}"] if told else []
    print("\n".join(sorted(worse)) or f"none of {len(before)} cells got slower by more than its spread")
    return 1 if worse else 0


def slower(before: Record, after: Record) -> str | None:
    """What fell, where the spreads of the ratio part for at least half of the peers; a peer's noise alone is not it."""
    if "failed" in before or "failed" in after:
        return f"failed: {after['failed']}" if "failed" in after and "failed" not in before else None
    fell, shared = [], [name for name in before["ratios"] if name in after["ratios"]]
    for name in shared:
        old, new = before["ratios"][name], after["ratios"][name]
        if new["high"] < old["low"] and new["ratio"] < (1.0 - _noise(before, after, name)) * old["ratio"]:
            fell.append(f"{name} {old['ratio']:.3g} → {new['ratio']:.3g}")
    return ", ".join(fell) if shared and 2 * len(fell) >= len(shared) else None


def _noise(before: Record, after: Record, peer: str) -> float:
    fewest = min(min(record["rounds"].get(name, 1) for name in ("askew", peer)) for record in (before, after))
    return NOISE if fewest >= contest.LEAST_ROUNDS else NOISE_OF_FEW


if __name__ == "__main__":
    sys.exit(main())
