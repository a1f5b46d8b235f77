"""MomentSVC on Dask: a real cluster of two worker processes, the same model as in memory, and named faults."""

import os
from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from behaviour.accidents import kill_the_worker, spoil
from behaviour.rare_rows import FEATURES, relative_difference, table
from dask.distributed import Client, LocalCluster
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from askew import SVC, MomentSVC, OneClassSVM, ToleranceClassifier
from askew.exceptions import DataError, ParameterError
from askew.moments import Moments
from askew.sources import open_source
from askew.sources.dask import DaskSource


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def frame():
    return table()


@pytest.fixture(scope="module")
def reference(frame):
    return MomentSVC().fit(frame[FEATURES], frame["fraud"])


@pytest.mark.parametrize("npartitions", [1, 3, 23])
def test_a_cluster_finds_the_model_of_memory(cluster, frame, reference, npartitions):
    ddf = dd.from_pandas(frame, npartitions=npartitions)
    model = MomentSVC().fit(ddf[FEATURES], ddf["fraud"])
    assert relative_difference(model, reference) < 1e-10
    np.testing.assert_array_equal(model.support_, reference.support_)
    assert list(model.feature_names_in_) == FEATURES
    assert model.false_positive_bound_ == pytest.approx(reference.false_positive_bound_, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_order_and_chunks_do_not_matter(frame, reference, seed):
    rng = np.random.default_rng(seed)
    mixed = frame.iloc[rng.permutation(len(frame))]
    chunks = (int(rng.integers(50, 1500)), 4)
    X = da.from_array(mixed[FEATURES].to_numpy(), chunks=chunks)
    y = da.from_array(mixed["fraud"].to_numpy(), chunks=1000)
    assert relative_difference(MomentSVC().fit(X, y), reference) < 1e-10


def test_a_target_by_name_and_weights_by_name(frame):
    weighted = frame.assign(w=np.arange(len(frame)) % 3)
    ddf = dd.from_pandas(weighted, npartitions=4)
    plain = MomentSVC().fit(frame[FEATURES], frame["fraud"], sample_weight=weighted["w"])
    assert relative_difference(MomentSVC().fit(ddf, target="fraud", sample_weight="w"), plain) < 1e-10
    assert relative_difference(MomentSVC().fit(ddf[FEATURES], ddf["fraud"], ddf["w"]), plain) < 1e-10


@pytest.mark.parametrize(("covariance", "kernel"), [("diagonal", "linear"), ("shrunk", "linear"), ("full", "rbf")])
def test_other_structures_and_kernels(frame, covariance, kernel):
    ddf = dd.from_pandas(frame, npartitions=5)
    options = {"covariance": covariance, "kernel": kernel}
    far = MomentSVC(**options).fit(ddf, target="fraud").decision_function(frame[FEATURES])
    near = MomentSVC(**options).fit(frame[FEATURES], frame["fraud"]).decision_function(frame[FEATURES])
    np.testing.assert_allclose(far, near, rtol=1e-9, atol=1e-9)


def test_several_classes_and_labels_that_are_not_0_and_1(frame):
    quartile = pd.Series(np.array(["a", "b", "c"])[np.arange(len(frame)) % 3], name="kind")
    ddf = dd.from_pandas(pd.concat([frame[FEATURES], quartile], axis=1), npartitions=4)
    near = MomentSVC(rho=0.1).fit(frame[FEATURES], quartile)
    far = MomentSVC(rho=0.1).fit(ddf, target="kind")
    assert far.classes_.tolist() == ["a", "b", "c"]
    assert relative_difference(far, near) < 1e-10
    words = frame["fraud"].map({0: "ok", 1: "fraud"})
    ddf = dd.from_pandas(frame.assign(fraud=words), npartitions=4)
    for label in (None, "fraud"):
        near = MomentSVC(rho=0.1, pos_label=label).fit(frame[FEATURES], words)
        assert relative_difference(MomentSVC(rho=0.1, pos_label=label).fit(ddf, target="fraud"), near) < 1e-10


def test_labels_taken_from_small_files_stay_with_their_rows(frame, reference, tmp_path):
    """Dask fuses small files by the bytes of the columns it reads: one column into fewer partitions than six."""
    for k in range(6):
        frame.iloc[k::6].to_parquet(tmp_path / f"part-{k}.parquet")
    ddf = dd.read_parquet(tmp_path)
    assert relative_difference(MomentSVC().fit(ddf[FEATURES], ddf["fraud"]), reference) < 1e-10


def test_sparse_chunks(frame):
    X = np.maximum(frame[FEATURES].to_numpy() - 5.0, 0.0)
    chunks = da.from_array(X, chunks=(500, 6)).map_blocks(sparse.csr_array)
    model = MomentSVC(rho=0.1, tol=1e-9).fit(chunks, da.from_array(frame["fraud"].to_numpy(), chunks=500))
    assert relative_difference(model, MomentSVC(rho=0.1, tol=1e-9).fit(X, frame["fraud"])) < 1e-8


def test_scores_stay_lazy(frame, reference):
    ddf = dd.from_pandas(frame.set_index(pd.Index(range(100, 100 + len(frame)))), npartitions=4)
    scores, labels = reference.decision_function(ddf[FEATURES]), reference.predict(ddf)
    assert isinstance(scores, dd.Series)
    assert isinstance(labels, dd.Series)
    expected = reference.decision_function(frame[FEATURES])
    np.testing.assert_allclose(ddf.assign(score=scores)["score"].compute().to_numpy(), expected)
    assert labels.dtype == np.int64
    X = da.from_array(frame[FEATURES].to_numpy(), chunks=(700, 2))
    unnamed = MomentSVC().fit(frame[FEATURES].to_numpy(), frame["fraud"])
    lazy = unnamed.decision_function(X)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (len(frame),)
    np.testing.assert_allclose(lazy.compute(), expected)
    several = MomentSVC(rho=0.1).fit(X.compute(), np.arange(len(frame)) % 3).decision_function(X)
    assert several.shape == (len(frame), 3)
    assert several.compute().shape == (len(frame), 3)


@pytest.mark.parametrize(
    "estimator",
    [SVC(), OneClassSVM(), ToleranceClassifier(MomentSVC(), 0.1), ToleranceClassifier(LogisticRegression(), 0.1)],
    ids=["SVC", "OneClassSVM", "tolerance", "tolerance of another library"],
)
def test_every_estimator_scores_lazily(frame, estimator):
    X, y = frame[FEATURES].iloc[:800], frame["fraud"].iloc[:800]
    model = estimator.fit(X, y)
    ddf = dd.from_pandas(frame, npartitions=3)
    scores, labels = model.decision_function(ddf), model.predict(ddf)
    assert isinstance(scores, dd.Series)
    assert isinstance(labels, dd.Series)
    np.testing.assert_allclose(scores.compute(), model.decision_function(frame[FEATURES]), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(labels.compute(), model.predict(frame[FEATURES]))


def test_scoring_is_refused_before_anything_runs(frame, reference):
    ddf = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(NotFittedError):
        MomentSVC().predict(ddf)
    with pytest.raises(DataError, match=r"no column 'x3'.*Did you mean"):
        reference.predict(ddf.rename(columns={"x3": "X3"}))
    with pytest.raises(DataError, match="X has 5 features, but MomentSVC was fitted with 6"):
        reference.predict(da.zeros((10, 5)))


def test_too_many_positives_are_drawn_fairly_whatever_the_partitions(frame):
    models = []
    for npartitions in (1, 7):
        ddf = dd.from_pandas(frame, npartitions=npartitions)
        with pytest.warns(UserWarning, match="400 rows of class 1 are more than max_positive=50"):
            models.append(MomentSVC(max_positive=50, rho=0.1).fit(ddf, target="fraud"))
    assert relative_difference(*models) < 1e-10
    assert len(models[0].support_) <= 50
    whole = MomentSVC(rho=0.1).fit(frame[FEATURES], frame["fraud"])
    drawn, all_of_them = (
        roc_auc_score(frame["fraud"], m.decision_function(frame[FEATURES])) for m in (models[0], whole)
    )
    assert drawn > all_of_them - 0.02


def test_only_the_bytes_of_moments_travel(cluster, frame):
    """The whole reduction comes back as one small object: no partition is collected."""
    X = da.from_array(frame[FEATURES].to_numpy(), chunks=(100, 6))
    moments = DaskSource(X).map_reduce(Moments.of, Moments.merge)
    np.testing.assert_allclose(moments.covariance, np.cov(frame[FEATURES].T, bias=True), rtol=1e-10)
    assert moments.n_samples == len(frame)


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, frame, tmp_path):
    ddf = dd.from_pandas(frame, npartitions=9)
    calm = MomentSVC().fit(ddf, target="fraud")
    marker = tmp_path / "died"
    fatal = ddf.map_partitions(partial(kill_the_worker, str(marker)), meta=ddf._meta)
    before = {worker["pid"] for worker in _workers(cluster)}
    model = MomentSVC().fit(fatal, target="fraud")
    assert marker.exists()
    np.testing.assert_array_equal(model.coef_, calm.coef_)
    np.testing.assert_array_equal(model.intercept_, calm.intercept_)
    cluster.wait_for_workers(2)
    assert {worker["pid"] for worker in _workers(cluster)} != before


def _workers(client):
    return [{"pid": pid} for pid in client.run(os.getpid).values()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda p: p.assign(x3=np.nan),
            r"partition 2: column 'x3' is missing, NaN or infinite, for the first time in row 1 there",
        ),
        (lambda p: p.assign(x3=np.inf), r"partition 2: column 'x3' is missing, NaN or infinite"),
        (lambda p: p.assign(x3="high"), r"partition 2: Column 'x3' holds (large_)?string, and numbers are needed"),
        (lambda p: p.drop(columns="x3"), r"partition 2.*'x3'"),
        (
            lambda p: p.assign(fraud=np.where(p["fraud"] == 1, 1.0, np.nan)),
            r"partition 2: the target is missing or NaN",
        ),
        (lambda p: p.assign(fraud=p["fraud"].astype(str)), "labels of different types: int, str"),
        (lambda p: p.assign(fraud=p["x0"]), r"partition 2: the target has more than 100 different values"),
    ],
    ids=["nan", "infinite", "type", "columns", "no label", "labels of another type", "quantity"],
)
def test_faults_name_the_partition(cluster, frame, change, message):
    ddf = dd.from_pandas(frame, npartitions=4)
    wrong = ddf.map_partitions(partial(spoil, change), meta=ddf._meta, enforce_metadata=False)
    model = MomentSVC()
    with pytest.raises(DataError, match=message):
        model.fit(wrong, target="fraud")
    assert not hasattr(model, "coef_")


def test_empty_partitions_are_nothing(cluster, frame, reference):
    ddf = dd.from_pandas(frame, npartitions=4)
    holed = dd.concat([ddf, ddf[ddf["x0"] > 1e9], ddf[ddf["x0"] < -1e9]])
    model = MomentSVC().fit(holed, target="fraud")
    assert relative_difference(model, reference) < 1e-10
    assert len(model.predict(holed).compute()) == len(frame)
    with pytest.raises(DataError, match="Dask holds no rows"):
        MomentSVC().fit(ddf[ddf["x0"] > 1e9], target="fraud")


@pytest.mark.parametrize("fault", ["corrupt", "gone"])
def test_files_that_break_under_dask_are_named(cluster, frame, tmp_path, fault):
    for k in range(3):
        frame.iloc[k::3].to_parquet(tmp_path / f"part-{k}.parquet", compression=None)
    ddf = dd.read_parquet(tmp_path)
    victim = tmp_path / "part-1.parquet"
    if fault == "gone":
        victim.unlink()
    else:
        data = bytearray(victim.read_bytes())
        data[4:400] = b"\xff" * 396
        victim.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"part-1\.parquet|partition \d could not be read"):
        MomentSVC().fit(ddf, target="fraud")


def test_what_does_not_fit_together_is_said(frame):
    ddf = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(DataError, match="4 partitions and the labels or weights 2"):
        MomentSVC().fit(ddf[FEATURES], dd.from_pandas(frame["fraud"], npartitions=2))
    with pytest.raises(DataError, match="must be Dask objects, too"):
        MomentSVC().fit(ddf[FEATURES], frame["fraud"])
    with pytest.raises(DataError, match="there are 1,467 rows and 1,466 labels"):
        MomentSVC().fit(
            dd.from_pandas(frame[FEATURES], npartitions=3),
            dd.from_pandas(frame["fraud"].iloc[:-1].sort_index(), npartitions=3),
        )
    with pytest.raises(ParameterError, match="name their column, as in target='fraud'"):
        MomentSVC().fit(ddf)
    with pytest.raises(ParameterError, match=r"no column .frad.\. Did you mean .fraud."):
        MomentSVC().fit(ddf, target="frad")
    with pytest.raises(DataError, match="two classes with positive weight"):
        MomentSVC().fit(ddf[ddf["fraud"] == 0], target="fraud")
    with pytest.raises(ParameterError, match="pos_label=2 is not among the classes"):
        MomentSVC(pos_label=2).fit(ddf, target="fraud")


def test_blocks_bring_the_rows_here(frame):
    source = open_source(dd.from_pandas(frame, npartitions=4))
    assert source.columns == (*FEATURES, "fraud")
    np.testing.assert_array_equal(
        np.concatenate([block["x0"].to_numpy() for block in source.blocks(["x0"])]), frame["x0"]
    )
