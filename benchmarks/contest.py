"""How every benchmark here is run: contestants take turns, medians are compared, results are saved.

Machines are shared and noisy, so a time means nothing by itself. Each round times every contestant once, one after the
other; a ratio is formed within the round and its median over the rounds is reported.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
SLOW = 8.0  # seconds; a contestant that takes longer in the first turn is not asked again by ``race``
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Took:
    """What a contestant returns that was timed elsewhere, in a process of its own: its seconds and its answer."""

    seconds: float
    answer: Any = None


def take_turns(
    contestants: Mapping[str, Callable[[], Any]], rounds: int
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds of each contestant in each round, and what its last call returned."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    last: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in contestants.items():
            took, last[name] = _timed(run)
            seconds[name].append(took)
    return seconds, last


def race(
    contestants: Mapping[str, Callable[[], Any]],
    rounds: int,
    budget: float,
    watch: Callable[[str, float | None], Any] = lambda name, ours: None,
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """``take_turns`` after a first turn that does not count, in ``budget`` seconds or three rounds.

    Contestants slower than ``SLOW`` keep the time of that first turn. ``watch`` is told who begins, and how long the
    first contestant took in its first turn.
    """
    first: dict[str, float] = {}
    last: dict[str, Any] = {}
    ours = None
    for name, run in contestants.items():
        watch(name, ours)
        first[name], last[name] = _timed(run)
        ours = first[name] if ours is None else ours
    again = {name: run for name, run in contestants.items() if first[name] <= SLOW}
    seconds = {name: [] if name in again else [first[name]] for name in contestants}
    begin = time.perf_counter()
    for done in range(rounds if again else 0):
        if done >= LEAST_ROUNDS and time.perf_counter() - begin > budget:
            break
        for name, run in again.items():
            watch(name, ours)
            took, last[name] = _timed(run)
            seconds[name].append(took)
    return seconds, last


def ratio_with_spread(theirs: list[float], ours: list[float]) -> dict[str, float]:
    """Median and quartiles of theirs over ours by rounds; who has one time is set against all of the other's."""
    n = max(len(theirs), len(ours))
    pairs = zip(*(times * n if len(times) == 1 else times for times in (theirs, ours)), strict=False)
    low, middle, high = np.percentile([t / o for t, o in pairs], [25, 50, 75])
    return {"ratio": round(float(middle), 3), "low": round(float(low), 3), "high": round(float(high), 3)}


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    answer = run()
    seconds = time.perf_counter() - begin
    return (answer.seconds, answer.answer) if isinstance(answer, Took) else (seconds, answer)


def ratios(seconds: Mapping[str, list[float]], ours: str) -> dict[str, float]:
    """How many times longer each peer took than ``ours``: the median over rounds."""
    return {
        name: round(median(t / o for t, o in zip(times, seconds[ours], strict=True)), 3)
        for name, times in seconds.items()
        if name != ours
    }


def save(name: str, record: Mapping[str, Any]) -> Path:
    """Write a record with the versions it was measured with; beside first, then renamed."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    draft = path.with_suffix(".json.part")
    draft.write_text(json.dumps({"machine": machine(), **record}, indent=1) + "\n")
    os.replace(draft, path)
    return path


def machine() -> dict[str, Any]:
    """What the ratios depend on besides the code."""
    return {
        "python": platform.python_version(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": {
            package: _version(package)
            for package in ("askew", "numpy", "scipy", "scikit-learn", "numba", "scikit-learn-intelex")
        },
    }


def _processor() -> str:
    """Name of the processor."""
    told = Path("/proc/cpuinfo")
    names = [line for line in told.read_text().splitlines() if line.startswith("model name")] if told.exists() else []
    return names[0].partition(":")[2].strip() if names else platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def commit() -> str | None:
    """Short hash of the checkout that askew is imported from, with "+" where its code differs; None outside of one."""
    import askew

    root = Path(askew.__file__).parents[2]
    try:
        git = partial(subprocess.run, cwd=root, capture_output=True, text=True, check=True)
        head = git(["git", "rev-parse", "--short", "HEAD"]).stdout.strip()
        changed = git(["git", "status", "--porcelain", "--", "src"]).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changed else "")
