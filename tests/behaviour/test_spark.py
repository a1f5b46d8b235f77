"""MomentSVC on Spark: a real cluster of two executors, the same model as in memory, and named faults."""

import os
import shutil
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from behaviour.accidents import kill_the_executor
from behaviour.guide_page import programs, run
from behaviour.rare_rows import FEATURES, MIXED, encoded_by_hand, mixed_table, relative_difference, table
from sklearn.linear_model import LogisticRegression

from askew import SVC, MomentSVC, ToleranceClassifier
from askew.exceptions import DataError, ParameterError
from askew.sources import open_source

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs a Java runtime, and there is none on this machine", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    added = {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "OFF",
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[1]),
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("askew")
    for name, value in options.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    yield session
    session.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def frame():
    return table()


@pytest.fixture(scope="module")
def reference(frame):
    return MomentSVC().fit(frame[FEATURES], frame["fraud"])


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """Three files of three row groups each."""
    folder = tmp_path_factory.mktemp("rows")
    for k in range(3):
        rows = pa.Table.from_pandas(frame.iloc[k::3], preserve_index=False)
        pq.write_table(rows, folder / f"part-{k}.parquet", row_group_size=500, compression="none")
    return folder


@pytest.fixture(scope="module")
def rows(spark, folder):
    return spark.read.parquet(str(folder))


def test_a_cluster_finds_the_model_of_memory(rows, reference):
    for frame in (rows, rows.repartition(7), rows.coalesce(1)):
        model = MomentSVC().fit(frame, target="fraud")
        assert relative_difference(model, reference) < 1e-10
    assert list(model.feature_names_in_) == FEATURES
    assert model.classes_.tolist() == [0, 1]
    assert model.false_positive_bound_ == pytest.approx(reference.false_positive_bound_, rel=1e-10)


def test_text_is_learnt_in_the_pass(spark):
    here = mixed_table(3000)
    here["kind"] = here["kind"].astype(object).where(here["kind"].notna(), None)
    far = spark.createDataFrame(here.to_dict("records"), "amount double, country string, age double, kind string, "
                                "fraud long").repartition(5)  # fmt: skip
    X = encoded_by_hand(here, True)
    expected = MomentSVC().fit(X, here["fraud"]).decision_function(X)
    model = MomentSVC(scale=True).fit(far, target="fraud")
    assert np.abs(model.decision_function(here[MIXED]) - expected).max() < 1e-10 * np.abs(expected).max()
    scored = model.decision_function(far).toPandas()
    np.testing.assert_allclose(scored["decision_function"], model.decision_function(scored[MIXED]), rtol=1e-10)
    with pytest.raises(DataError, match=r"column 'country' has at least \d different values, and max_categories=2"):
        MomentSVC(max_categories=2).fit(far, target="fraud")


def test_weights_and_words_as_labels(spark, rows, frame):
    weighted = rows.selectExpr(
        *FEATURES, "IF(fraud = 1, 'fraud', 'ok') AS kind", "CAST(pmod(hash(x0), 3) AS INT) AS w"
    ).cache()
    here = weighted.toPandas()
    near = MomentSVC(rho=0.1, pos_label="fraud").fit(here[FEATURES], here["kind"], sample_weight=here["w"])
    far = MomentSVC(rho=0.1, pos_label="fraud").fit(weighted, target="kind", sample_weight="w")
    assert far.classes_.tolist() == ["fraud", "ok"]
    assert relative_difference(far, near) < 1e-10
    labels = far.predict(weighted)
    assert labels.schema["prediction"].dataType.simpleString() == "string"
    assert [row.prediction for row in labels.take(5)] == near.predict(here[FEATURES].iloc[:5]).tolist()


@pytest.mark.parametrize("name", ["Sepal.Length", "a`b", "x 0.[é"])
def test_any_name_of_a_column_will_do(rows, reference, name):
    renamed = rows.withColumnRenamed("x0", name)
    model = MomentSVC().fit(renamed, target="fraud")
    assert relative_difference(model, reference) < 1e-10
    assert model.feature_names_in_[0] == name
    scored = model.decision_function(renamed)
    assert scored.columns == [*renamed.columns, "decision_function"]
    here = scored.toPandas()
    expected = reference.decision_function(here.rename(columns={name: "x0"})[FEATURES])
    np.testing.assert_allclose(here["decision_function"], expected, rtol=1e-8, atol=1e-10)
    assert [len(block.column_names) for block in open_source(renamed).blocks([name])] == [
        1
    ] * renamed.rdd.getNumPartitions()


def test_decimals_as_labels(rows, reference):
    model = MomentSVC().fit(rows.withColumn("fraud", rows["fraud"].cast("decimal(1,0)")), target="fraud")
    assert model.classes_.tolist() == [0, 1]
    assert model.classes_.dtype == np.int64
    assert relative_difference(model, reference) < 1e-10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("IF(x0 > 5, NULL, x3)", r"column 'x3' is missing, NaN or infinite"),
        ("DATE'2026-01-01'", r"Column 'x3' holds date32.*, and numbers are needed"),
        ("'high'", r"Column 'x3' holds string, and numbers are needed"),
    ],
    ids=["missing", "date", "text"],
)
def test_faults_in_scoring_name_the_partition(rows, reference, change, message):
    lazy = reference.predict(rows.withColumn("x3", pyspark.sql.functions.expr(change)))
    with pytest.raises(Exception, match=rf"DataError: Spark, partition \d+, rows [\d,]+ to [\d,]+: {message}"):
        lazy.collect()


def test_scores_are_one_more_column_and_lazy(rows, reference):
    scored = reference.predict(reference.decision_function(rows))
    assert scored.columns == [*rows.columns, "decision_function", "prediction"]
    here = scored.toPandas()
    np.testing.assert_allclose(here["decision_function"], reference.decision_function(here[FEATURES]), rtol=1e-12)
    np.testing.assert_array_equal(here["prediction"], reference.predict(here[FEATURES]))
    with pytest.raises(ParameterError, match="has a column 'prediction' already"):
        reference.predict(scored)


def test_nothing_is_computed_before_it_is_asked_for(spark, folder, reference, tmp_path):
    shutil.copytree(folder, tmp_path / "rows")
    lazy = reference.decision_function(spark.read.parquet(str(tmp_path / "rows")))
    shutil.rmtree(tmp_path / "rows")
    with pytest.raises(Exception, match=r"part-|does not exist|FILE_NOT_EXIST"):
        lazy.collect()


@pytest.mark.parametrize("estimator", [SVC(), ToleranceClassifier(LogisticRegression(), 0.1)])
def test_every_estimator_scores_lazily(rows, frame, estimator):
    model = estimator.fit(frame[FEATURES].iloc[:800], frame["fraud"].iloc[:800])
    here = model.decision_function(rows).toPandas()
    np.testing.assert_allclose(here["decision_function"], model.decision_function(here[FEATURES]), rtol=1e-10)


def test_an_executor_killed_in_the_middle_changes_nothing(rows, tmp_path):
    marker, spared = tmp_path / "died", tmp_path / "spared"
    spared.touch()
    calm = MomentSVC().fit(rows.mapInArrow(partial(kill_the_executor, str(spared)), rows.schema), target="fraud")
    model = MomentSVC().fit(rows.mapInArrow(partial(kill_the_executor, str(marker)), rows.schema), target="fraud")
    assert marker.exists()
    np.testing.assert_array_equal(model.coef_, calm.coef_)
    np.testing.assert_array_equal(model.intercept_, calm.intercept_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("IF(x0 > 5, NULL, x3)", r"Spark, partition \d+, rows [\d,]+ to [\d,]+: column 'x3' is missing, NaN"),
        ("DATE'2026-01-01'", r"partition \d+, .*Column 'x3' holds date32.*, and numbers are needed"),
    ],
    ids=["missing", "date"],
)
def test_faults_name_the_partition(rows, change, message):
    wrong = rows.withColumn("x3", pyspark.sql.functions.expr(change))
    model = MomentSVC()
    with pytest.raises(DataError, match=message):
        model.fit(wrong, target="fraud")
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("fault", ["corrupt", "gone", "type"])
def test_files_that_break_are_named(spark, folder, tmp_path, fault):
    shutil.copytree(folder, tmp_path / "rows")
    rows = spark.read.parquet(str(tmp_path / "rows"))
    victim = tmp_path / "rows" / "part-1.parquet"
    if fault == "gone":
        victim.unlink()
    elif fault == "type":
        wrong = pq.read_table(victim)
        pq.write_table(wrong.set_column(3, "x3", wrong["x3"].cast(pa.string())), victim)
    else:
        data = bytearray(victim.read_bytes())
        data[4:2000] = b"\xff" * 1996
        victim.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"Spark could not be read: .*part-1\.parquet"):
        MomentSVC().fit(rows, target="fraud")


def test_empty_partitions_are_nothing(spark, rows, reference):
    holed = rows.union(rows.where("x0 > 1e9")).repartition(6, "fraud")
    assert relative_difference(MomentSVC().fit(holed, target="fraud"), reference) < 1e-10
    with pytest.raises(DataError, match="Spark holds no rows"):
        MomentSVC().fit(rows.where("x0 > 1e9"), target="fraud")


def test_what_does_not_fit_together_is_said(rows, reference):
    with pytest.raises(ParameterError, match=r"no column 'frad'\. Did you mean 'fraud'"):
        MomentSVC().fit(rows, target="frad")
    with pytest.raises(ParameterError, match="as in target='fraud'"):
        MomentSVC().fit(rows)
    with pytest.raises(DataError, match="no column 'x3'"):
        reference.predict(rows.drop("x3"))
    twice = rows.select("*", rows["x0"])
    for use in (lambda: MomentSVC().fit(twice, target="fraud"), lambda: reference.predict(twice)):
        with pytest.raises(DataError, match="Spark has more than one column called 'x0'"):
            use()
    with pytest.raises(ParameterError, match="ToleranceClassifier fits rows in memory"):
        ToleranceClassifier(MomentSVC(), 0.1).fit(rows, target="fraud")


def test_blocks_bring_the_rows_here(rows, frame):
    found = np.concatenate([block["x0"].to_numpy() for block in open_source(rows).blocks(["x0"])])
    np.testing.assert_array_equal(np.sort(found), np.sort(frame["x0"]))


def test_the_guide_says_the_same_on_spark_and_in_memory(spark, tmp_path, monkeypatch):
    memory, _, on_spark, _ = programs("from_laptop_to_cluster.md")
    monkeypatch.chdir(tmp_path)
    said = run(memory, tmp_path, monkeypatch)[1]
    there = run(on_spark.replace('"transactions"', repr(str(tmp_path / "transactions"))), tmp_path, monkeypatch)[1]
    assert there.split(" of the negatives")[0] == said.split(" of the negatives")[0]
