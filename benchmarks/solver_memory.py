"""Peak memory of one SVC fit: at most the cache budget plus a multiple of n·d, never n².

Run with ``python -m benchmarks.solver_memory [--n 200000] [--cache 1024]``. The fit runs in a process of its own, so
that the peak is its own; what an import of the same packages takes is measured first and left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.contest import save

FEATURES = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--cache", type=int, nargs="+", default=[256, 1024], help="cache budgets in megabytes")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(fit(options.n[0], options.cache[0])))
        return
    rows = []
    for n in options.n:
        for cache in options.cache:
            command = [
                sys.executable,
                "-m",
                "benchmarks.solver_memory",
                "--child",
                "--n",
                str(n),
                "--cache",
                str(cache),
            ]
            rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            print(rows[-1], flush=True)
    print("saved", save("solver_memory", {"features": FEATURES, "rows": rows}))


def fit(n: int, cache: int) -> dict[str, float]:
    """Fit once and tell the peak above what data and imports take."""
    from askew import SVC
    from askew.datasets import make_skewed

    data = make_skewed(n, n_features=FEATURES, rare=0.02, random_state=0)
    SVC().fit(data.X[:300], np.arange(300) % 2)  # compiled code is loaded
    before = _peak()
    begin = time.perf_counter()
    model = SVC(C=1.0, gamma=1.0 / FEATURES, cache_size=cache).fit(data.X, data.y)
    return {
        "n": n,
        "cache_megabytes": cache,
        "peak_above_data_megabytes": round(_peak() - before),
        "data_megabytes": round(data.X.nbytes / 2**20),
        "kernel_matrix_would_take_megabytes": round(4 * n * n / 2**20),
        "support_vectors": len(model.support_),
        "violation": float(model.kkt_violation_[0]),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
