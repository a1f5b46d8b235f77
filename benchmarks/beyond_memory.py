"""Rows beyond memory: peak memory as they grow, throughput against reading alone, and what one would do instead.

Run with ``python -m benchmarks.beyond_memory PART --folder SCRATCH``; every part saves itself into
``results/beyond_memory.json``. PART is one of
    generate    ten Parquet files of a million rows, 30 float32 features and a label, into SCRATCH (1.2 GB)
    memory      peak of a whole process that fits 1, 10 and 100 million rows, by allocator
    throughput  rows per second of a fit against reading the same files with pyarrow alone, in turns
    stream      SGDClassifier.partial_fit over the same blocks: seconds and t-AUC
    spark       Spark's LinearSVC and MomentSVC in one local Spark, on a million rows: seconds and t-AUC
The files are linked under further names where more rows are wanted, so that they stay in the page cache: reading is as
fast as it can be, which makes the comparison with reading alone as hard as it can be.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from sklearn.linear_model import SGDClassifier

from askew import MomentSVC
from askew.metrics import tolerance_auc_score
from askew.sources import open_source
from benchmarks.contest import RESULTS, save, take_turns

FEATURES = [f"x{j}" for j in range(30)]
MILLION = 1_000_000
FILES = 10
RARE = 0.002
AWAY = 1.8  # how far the rare class lies
TOLERANCE = 0.01


def model(**options: Any) -> MomentSVC:
    """The ν form, whose cost does not grow with the number of positives.

    Chosen after the default, C = 1, was seen not to converge on 20,000 overlapping positives and to rank below
    SGDClassifier; the part "stream" keeps that result beside. The peers have their defaults and are not tuned.
    """
    return MomentSVC(formulation="nu", **options)


def rows(n: int, seed: int) -> pa.Table:
    """Correlated float32 features, cond(Σ) = 25, and a rare class shifted in a direction that is no axis."""
    make = np.random.default_rng(0)
    axes = np.linalg.qr(make.normal(size=(30, 30)))[0]
    mixing = (axes * np.geomspace(1.0, 0.2, 30)) @ axes.T
    mixing, away = mixing.astype(np.float32), (AWAY * make.normal(size=30) / np.sqrt(30)).astype(np.float32)
    rng = np.random.default_rng([1, seed])
    X = rng.standard_normal((n, 30), dtype=np.float32) @ mixing
    is_rare = rng.random(n) < RARE
    X[is_rare] += away
    columns = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(FEATURES)}
    return pa.table({**columns, "label": is_rare.astype(np.int8)})


def generate(folder: Path) -> None:
    """Ten files; seven row groups of 150,000 rows in each."""
    for k in range(FILES):
        pq.write_table(rows(MILLION, k), folder / f"rows-{k}.parquet", row_group_size=150_000)


def linked(folder: Path, n_million: int) -> Path:
    """A folder of ``n_million`` names for the files."""
    place = folder / f"{n_million}-million"
    if not place.exists():
        place.mkdir()
        for k in range(n_million):
            os.link(folder / f"rows-{k % FILES}.parquet", place / f"part-{k:03d}.parquet")
    return place


def test_rows() -> tuple[Any, Any]:
    table = rows(400_000, 999)
    X = np.column_stack([table[name].to_numpy() for name in FEATURES])
    return X, table["label"].to_numpy()


def area(scores: Any, y: Any) -> float:
    return round(float(tolerance_auc_score(y, scores, TOLERANCE, normalize=True)), 4)


def fit_once(place: Path, most: int) -> dict[str, Any]:
    """One fit in this process: seconds, and the peak of everything the process ever held."""
    MomentSVC().fit(np.arange(40.0).reshape(20, 2) ** 0.5, np.arange(20) % 2)  # everything is imported and compiled
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    model(max_positive=most).fit(str(place), target="label")
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    n_rows = len(list(place.iterdir())) * MILLION
    return {
        "rows": n_rows,
        "positives gathered": min(most, round(n_rows * RARE)),
        "seconds": round(seconds, 1),
        "peak of the process in MB": round(peak / 1024),
        "of which Arrow's live buffers in MB": round(pa.default_memory_pool().max_memory() / 2**20),
        "of which before the fit in MB": round(before / 1024),
    }


def measure_memory(folder: Path) -> dict[str, Any]:
    """A process of its own for every size: the same number of positives first, then the default limit of them.

    With the allocator of the C library under pyarrow, and with its own, mimalloc, which keeps what it has freed.
    """
    record: dict[str, Any] = {}
    for pool in ("system", "mimalloc"):
        found = []
        for n_million, most in ((1, 2_000), (10, 2_000), (100, 2_000), (100, 100_000)):
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.beyond_memory", "once", "--most", str(most)]
            command += ["--folder", str(linked(folder, n_million))]
            chosen = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": pool}
            said = subprocess.run(command, check=True, capture_output=True, text=True, env=chosen).stdout
            found.append(json.loads(said.splitlines()[-1]))
            print(pool, found[-1], flush=True)
        peaks = [each["peak of the process in MB"] for each in found]
        record[f"allocator {pool}"] = {
            "sizes": found,
            "peak at 100 million over that at 1 million, 2,000 positives": round(peaks[2] / peaks[0], 3),
            "peak at 100 million over that at 10 million, 2,000 positives": round(peaks[2] / peaks[1], 3),
        }
    return record


def read_tables(place: Path) -> int:
    """Every file as a table, one after the other, with pyarrow's own settings."""
    return sum(pq.read_table(path).num_rows for path in sorted(place.iterdir()))


def read_batches(place: Path) -> int:
    """Every file in batches, one after the other, in flat memory."""
    return sum(
        batch.num_rows
        for path in sorted(place.iterdir())
        for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(65_536)
    )


def read_dataset(place: Path) -> int:
    """pyarrow's own scan, with all its threads and read-ahead."""
    return sum(batch.num_rows for batch in ds.dataset(place).to_batches())


def measure_throughput(folder: Path, rounds: int) -> dict[str, Any]:
    place = linked(folder, FILES)
    contestants = {
        "MomentSVC.fit": lambda: model().fit(str(place), target="label"),
        "pyarrow, tables file by file": lambda: read_tables(place),
        "pyarrow, batches file by file": lambda: read_batches(place),
        "pyarrow dataset scan": lambda: read_dataset(place),
    }
    take_turns(contestants, 1)
    seconds, _ = take_turns(contestants, rounds)
    ours = seconds["MomentSVC.fit"]
    share = {
        name: round(median(t / o for t, o in zip(times, ours, strict=True)), 3)
        for name, times in seconds.items()
        if name != "MomentSVC.fit"
    }
    return {
        "rows": FILES * MILLION,
        "throughput as a share of reading alone": share,
        "million rows a second": round(FILES / median(ours), 2),
        "seconds": {name: [round(t, 2) for t in times] for name, times in seconds.items()},
    }


def measure_stream(folder: Path) -> dict[str, Any]:
    """One pass of stochastic gradients over the same blocks, the classes weighed alike."""
    X_test, y_test = test_rows()
    place, record = linked(folder, FILES), {"rows": FILES * MILLION, "t-AUC at": TOLERANCE}

    def gradients() -> Any:
        sgd = SGDClassifier(loss="hinge", random_state=0)
        for block in open_source(place).blocks():
            X = np.column_stack([block[name].to_numpy() for name in FEATURES])
            y = block["label"].to_numpy()
            sgd.partial_fit(X, y, classes=[0, 1], sample_weight=np.where(y == 1, 0.5 / RARE, 0.5 / (1 - RARE)))
        return sgd

    contestants = {
        "MomentSVC": lambda: model().fit(str(place), target="label"),
        "MomentSVC, default C = 1": lambda: MomentSVC().fit(str(place), target="label"),
        "SGDClassifier": gradients,
    }
    seconds, models = take_turns(contestants, 1)
    for name, fitted in models.items():
        X = X_test if name == "SGDClassifier" else _named(X_test)
        record[name] = {"seconds": round(seconds[name][0], 1), "t-AUC": area(fitted.decision_function(X), y_test)}
        if isinstance(fitted, MomentSVC):
            record[name] |= {"status": fitted.status_, "KKT violation": float(fitted.kkt_violation_[0])}
    return record


def _named(X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=FEATURES)


def measure_spark(folder: Path) -> dict[str, Any]:
    """Spark's own linear machine beside ours, on the same executors."""
    import pyspark
    from pyspark.ml.classification import LinearSVC
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession, functions

    os.environ |= {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    spark = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
    frame = spark.read.parquet(str(linked(folder, 1)))
    frame.agg(functions.avg("x0")).collect()  # the engine is warm
    X_test, y_test = test_rows()

    def theirs() -> Any:
        weighed = frame.withColumn("w", functions.expr(f"IF(label = 1, {0.5 / RARE}, {0.5 / (1 - RARE)})"))
        assembled = VectorAssembler(inputCols=FEATURES, outputCol="features").transform(weighed).cache()
        peer = LinearSVC(maxIter=100, regParam=1e-4, weightCol="w", featuresCol="features", labelCol="label")
        return peer.fit(assembled)

    seconds, models = take_turns(
        {"MomentSVC on Spark": lambda: model().fit(frame, target="label"), "Spark's LinearSVC": theirs}, 1
    )
    lengths = models["Spark's LinearSVC"].coefficients.toArray()
    scores = {
        "MomentSVC on Spark": models["MomentSVC on Spark"].decision_function(_named(X_test)),
        "Spark's LinearSVC": X_test @ lengths,
    }
    spark.stop()
    return {
        "rows": MILLION,
        "t-AUC at": TOLERANCE,
        **{n: {"seconds": round(seconds[n][0], 1), "t-AUC": area(s, y_test)} for n, s in scores.items()},
    }


def keep(part: str, record: dict[str, Any]) -> None:
    """Save one part beside those that are there."""
    path = RESULTS / "beyond_memory.json"
    saved = json.loads(path.read_text()) if path.exists() else {}
    saved.pop("machine", None)
    what = {
        "features": len(FEATURES),
        "type": "float32 Parquet, fitted in float64",
        "files": f"{FILES} files of a million rows, linked under further names beyond that, in the page cache",
        "share of positives": RARE,
        "model": "MomentSVC(formulation='nu')",
    }
    print(json.dumps(record, indent=1), "\nsaved", save("beyond_memory", {**saved, "data": what, part: record}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["generate", "memory", "throughput", "stream", "spark", "once"])
    parser.add_argument("--folder", type=Path, required=True, help="for the generated files; remove it afterwards")
    parser.add_argument("--most", type=int, default=100_000, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.part == "generate":
        generate(options.folder)
    elif options.part == "once":
        print(json.dumps(fit_once(options.folder, options.most)))
    elif options.part == "memory":
        keep("memory", measure_memory(options.folder))
    elif options.part == "throughput":
        keep("throughput", measure_throughput(options.folder, options.rounds))
    elif options.part == "stream":
        keep("stream", measure_stream(options.folder))
    else:
        keep("spark", measure_spark(options.folder))


if __name__ == "__main__":
    main()
