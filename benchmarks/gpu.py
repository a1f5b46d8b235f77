"""Fits on a CUDA device, with the float64 violation of every one, and the same fits on the CPU beside it.

Run on a machine with CUDA, PyTorch and Triton: ``python -m benchmarks.gpu [PART ...] [--rounds N]``; writes
``results/gpu.json``, one entry per part, keeping those of other parts. Medians after a warm-up. Parts:

rare      C-SVC and AsymmetricSVC on all 581,012 rows of Covertype, class 4 against the rest (C = 10, positives × 10)
common    C-SVC, class 2 against the rest, C = 10: 229 thousand support vectors
one-class OneClassSVM on 500,000 rows, nu = 0.1
moments   Moments of 20 million × 64 float32 rows, against the copy bandwidth; accuracy against float64
search    ToleranceSearchCV of AsymmetricSVC, 5 gamma × 6 mu, then a line over tau, 10 folds, ijcnn1's 49,990 rows
inner     a step inside a working set, on the host and on the device
cpu       the fits of ``rare`` on this machine's CPU cores, and scikit-learn on as many rows as end in time
memory    a fit that the device has no memory for, and one after it

Data: covtype and ijcnn1 from the folder in ASKEW_DATA. Covertype is standardised, gamma = 1/54, tol = 1e-3.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from multiprocessing import TimeoutError, get_context
from statistics import median
from typing import Any

import numpy as np
import torch
from sklearn import svm

from askew import SVC, AsymmetricSVC, OneClassSVM
from askew.exceptions import DataError
from askew.kernels import RBF, Gram
from askew.moments import Moments
from askew.selection import ToleranceSearchCV
from askew.solvers.working_set import smo as inner
from askew.solvers.working_set import smo_cuda as inner_device
from benchmarks.contest import RESULTS, save
from benchmarks.data import load

GAMMA, TOL = 1 / 54, 1e-3
LIMIT = 60.0  # seconds that scikit-learn is given for one fit


def timed(run: Callable[[], Any], rounds: int) -> tuple[list[float], Any]:
    """Seconds of each round after one to warm up, and what the last one returned."""
    run()
    seconds, last = [], None
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        last = run()
        torch.cuda.synchronize()
        seconds.append(round(time.perf_counter() - begin, 4))
    return seconds, last


def told(seconds: list[float], model: Any) -> dict[str, Any]:
    """What a fit took, and how good it is."""
    return {
        "median seconds": median(seconds),
        "seconds": seconds,
        "float64 violation": float(np.max(getattr(model, "kkt_violation_", np.nan))),
        "relative violation": float(np.max(model.relative_violation_))
        if hasattr(model, "relative_violation_")
        else None,
        "duality gap": float(np.max(model.dual_gap_)),
        "support vectors": len(model.support_),
        "steps": int(np.max(model.n_iter_)),
        "status": model.status_,
        **(
            {"relative violation": float(np.max(model.relative_violation_))}
            if hasattr(model, "relative_violation_")
            else {}
        ),
    }


def covertype(label: int) -> tuple[np.ndarray, np.ndarray]:
    data = load("covtype")
    X = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X, dtype=np.float64)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].astype(np.float32), (np.asarray(data.labels)[order] == label).astype(np.int64)


def rare(rounds: int) -> dict[str, Any]:
    X, y = covertype(4)
    X, y = torch.asarray(X, device="cuda"), torch.asarray(y, device="cuda")
    share = float(y.double().mean())
    model = SVC(10.0, gamma=GAMMA).fit(X, y)
    return {
        "rows": len(y),
        "C-SVC": told(*timed(lambda: SVC(10.0, class_weight={1: 10.0}, gamma=GAMMA, tol=TOL).fit(X, y), rounds)),
        "AsymmetricSVC": told(
            *timed(lambda: AsymmetricSVC(0.4 * share, 0.2 * share, gamma=GAMMA, tol=TOL).fit(X, y), rounds)
        ),
        "scores of all rows, seconds": median(timed(lambda: model.decision_function(X), rounds)[0]),
    }


def common(rounds: int) -> dict[str, Any]:
    X, y = covertype(2)
    X, y = torch.asarray(X, device="cuda"), torch.asarray(y, device="cuda")
    fit = lambda: SVC(10.0, gamma=GAMMA, tol=TOL).fit(X, y)  # noqa: E731
    SVC(10.0, gamma=GAMMA).fit(X[:150_000], y[:150_000])  # compiled code is loaded
    seconds, model = [], None
    for _ in range(min(rounds, 3)):
        begin = time.perf_counter()
        model = fit()
        torch.cuda.synchronize()
        seconds.append(round(time.perf_counter() - begin, 3))
    return {"rows": len(y), "C-SVC": told(seconds, model)}


def one_class(rounds: int) -> dict[str, Any]:
    X = torch.asarray(covertype(2)[0][:500_000], device="cuda")
    return {"rows": len(X), "OneClassSVM": told(*timed(lambda: OneClassSVM(0.1, gamma=GAMMA, tol=TOL).fit(X), rounds))}


def moments(rounds: int) -> dict[str, Any]:
    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.randn(20_000_000, 64, device="cuda", generator=generator) * torch.linspace(0.1, 10, 64, device="cuda") + 3
    copy = torch.empty_like(X)
    seconds, found = timed(lambda: Moments.of(X), rounds)
    copying = median(timed(lambda: copy.copy_(X), rounds)[0])
    A, B = (torch.randn(8192, 8192, device="cuda") for _ in range(2))
    rate = 2 * 8192**3 / median(timed(lambda: A @ B, rounds)[0])
    part = X[:2_000_000].double()
    exact, ours = torch.cov(part.T, correction=0).cpu().numpy(), Moments.of(X[:2_000_000]).covariance
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    size = X.numel() * 4
    return {
        "rows": X.shape[0],
        "median seconds": median(seconds),
        "seconds": seconds,
        "read, GB/s": round(size / median(seconds) / 1e9),
        "copy, read and written, GB/s": round(2 * size / copying / 1e9),
        "share of the copy bandwidth": round(size / median(seconds) / (2 * size / copying), 3),
        "float32 matrix rate, TFLOP/s": round(rate / 1e12, 1),
        "share of the matrix rate, which binds": round(2 * X.shape[0] * X.shape[1] ** 2 / median(seconds) / rate, 3),
        "largest error of 2M rows' covariance, in standard deviations": float(np.max(np.abs(ours - exact) / scale)),
        "n": found.n_samples,
    }


def search(rounds: int) -> dict[str, Any]:
    data = load("ijcnn1")
    X = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X)[:49_990]
    y = (np.asarray(data.y)[: len(X)] > 0).astype(np.int64)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    share = float(y.mean())
    X, y = torch.asarray(X.astype(np.float32), device="cuda"), torch.asarray(y, device="cuda")
    options: dict[str, Any] = {"tolerance": 0.1, "cv": 10, "refit": False, "cache_size": 40_000}
    options |= {"n_jobs": 5, "verbose": 1}
    grid = {
        "gamma": [0.02, 0.05, 0.1, 0.2, 0.5],
        "mu": [part * share for part in (0.05, 0.1, 0.2, 0.35, 0.5, 0.8)],
        "tau": [0.0],
    }
    begin = time.perf_counter()
    first = ToleranceSearchCV(AsymmetricSVC(), grid, **options).fit(X, y)
    middle = time.perf_counter()
    best = first.best_params_
    line = {
        "gamma": [best["gamma"]],
        "mu": [best["mu"]],
        "tau": [part * (0.99 * share - best["mu"]) for part in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)],
    }
    second = ToleranceSearchCV(AsymmetricSVC(), line, **options).fit(X, y)
    return {
        "rows": len(y),
        "fits": 10 * (len(first.cv_results_["params"]) + len(second.cv_results_["params"])),
        "grid, seconds": round(middle - begin, 1),
        "line, seconds": round(time.perf_counter() - middle, 1),
        "best score": max(float(first.best_score_), float(second.best_score_)),
        "best parameters": {k: float(v) for k, v in best.items()},
    }


def steps_inside(rounds: int) -> dict[str, Any]:
    X, y = covertype(2)
    gram = Gram(RBF(GAMMA), torch.asarray(X, device="cuda"))
    sizes = (512, 1024, 2048, 4096)
    return {"microseconds": {q: step_costs(gram, np.where(y == 1, 1.0, -1.0), q, rounds) for q in sizes}}


def step_costs(gram: Gram, signs: np.ndarray, q: int, rounds: int) -> dict[str, float]:
    """Microseconds of a step inside a working set of q variables, and of bringing its block to the host."""
    chosen = np.random.default_rng(q).permutation(gram.n)[:q]
    sign = signs[chosen]
    lower, upper = np.minimum(0.0, 10 * sign), np.maximum(0.0, 10 * sign)
    K = gram.block(torch.asarray(chosen, device="cuda"), np.float32)
    block, ones = K.cpu().numpy(), np.ones(q, np.float32)
    here = [torch.asarray(v, device="cuda") for v in (ones, -sign.astype(np.float32), lower, upper)]

    def on_host() -> int:
        start = np.zeros(q), lower, upper
        return inner.solve_block(block, ones, -sign.astype(np.float32), *start, np.array([0, q]), 1e-2, 20 * q)[0]

    def on_device() -> int:
        start = torch.zeros(q, dtype=torch.float64, device="cuda"), *here[2:]
        return int(inner_device.solve_on_device(K, *here[:2], *start, q, 1e-2, 20 * q)[0])

    costs = {}
    for name, run in (("host", on_host), ("device", on_device)):
        seconds, steps = timed(run, rounds)
        costs[name] = round(1e6 * median(seconds) / steps, 3)
    costs["block to the host"] = round(1e6 * median(timed(lambda: gram.home.to_scratch(K), rounds)[0]))
    return costs


def cpu(rounds: int) -> dict[str, Any]:
    X, y = covertype(4)
    SVC(10.0, gamma=GAMMA).fit(X[:3000], y[:3000])  # compiled code is loaded
    found: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), "scikit-learn is given, seconds": LIMIT}
    for n in (20_000, 581_012):
        begin = time.perf_counter()
        model = SVC(10.0, class_weight={1: 10.0}, gamma=GAMMA, tol=TOL, cache_size=16_000).fit(X[:n], y[:n])
        found[f"askew, {n} rows"] = told([round(time.perf_counter() - begin, 2)], model)
        found[f"scikit-learn, {n} rows, seconds"] = scikit_learn(X[:n], y[:n])
    return found


def scikit_learn(X: np.ndarray, y: np.ndarray) -> float | str:
    """Seconds of scikit-learn's SVC in a process of its own, ended where it takes too long."""
    with get_context("fork").Pool(1) as pool:
        begin = time.perf_counter()
        try:
            pool.apply_async(_fit_scikit_learn, (X, y)).get(LIMIT)
        except TimeoutError:
            return "not at its end"
        return round(time.perf_counter() - begin, 2)


def _fit_scikit_learn(X: np.ndarray, y: np.ndarray) -> None:
    svm.SVC(C=10.0, class_weight={1: 10.0}, gamma=GAMMA, tol=TOL, cache_size=16_000).fit(X, y)


def memory(rounds: int) -> dict[str, Any]:
    X, y = covertype(4)
    X, y = torch.asarray(X, device="cuda"), torch.asarray(y, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model = SVC(10.0, gamma=GAMMA)
    model.fit(X, y)
    peak = torch.cuda.max_memory_allocated() - before
    free, _ = torch.cuda.mem_get_info()
    torch.cuda.empty_cache()
    hog = torch.empty(torch.cuda.mem_get_info()[0] - 48 * 2**20, dtype=torch.uint8, device="cuda")
    message = ""
    try:
        model.fit(X, y)
    except DataError as error:
        message = str(error)
    del hog
    torch.cuda.empty_cache()
    return {
        "data, MB": X.numel() * 4 // 2**20,
        "peak beyond the data, MB": peak // 2**20,
        "free, MB": free // 2**20,
        "message where there is none": message,
        "status of the fit after it": model.fit(X, y).status_,
    }


PARTS = {
    "rare": rare, "common": common, "one-class": one_class, "moments": moments,
    "search": search, "inner": steps_inside, "cpu": cpu, "memory": memory,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all of them by default")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    path = RESULTS / "gpu.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    record["device"] = torch.cuda.get_device_name()
    record["libraries"] = {"torch": torch.__version__}
    for name in options.parts or PARTS:
        record[name] = PARTS[name](options.rounds)
        print(name, json.dumps(record[name], indent=1), flush=True)
        save("gpu", {key: value for key, value in record.items() if key != "machine"})


if __name__ == "__main__":
    main()
