"""The pass over the negatives: its time against one product, its memory, and its growth.

Run with ``python -m benchmarks.moment_pass [--quick] [--rounds N]``; writes ``results/moment_pass.json``.
    time     Moments.of(X) against the product X'X alone, float32, 1,000,000 × 200 and 5,000,000 × 50, in turns
    memory   largest allocation beyond X while rows grow tenfold (tracemalloc follows NumPy's)
    many     one fit with 1,000,000 positives × 50 features
    growth   seconds of the pass and of the solve while negatives grow a hundredfold: slope of log time over log rows
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from statistics import median
from typing import Any

import numpy as np

from askew.estimators.moment_svc import MomentSVC
from askew.moments import Moments
from benchmarks.contest import ratios, save, take_turns
from benchmarks.moment_data import blas_threads


def rows(n: int, d: int) -> np.ndarray:
    """float32 Gaussian rows away from the origin, made a part at a time."""
    rng = np.random.default_rng(0)
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 100_000):
        part = X[start : start + 100_000]
        part[...] = rng.standard_normal(part.shape, dtype=np.float32) + 3.0
    return X


def against_product(n: int, d: int, rounds: int) -> dict[str, Any]:
    X = rows(n, d)
    seconds, last = take_turns({"product X'X": lambda: X.T @ X, "Moments.of": lambda: Moments.of(X)}, rounds)
    exact = Moments.of(X[:100_000].astype(np.float64)).covariance
    error = float(np.max(np.abs(Moments.of(X[:100_000]).covariance - exact)))
    naive = last["product X'X"] / np.float32(n) - np.outer(X.mean(axis=0), X.mean(axis=0))
    record = {
        "rows": n,
        "features": d,
        "times longer than the product": round(1 / ratios(seconds, "Moments.of")["product X'X"], 3),
        "error of the covariance (float32 rows, unit variance)": error,
        "error of the one-pass float32 product": float(np.max(np.abs(naive - last["Moments.of"].covariance))),
        "seconds": {name: [round(t, 4) for t in times] for name, times in seconds.items()},
    }
    print(record, flush=True)
    return record


def peak_bytes(n: int, d: int) -> int:
    X = rows(n, d)
    Moments.of(X[:10_000])  # compiles
    tracemalloc.start()
    Moments.of(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def growth(largest: int, d: int, rounds: int) -> dict[str, Any]:
    """Pass and solve at growing numbers of negatives, with the same hundred positives."""
    X = rows(largest, d).astype(np.float64)
    positives = X[:100] + 1.0
    sizes = [largest // 100, largest // 10, largest]
    table: dict[str, list[float]] = {"moments": [], "solve": []}
    for n in sizes:
        moments = Moments.of(X[:n])
        seconds, _ = take_turns(
            {
                "moments": lambda n=n: Moments.of(X[:n]),
                "solve": lambda m=moments: MomentSVC(rho=0.01).fit_from_moments(positives, m),
            },
            rounds,
        )
        for stage, times in seconds.items():
            table[stage].append(median(times))
    slopes = {s: round(float(np.polyfit(np.log(sizes), np.log(t), 1)[0]), 3) for s, t in table.items()}
    record = {"negatives": sizes, "features": d, "slope of log seconds over log negatives": slopes, "seconds": table}
    print(record, flush=True)
    return record


def many_positives(n: int, d: int) -> dict[str, Any]:
    """One fit with so many positives that no matrix of theirs can be stored."""
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(d, d)) / np.sqrt(d)
    moments = Moments.of(rng.normal(size=(20_000, d)) @ mixing)
    X = (0.7 * rng.normal(size=(n, d)) @ mixing + 0.5 * rng.normal(size=d)).astype(np.float32)
    MomentSVC(rho=0.01).fit_from_moments(X[:10_000], moments)  # compiles
    record: dict[str, Any] = {"positives": n, "features": d}
    for C in (1e-3, 1.0):
        begin = time.perf_counter()
        model = MomentSVC(C).fit_from_moments(X, moments)
        record[f"C = {C:g}"] = {
            "seconds": round(time.perf_counter() - begin, 2),
            "sweeps": int(model.n_iter_[0]),
            "dual gap": float(model.dual_gap_[0]),
            "KKT violation": float(model.kkt_violation_[0]),
            "status": model.status_,
        }
    print(record, flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    part = 10 if options.quick else 1
    peaks = {n: peak_bytes(n, 100) for n in (100_000 // part, 1_000_000 // part)}
    print(peaks, flush=True)
    record = {
        "rounds": options.rounds,
        "threads": blas_threads(),
        "time": [against_product(n // part, d, options.rounds) for n, d in ((1_000_000, 200), (5_000_000, 50))],
        "peak bytes beyond X by rows (100 features)": peaks,
        "many positives": many_positives(1_000_000 // part, 50),
        "growth": growth(2_000_000 // part, 50, options.rounds),
    }
    save("moment_pass_quick" if options.quick else "moment_pass", record)


if __name__ == "__main__":
    main()
