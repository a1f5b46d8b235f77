"""What the first fit in a process costs beyond its imports, in CPU seconds, with an empty cache and with a filled one.

Run with ``python -m benchmarks.cold_start [--rounds N] [--before FOLDER]``. The unit is what ``python -c "import
sklearn.svm"`` takes on the same machine in the same round, so that figures of different machines can be compared; a
figure is the median over rounds. Every fit runs in a process of its own, on a cache folder of its own, and its clock
starts when the estimator's module is imported: it holds the import of the compiler. ``askew --help`` is counted in all.
``--before`` measures another version of the package too, given the folder that holds it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.contest import save

SOURCE = Path(__file__).parent.parent / "src"
DATA = """
import time
import numpy as np
from scipy import sparse
from askew import {name}
rng = np.random.default_rng(0)
X = rng.normal(size=({rows}, 10))
y = (rng.random({rows}) < 0.1).astype(int)
X[y == 1] += 1.0
S = sparse.random({rows}, 2000, 0.01, format="csr", random_state=0)
begin = time.process_time()
{fit}
print(time.process_time() - begin)
"""
FITS = {
    "SVC": ("SVC", "SVC().fit(X, y)"),
    "OneClassSVM": ("OneClassSVM", "OneClassSVM().fit(X)"),
    "MomentSVC, dense": ("MomentSVC", "MomentSVC().fit(X, y)"),
    "MomentSVC, sparse": ("MomentSVC", 'MomentSVC(covariance="diagonal").fit(S, y)'),
}
GOALS = {
    "SVC": 1.3,
    "OneClassSVM": 1.3,
    "MomentSVC, dense": 2.0,
    "MomentSVC, sparse": 2.0,
    "askew --help": 0.4,
}
UNIT = "import sklearn.svm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--before", type=Path, help="folder that holds another version of the package")
    options = parser.parse_args()
    sources = {"now": SOURCE, **({"before": options.before} if options.before else {})}
    seconds: dict[str, dict[str, list[float]]] = {version: {} for version in sources}
    units = []
    for _ in range(options.rounds):
        units.append(whole_process(["-c", UNIT], SOURCE))
        for version, source in sources.items():
            for what, value in one_round(source, options.rows).items():
                seconds[version].setdefault(what, []).append(value)
    figures = {version: in_units(found, units) for version, found in seconds.items()}
    record = {"rows": options.rows, "unit_seconds": round(median(units), 3), "goals": GOALS, "in_units": figures}
    for what in figures["now"]:
        others = "".join(f"  {version} {figures[version][what]:6.2f}" for version in figures)
        print(f"{what:<32}{others}" + (f"  goal {GOALS[what]}" if what in GOALS else ""))
    print("saved", save("cold_start", record))


def one_round(source: Path, rows: int) -> dict[str, float]:
    """CPU seconds of every first fit of one version, with an empty and a filled cache, and of the help."""
    found = {}
    for what, (name, fit) in FITS.items():
        program = DATA.format(name=name, fit=fit, rows=rows)
        with tempfile.TemporaryDirectory() as cache:
            found[what] = first_fit(program, source, cache)
            found[f"{what}, filled cache"] = first_fit(program, source, cache)
    found["askew --help"] = whole_process(["-m", "askew.cli", "--help"], source)
    return found


def first_fit(program: str, source: Path, cache: str) -> float:
    """What a program says its fit took."""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(source, NUMBA_CACHE_DIR=cache), capture_output=True, check=True
    )
    return float(done.stdout.split()[-1])


def whole_process(arguments: list[str], source: Path) -> float:
    """CPU seconds of a process from its beginning to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment(source), capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment(source: Path, **more: str) -> dict[str, str]:
    """The environment with one version of the package before all others."""
    return {**os.environ, "PYTHONPATH": str(source), **more}


def in_units(seconds: Mapping[str, list[float]], units: list[float]) -> dict[str, Any]:
    """Medians over rounds of the ratio to the unit of the same round."""
    return {
        what: round(median(value / unit for value, unit in zip(values, units, strict=True)), 2)
        for what, values in seconds.items()
    }


if __name__ == "__main__":
    main()
