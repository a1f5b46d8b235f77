"""Nyström features on Covertype: what they lose against the exact fit, and what they save.

Run with ``python -m benchmarks.nystroem PART``, for each part or ``all``; a part replaces its own results in the file.

    loss      100,000 rows, SVC: the exact fit, and Nyström fits by number of landmarks and by rule
    large     500,000 rows, SVC: Nyström fits by number of landmarks
    exact     500,000 rows, SVC: the exact fit
    sgd, linear_svc
              500,000 rows: scikit-learn's Nystroem before SGDClassifier, and before LinearSVC
    common    the commonest class against the rest, C = 1 (half the rows are support vectors): exact at 40,000 rows,
              Nyström at 40,000 and 500,000
    beyond    500,000 rows with a fifth of the memory that the features need, beside the fit that holds them
    files     the same from Parquet files of 500,000 and 2,000,000 rows (the set four times over) with the small memory,
              in a fresh process each: seconds, and the peak of its memory
    others    the other three estimators, exact at 20,000 rows and Nyström at 20,000 and 500,000

Rows are shuffled and standardised; the 81,012 that are not trained on are the test. The rarest class (4, one row in
211) is the positive one except in ``common``; OneClassSVM and CovarianceOneClassSVM are fitted to class 2 and asked to
find class 4. t-AUC is normalised to [0, 1]. Seconds are those of one fit on the machine named in the file.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from askew import SVC, AsymmetricSVC, CovarianceOneClassSVM, OneClassSVM
from askew.metrics import tolerance_auc_score
from benchmarks.contest import RESULTS, save
from benchmarks.data import load

GAMMA, C = 0.05, 10.0
LARGE, SMALL, COMMON, SMALLER = 500_000, 100_000, 40_000, 20_000
CACHE_MB = 2500  # room for 500,000 rows of 1,000 features


class Covertype:
    """Shuffled, standardised rows; training rows first."""

    def __init__(self) -> None:
        data = load("covtype")
        order = np.random.default_rng(0).permutation(data.n_samples)
        X = np.asarray(data.X, dtype=np.float64)[order]
        spread = X[:LARGE].std(axis=0)
        self.X = ((X - X[:LARGE].mean(axis=0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32)
        self.labels = np.asarray(data.labels if data.labels is not None else data.y).astype(int)[order]

    def train(self, n: int, positive: int = 4) -> tuple[np.ndarray, np.ndarray]:
        return self.X[:n], np.where(self.labels[:n] == positive, 1, -1)

    def normal(self, n: int) -> tuple[np.ndarray, None]:
        return self.X[:LARGE][self.labels[:LARGE] == 2][:n], None

    def judge(self, model: Any, positive: int = 4, against: int | None = None) -> dict[str, float]:
        X, labels = self.X[LARGE:], self.labels[LARGE:]
        if against is not None:
            kept = (labels == positive) | (labels == against)
            X, labels = X[kept], labels[kept]
        begin = time.perf_counter()
        scores = model.decision_function(X)
        seconds = time.perf_counter() - begin
        scores = -scores if against is not None else scores  # a detector scores what is normal
        truth = labels == positive
        return {
            "t_auc_0.1": round(tolerance_auc_score(truth, scores, 0.1, normalize=True), 4),
            "t_auc_0.01": round(tolerance_auc_score(truth, scores, 0.01, normalize=True), 4),
            "score_microseconds_per_row": round(1e6 * seconds / len(X), 2),
        }


def timed(model: Any, X: Any, y: Any, **fixed: Any) -> tuple[Any, dict[str, Any]]:
    begin = time.perf_counter()
    model.fit(X, y)
    found = {**fixed, "rows": len(X), "fit_seconds": round(time.perf_counter() - begin, 2)}
    if hasattr(model, "kkt_violation_"):
        found["kkt_violation"] = float(np.max(model.kkt_violation_))
    return model, found


def near(n_landmarks: int, rule: str = "kmeans", **settings: Any) -> dict[str, Any]:
    return {
        "gamma": GAMMA, "approximation": "nystroem", "n_landmarks": n_landmarks, "landmarks": rule,
        "random_state": 0, "cache_size": CACHE_MB, **settings,
    }  # fmt: skip


def loss(data: Covertype) -> list[dict[str, Any]]:
    X, y = data.train(SMALL)
    model, found = timed(SVC(C=C, gamma=GAMMA, cache_size=CACHE_MB), X, y, method="exact")
    rows = [found | data.judge(model) | {"kernel_values_per_score": int(model.n_support_.sum())}]
    cases = [(m, "kmeans") for m in (250, 500, 1000, 2000)] + [(500, "leverage"), (500, "uniform")]
    for m, rule in cases:
        model, found = timed(SVC(C=C, **near(m, rule)), X, y, method="nystroem", landmarks=rule, n_landmarks=m)
        rows.append(found | data.judge(model) | {"kernel_values_per_score": model.n_landmarks_})
    return rows


def large(data: Covertype) -> list[dict[str, Any]]:
    X, y = data.train(LARGE)
    rows = []
    for m in (250, 500, 1000):
        model, found = timed(SVC(C=C, **near(m)), X, y, method="nystroem", landmarks="kmeans", n_landmarks=m)
        rows.append(found | data.judge(model) | {"kernel_values_per_score": model.n_landmarks_})
    return rows


def exact(data: Covertype) -> list[dict[str, Any]]:
    X, y = data.train(LARGE)
    model, found = timed(SVC(C=C, gamma=GAMMA, cache_size=CACHE_MB), X, y, method="exact")
    return [found | data.judge(model) | {"kernel_values_per_score": int(model.n_support_.sum())}]


def sgd(data: Covertype) -> list[dict[str, Any]]:
    return [peer(data, SGDClassifier(alpha=1.0 / (C * LARGE), random_state=0), "SGDClassifier, hinge")]


def linear_svc(data: Covertype) -> list[dict[str, Any]]:
    return [peer(data, LinearSVC(C=C), "LinearSVC, squared hinge")]


def peer(data: Covertype, machine: Any, name: str) -> dict[str, Any]:
    X, y = data.train(LARGE)
    features = Nystroem(gamma=GAMMA, n_components=500, random_state=0)
    model, found = timed(make_pipeline(features, machine), X, y, method=f"scikit-learn Nystroem + {name}")
    return found | {"n_landmarks": 500} | data.judge(model)


def common(data: Covertype) -> list[dict[str, Any]]:
    X, y = data.train(COMMON, positive=2)
    model, found = timed(SVC(gamma=GAMMA, cache_size=CACHE_MB), X, y, method="exact", positive=2)
    rows = [found | data.judge(model, positive=2) | {"kernel_values_per_score": int(model.n_support_.sum())}]
    for n, m in ((COMMON, 500), (COMMON, 1000), (LARGE, 500), (LARGE, 1000)):
        X, y = data.train(n, positive=2)
        model, found = timed(SVC(**near(m)), X, y, method="nystroem", n_landmarks=m, positive=2)
        rows.append(found | data.judge(model, positive=2) | {"kernel_values_per_score": model.n_landmarks_})
    return rows


def beyond(data: Covertype) -> list[dict[str, Any]]:
    X, y = data.train(LARGE)
    rows = []
    for megabytes in (CACHE_MB, 200):
        model, found = timed(SVC(C=C, **near(500, cache_size=megabytes)), X, y, method="nystroem", n_landmarks=500)
        rows.append(found | {"cache_megabytes": megabytes} | data.judge(model))
    return rows


def files(data: Covertype) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = data.train(LARGE)
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"rare": y})
    rows = []
    with TemporaryDirectory() as folder:
        for copies in (1, 4):
            pq.write_table(pa.concat_tables([table] * copies), f"{folder}/rows.parquet", row_group_size=65_536)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                found = fresh.submit(fit_file, f"{folder}/rows.parquet", copies).result()
            rows.append({"rows": copies * LARGE, "cache_megabytes": 200} | found)
    return rows


def fit_file(path: str, copies: int) -> dict[str, Any]:
    """Fit from a file; rows given several times over cost so much less each, so that the answer is one."""
    import pyarrow.parquet as pq

    from askew.sources import open_source

    rng = np.random.default_rng(0)
    SVC(**near(20)).fit(rng.standard_normal((5_000, 54)), np.arange(5_000) % 2)  # compile
    begin = time.perf_counter()
    for _ in open_source(path).blocks():
        pass
    reading, before = time.perf_counter() - begin, peak_megabytes()
    begin = time.perf_counter()
    model = SVC(C=C / copies, **near(500, cache_size=200)).fit(path, target="rare")
    return {
        "fit_seconds": round(time.perf_counter() - begin, 2),
        "seconds_to_read_the_file_once": round(reading, 2),
        "peak_megabytes": peak_megabytes(),
        "peak_megabytes_before_the_fit": before,
        "megabytes_of_rows": round(pq.read_metadata(path).num_rows * 54 * 8 / 2**20),
        "kkt_violation": float(model.kkt_violation_.max()),
    }


def peak_megabytes() -> int:
    """Largest resident memory of this process so far (of the process alone, unlike ``ru_maxrss`` after a spawn)."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))


def others(data: Covertype) -> list[dict[str, Any]]:
    rows = []
    detectors = [(OneClassSVM, {"nu": 0.1}), (CovarianceOneClassSVM, {"nu": 0.1, "eta": 0.5})]
    for Estimator, settings in [*detectors, (AsymmetricSVC, {})]:
        is_detector = Estimator is not AsymmetricSVC
        for n, how in ((SMALLER, "exact"), (SMALLER, "nystroem"), (LARGE, "nystroem")):
            X, y = data.normal(n) if is_detector else data.train(n)
            special = {"gamma": GAMMA, "cache_size": CACHE_MB} if how == "exact" else near(500)
            model, found = timed(Estimator(**settings, **special), X, y, estimator=Estimator.__name__, method=how)
            rows.append(found | data.judge(model, against=2 if is_detector else None))
    return rows


PARTS = {part.__name__: part for part in (loss, large, exact, sgd, linear_svc, common, beyond, files, others)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "all"])
    chosen = parser.parse_args().part
    path = RESULTS / "nystroem.json"
    data = Covertype()
    SVC(**near(20)).fit(*data.train(5_000))  # compile before anything is timed
    for name in PARTS if chosen == "all" else [chosen]:
        known = json.loads(path.read_text())["parts"] if path.exists() else {}
        found = PARTS[name](data)
        for row in found:
            print(name, row, flush=True)
        known[name] = found
        setting = {"data": "covtype", "kernel": "rbf", "gamma": GAMMA, "C": C, "tol": 1e-3}
        save("nystroem", {"setting": setting, "parts": {part: known[part] for part in PARTS if part in known}})


if __name__ == "__main__":
    main()
