"""Nyström machines fitted from files and sources, against the same fit in memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from askew import SVC, AsymmetricSVC, CovarianceOneClassSVM, OneClassSVM
from askew.exceptions import DataError, ParameterError
from askew.sources import MemorySource

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.parquet as pq

FEW = {"approximation": "nystroem", "n_landmarks": 30, "random_state": 0, "tol": 1e-6}
CLASSIFIERS = [SVC(**FEW), AsymmetricSVC(**FEW)]
DETECTORS = [OneClassSVM(nu=0.2, **FEW), CovarianceOneClassSVM(eta=0.5, **FEW)]
NAMES = ["a", "b", "c", "d"]


def named(model):
    return type(model).__name__


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 4)) + 3.0
    y = (X[:, 0] * X[:, 1] + rng.standard_normal(6000) > 14).astype(int)
    return X, y, rng.integers(0, 3, 6000).astype(float)


@pytest.fixture(scope="module")
def table(data):
    X, y, weight = data
    return pa.table({"a": X[:, 0], "b": X[:, 1], "fraud": y, "c": X[:, 2], "d": X[:, 3], "weight": weight})


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    place = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(table, place, row_group_size=777)
    return place


@pytest.mark.parametrize("cache_size", [1024, 0], ids=["held", "read again"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_a_classifier_from_a_parquet_file_is_the_one_from_memory(model, cache_size, data, path):
    X, y, weight = data
    model = clone(model).set_params(cache_size=cache_size)
    held = clone(model).fit(X, y, sample_weight=weight)
    expected = held.decision_function(X)
    streamed = clone(model).fit(str(path), target="fraud", sample_weight="weight")
    np.testing.assert_allclose(streamed.decision_function(path), expected, atol=1e-5 * np.abs(expected).max())
    assert list(streamed.feature_names_in_) == NAMES
    assert streamed.gamma_ == pytest.approx(held.gamma_, rel=1e-12)


@pytest.mark.parametrize("cache_size", [1024, 0], ids=["held", "read again"])
@pytest.mark.parametrize("model", DETECTORS, ids=named)
def test_a_detector_from_a_parquet_file_is_the_one_from_memory(model, cache_size, data, path):
    X, _, weight = data
    model = clone(model).set_params(cache_size=cache_size)
    expected = clone(model).fit(X, sample_weight=weight).decision_function(X)
    streamed = clone(model).fit(path, target="fraud", sample_weight="weight")
    np.testing.assert_allclose(streamed.decision_function(path), expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("share", [0.01, 0.002])
def test_rare_positives_and_little_memory_still_end_within_the_tolerance(share, class_weight, tmp_path):
    """A fifth of the rows held, a score that is nearly flat, so that chunks undo one another's work."""
    rng, names = np.random.default_rng(2), [f"x{j}" for j in range(5)]
    y = (rng.random(20_000) < share).astype(int)
    X = (rng.standard_normal((20_000, 5)) + y[:, None]) * np.arange(1, 6) + [0, 0, 0, 100, 0]
    pq.write_table(pa.table({**dict(zip(names, X.T, strict=True)), "fraud": y}), tmp_path / "rare.parquet")
    model = SVC(approximation="nystroem", n_landmarks=60, random_state=0, class_weight=class_weight)
    expected = clone(model).fit(X, y).decision_function(X)
    found = clone(model).set_params(cache_size=0).fit(tmp_path / "rare.parquet", target="fraud")
    assert found.status_ == "optimal"
    assert found.kkt_violation_ <= 1e-3
    scores = found.decision_function(tmp_path / "rare.parquet")
    np.testing.assert_allclose(scores, expected, atol=5e-3 * np.abs(expected).max())


def test_blocks_of_any_size_give_the_same_model(data):
    X, _, _ = data
    model = OneClassSVM(nu=0.2, **FEW)
    expected = clone(model).fit(X).decision_function(X)
    for block in (100, 4999):
        found = clone(model).fit(MemorySource(X, block_rows=block))
        np.testing.assert_allclose(found.decision_function(X), expected, atol=1e-6 * np.abs(expected).max())


def test_three_classes_from_a_svmlight_file(data, tmp_path):
    X, y, _ = data
    X, y = np.where(X < 3.0, 0.0, X)[:2000], (y + (X[:, 2] > 4))[:2000]
    place = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(place))
    expected = SVC(**FEW).fit(sparse.csr_array(X), y)
    found = SVC(**FEW).fit(place)
    assert sparse.issparse(found.landmarks_)
    np.testing.assert_array_equal(found.classes_, [0.0, 1.0, 2.0])
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-4)


def test_a_dask_frame_is_read_like_a_file(data):
    dask = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y, _ = data
    frame = pd.DataFrame(X, columns=NAMES).assign(fraud=y)
    found = SVC(**FEW).fit(dask.from_pandas(frame, npartitions=5), target="fraud")
    expected = SVC(**FEW).fit(X, y).decision_function(X)
    np.testing.assert_allclose(found.decision_function(frame[NAMES]), expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("model", [*CLASSIFIERS, *DETECTORS], ids=named)
def test_without_an_approximation_files_are_refused_with_the_remedy(model, path):
    with pytest.raises(ParameterError, match='approximation="nystroem"'):
        clone(model).set_params(approximation=None).fit(path, target="fraud")


def test_what_is_wrong_with_a_file_is_named(path, table, tmp_path):
    with pytest.raises(ParameterError, match=r"has no column 'frad'.*'fraud'"):
        SVC(**FEW).fit(path, target="frad")
    with pytest.raises(ParameterError, match="name their column"):
        SVC(**FEW).fit(path)
    holed = table.set_column(0, "a", pa.array([None, *table["a"].to_pylist()[1:]]))
    place = tmp_path / "holed.parquet"
    pq.write_table(holed, place)
    model = SVC(**FEW)
    with pytest.raises(DataError, match=r"holed.parquet.*'a' is missing"):
        model.fit(place, target="fraud")
    assert not hasattr(model, "landmarks_")
    with pytest.raises(DataError, match="two classes"):
        SVC(**FEW).fit(pa.table({"a": [1.0, 2.0], "fraud": [1, 1]}), target="fraud")


def test_a_file_that_changes_between_passes_is_noticed(table, tmp_path):
    place = tmp_path / "rows.parquet"
    pq.write_table(table, place)
    from askew.summaries import StreamedRows

    rows = StreamedRows.open(place, None, "fraud", None, is_labelled=True)
    assert rows.n == 6000
    pq.write_table(table.slice(0, 5000), place)
    with pytest.raises(DataError, match=r"changed while it was read"):
        for _ in rows.blocks():
            pass


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_a_frame_in_memory_is_scored_by_name_after_a_fit_by_name(model, table, path):
    fitted = clone(model).fit(str(path), target="fraud", sample_weight="weight")
    frame = table.to_pandas()
    expected = fitted.decision_function(frame[NAMES])
    np.testing.assert_array_equal(fitted.decision_function(frame), expected)
    np.testing.assert_array_equal(fitted.decision_function(frame[frame.columns[::-1]]), expected)
    fitted.fit(frame[NAMES], frame["fraud"])
    with pytest.raises(ValueError, match="feature names should match"):  # scikit-learn's rule after fit(X, y)
        fitted.predict(frame)
