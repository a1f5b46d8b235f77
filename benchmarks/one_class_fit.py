"""The covariance-guided one-class SVM against the plain ones, and against scikit-learn on the same matrix.

Run with ``python -m benchmarks.one_class_fit [--quick] [--rounds N]``; writes ``results/one_class_fit.json``.
Contestants, at nu = 0.2, rbf kernel of width 1/d on standardised rows, tol = 1e-3:
    askew CovarianceOneClassSVM(eta=0.5)      the whole fit
    askew OneClassSVM                         what the bound of three fits refers to
    scikit-learn OneClassSVM                  rbf
    scikit-learn, covariance-guided matrix    OneClassSVM(kernel="precomputed") on P = ηQ + (1−η)sΔ: the fit alone, and
                                              with the n×n×n product that forms P (up to 10,000 rows, where P fits)
Both answers on P are judged by one float64 certificate. Growth is the slope of log time over log n.
Data: ijcnn1 from the folder in ASKEW_DATA, or generated data like it when the file is not there.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from statistics import median
from typing import Any

import numpy as np
from sklearn import svm

from askew import OneClassSVM
from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from askew.kernels import RBF, Gram
from askew.kernels.covariance_guided import CovarianceGuided, trace_scale
from askew.kernels.kernel_covariance import KernelCovariance
from askew.methods import one_class
from askew.qp import certify
from benchmarks.contest import ratios, save, take_turns
from benchmarks.solver import ijcnn1

NU, ETA, TOL = 0.2, 0.5, 1e-3
LARGEST_STORED = 10000


def run_size(X: np.ndarray, rounds: int) -> dict[str, Any]:
    """One size: times in turns, ratios, certificates."""
    n, gamma = len(X), 1.0 / X.shape[1]
    contestants: dict[str, Any] = {
        "guided": lambda: CovarianceOneClassSVM(ETA, NU, gamma=gamma, tol=TOL).fit(X),
        "plain": lambda: OneClassSVM(NU, gamma=gamma, tol=TOL).fit(X),
        "scikit-learn": lambda: svm.OneClassSVM(nu=NU, gamma=gamma, tol=TOL, cache_size=2000).fit(X),
    }
    covariance = KernelCovariance(Gram(RBF(gamma), X), np.ones(n), np.float32)
    guided = CovarianceGuided(covariance, ETA, trace_scale(covariance))
    record: dict[str, Any] = {"n": n, "n×n×n product": None}
    if n <= LARGEST_STORED:
        begin = time.perf_counter()
        covariance.form()
        forming = time.perf_counter() - begin
        stored = guided.rows(np.arange(n), np.float32).astype(np.float64)
        covariance.whole = None
        contestants["scikit-learn, guided matrix"] = lambda: svm.OneClassSVM(
            nu=NU, kernel="precomputed", tol=TOL, cache_size=2000
        ).fit(stored)
        record["n×n×n product"] = round(forming, 4)
    seconds, last = take_turns(contestants, rounds)
    record["seconds"] = {name: [round(t, 4) for t in times] for name, times in seconds.items()}
    record["times of guided"] = ratios(seconds, "guided")
    times = {name: median(values) for name, values in seconds.items()}
    record["guided / plain"] = round(median(g / p for g, p in zip(seconds["guided"], seconds["plain"], strict=True)), 2)
    if record["n×n×n product"] is not None:
        bound = 3 * times["plain"] + forming
        record["guided / (3 plain + product)"] = round(times["guided"] / bound, 3)
        together = times["scikit-learn, guided matrix"] + forming
        record["scikit-learn with the product / guided"] = round(together / times["guided"], 2)
    record["judged in float64"] = judge(guided, last)
    return record


def judge(guided: CovarianceGuided, last: dict[str, Any]) -> dict[str, Any]:
    """The certificate of every answer to the covariance-guided programme."""
    problem = one_class.formulate(guided, NU, np.ones(guided.n))
    judged = {}
    for name in ("guided", "scikit-learn, guided matrix"):
        if name not in last:
            continue
        beta = np.zeros(guided.n)
        beta[last[name].support_] = np.asarray(last[name].dual_coef_).ravel()
        certificate = certify(problem, beta)
        judged[name] = {
            "violation": certificate.violation,
            "objective": certificate.objective,
            "support_vectors": int(np.count_nonzero(beta)),
        }
    return judged


def memory(X: np.ndarray) -> dict[str, float]:
    """Largest memory of arrays during a fit, in megabytes, that of the kernel rows included."""
    tracemalloc.start()
    model = CovarianceOneClassSVM(ETA, NU, gamma=1.0 / X.shape[1], tol=TOL).fit(X)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return {"n": len(X), "peak_megabytes": round(peak, 1), "cache_size": model.cache_size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sizes = [500, 1000] if options.quick else [2000, 5000, 10000, 20000]
    X, _, source = ijcnn1()
    for n in (300, 2500):
        CovarianceOneClassSVM(ETA, NU).fit(X[:n])
        OneClassSVM(NU).fit(X[:n])
    rows = []
    for n in sizes:
        rows.append(run_size(X[:n], options.rounds))
        print(rows[-1], flush=True)
    record = {
        "data": source, "nu": NU, "eta": ETA, "tol": TOL, "rounds": options.rounds, "sizes": rows,
        "growth": growth(rows), "memory": memory(X[: sizes[-1]]),
    }  # fmt: skip
    print(record["growth"], record["memory"])
    print("saved", save("one_class_fit_quick" if options.quick else "one_class_fit", record))


def growth(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Slope of log time over log n."""
    slopes = {}
    for name in ("guided", "plain", "scikit-learn", "scikit-learn, guided matrix"):
        known = [(row["n"], median(row["seconds"][name])) for row in rows if name in row["seconds"]]
        if len(known) > 1:
            ns, times = np.log(np.array(known)).T
            slopes[name] = round(float(np.polyfit(ns, times, 1)[0]), 2)
    return slopes


if __name__ == "__main__":
    main()
