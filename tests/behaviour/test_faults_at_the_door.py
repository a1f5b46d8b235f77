"""What a fit is given in the wrong way is refused in words that say what to do."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from behaviour.rare_rows import FEATURES, mixed_table, table
from scipy import sparse

from askew import SVC, SVDD, KernelScaledSVC, MomentSVC, OneClassSVM, ToleranceClassifier
from askew.exceptions import DataError, ParameterError
from askew.sources import FrameSource


@pytest.fixture(scope="module")
def frame():
    return table(400, 60)


@pytest.mark.parametrize(
    ("estimator", "remedy"),
    [
        (KernelScaledSVC(), r"SVC\(approximation='nystroem'\) or askew\.MomentSVC from the source"),
        (SVDD(), r"OneClassSVM\(approximation='nystroem'\) from the source"),
        (ToleranceClassifier(MomentSVC(), 0.1), r"ToleranceClassifier\(model, calibration='prefit'\)"),
    ],
    ids=["KernelScaledSVC", "SVDD", "ToleranceClassifier"],
)
def test_who_needs_rows_in_memory_refuses_sources(frame, tmp_path, estimator, remedy):
    frame.to_parquet(tmp_path / "rows.parquet")
    ddf = dd.from_pandas(frame, npartitions=2)
    message = rf"{type(estimator).__name__} fits rows in memory, since .*; got .*{remedy}"
    for X, y in ((ddf[FEATURES], ddf["fraud"]), (str(tmp_path / "rows.parquet"), None), (FrameSource(frame), None)):
        with pytest.raises(ParameterError, match=message):
            estimator.fit(X, y)
        with pytest.raises(ParameterError, match=message):
            estimator.fit(X, target="fraud")
    with pytest.raises(ParameterError, match=r"got target='fraud'\. Pass"):
        estimator.fit(frame, target="fraud")
    assert not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator))


@pytest.mark.parametrize(
    "seen_as", [lambda f: f, pl.from_pandas, lambda f: f.to_numpy()], ids=["pandas", "polars", "numpy"]
)
def test_text_beside_labels_points_to_the_target(seen_as):
    frame = mixed_table(300)
    X = seen_as(frame.drop(columns=["fraud", "kind"]))
    with pytest.raises(
        DataError, match=r"^Column ('country'|number 1 of X) holds text \('\w\w'\).*target='fraud'.*OneHotEncoder"
    ):
        MomentSVC().fit(X, frame["fraud"])


def test_numbers_in_text_are_no_reason(frame):
    """The first word that is no number is named; numbers written as text are read, as scikit-learn does."""
    written = frame[FEATURES].astype(str)
    plain = MomentSVC().fit(frame[FEATURES], frame["fraud"])
    np.testing.assert_allclose(MomentSVC().fit(written, frame["fraud"]).coef_, plain.coef_)
    with pytest.raises(DataError, match="Column 'x2' holds text \\('far'\\)"):
        MomentSVC().fit(written.assign(x2=written["x2"].where(frame.index != 7, "far")), frame["fraud"])


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("given", ["frame", "sparse", "table", "dask", "streamed"])
def test_a_number_too_large_to_be_squared_is_named(frame, given, label):
    row = int(np.flatnonzero(frame["fraud"] == label)[3])
    wrong = frame.assign(x2=frame["x2"].where(frame.index != row, 1e200))
    name = "number 2" if given == "sparse" else "'x2'"
    X, y = wrong[FEATURES], wrong["fraud"]
    fit = {
        "frame": lambda: MomentSVC().fit(X, y),
        "sparse": lambda: MomentSVC(covariance="diagonal").fit(sparse.csr_array(X.to_numpy()), y),
        "table": lambda: MomentSVC().fit(wrong, target="fraud"),
        "dask": lambda: MomentSVC().fit(dd.from_pandas(wrong, npartitions=2), target="fraud"),
        "streamed": lambda: SVC(approximation="nystroem").fit(wrong, target="fraud"),
    }[given]
    with pytest.raises(DataError, match=rf"column {name} is 1e\+200 in row \d+ there"), np.errstate(all="ignore"):
        fit()


def test_columns_that_leave_nothing_to_learn_from(frame):
    with pytest.raises(ParameterError, match="'fraud' is named as target and as sample_weight"):
        MomentSVC().fit(frame, target="fraud", sample_weight="fraud")
    for estimator in (MomentSVC(), OneClassSVM(approximation="nystroem")):
        with pytest.raises(DataError, match="no column besides 'fraud' to learn from"):
            estimator.fit(frame[["fraud"]], target="fraud")
    with pytest.raises(DataError, match="sample weights must be numbers; got"):
        MomentSVC().fit(frame.assign(w="heavy"), target="fraud", sample_weight="w")


def test_dask_arrays_that_cannot_be_fitted_are_refused_before_a_chunk_is_read(frame):
    def explode(chunk):
        raise AssertionError("a chunk was read")

    X = da.from_array(frame[FEATURES].to_numpy(), chunks=(100, 6)).map_blocks(
        explode, dtype=float, meta=np.empty((0, 0))
    )
    y = da.from_array(frame["fraud"].to_numpy(), chunks=100)
    with pytest.raises(ParameterError, match="A Dask array needs labels beside it"):
        MomentSVC().fit(X)
    with pytest.raises(ParameterError, match="Dask has no names of columns to choose 'fraud' by"):
        MomentSVC().fit(X, target="fraud")
    with pytest.raises(DataError, match=r"Dask holds complex128, and real numbers are needed.*imaginary part"):
        MomentSVC().fit(X.astype(complex), y)
    with pytest.raises(DataError, match="Dask has 0 features"):
        MomentSVC().fit(X[:, :0], y)


def test_names_of_dask_columns(frame):
    renamed = frame.rename(columns={name: k for k, name in enumerate(FEATURES)})
    ddf = dd.from_pandas(renamed, npartitions=3)
    plain = MomentSVC().fit(frame[FEATURES], frame["fraud"])
    for model in (MomentSVC().fit(ddf, target="fraud"), MomentSVC().fit(ddf[list(range(6))], ddf["fraud"])):
        np.testing.assert_allclose(model.coef_, plain.coef_)
        assert model.feature_names_in_.tolist() == ["0", "1", "2", "3", "4", "5"]
        expected = plain.decision_function(frame[FEATURES])
        np.testing.assert_allclose(model.decision_function(ddf).compute(), expected, atol=1e-12)
        np.testing.assert_allclose(model.decision_function(renamed), expected, atol=1e-12)
    twice = dd.concat([ddf, ddf[[0]]], axis=1)
    with pytest.raises(DataError, match="Dask has more than one column called '0'"):
        MomentSVC().fit(twice, target="fraud")
    with pytest.raises(DataError, match="Dask has more than one column called '0'"):
        plain.predict(twice)


def test_categories_of_different_types_in_dask_partitions_are_read_as_text(frame):
    numbers = frame.assign(kind=pd.Categorical(np.arange(len(frame)) % 3))
    words = frame.assign(kind=pd.Categorical(["a"] * len(frame)))
    ddf = dd.from_pandas(numbers, npartitions=1)
    mixed = dd.from_map(lambda part: part, [numbers, words], meta=ddf._meta, enforce_metadata=False)
    assert MomentSVC().fit(mixed, target="fraud").categories_["kind"] == ["0", "1", "2", "a"]
