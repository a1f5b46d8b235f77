"""How every benchmark here is run: contestants take turns, medians are compared, results are saved.

Machines are shared and noisy, so a time means nothing by itself. Each round times every contestant once, one after the
other; a ratio is formed within the round and its median over the rounds is reported.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

RESULTS = Path(__file__).parent / "results"


def take_turns(
    contestants: Mapping[str, Callable[[], Any]], rounds: int
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds of each contestant in each round, and what its last call returned."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    last: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in contestants.items():
            begin = time.perf_counter()
            last[name] = run()
            seconds[name].append(time.perf_counter() - begin)
    return seconds, last


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
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": {
            package: _version(package)
            for package in ("askew", "numpy", "scipy", "scikit-learn", "numba", "scikit-learn-intelex")
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
