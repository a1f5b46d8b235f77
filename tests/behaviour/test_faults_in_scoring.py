"""Rows that cannot be scored are named by file or partition and column, and frames in memory are read by name."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from behaviour.rare_rows import FEATURES, mixed_table, table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from askew import SVC, MomentSVC, OneClassSVM, ToleranceClassifier
from askew.exceptions import DataError


@pytest.fixture(scope="module")
def frame():
    return table(900, 100)


@pytest.fixture(scope="module")
def model(frame):
    return MomentSVC().fit(frame, target="fraud")


CHANGES = [
    (lambda x: x.where(x.index != 700), "column 'x3' is missing, NaN or infinite, for the first time in row 201 there"),
    (lambda x: x.astype(str) + "a", "Column 'x3' holds (large_)?string, and numbers are needed"),
    (lambda x: pd.Series(pd.Timestamp("2026-01-01"), x.index), "Column 'x3' holds timestamp.*, and numbers are needed"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=["nan", "text", "date"])
@pytest.mark.parametrize("kind", [MomentSVC, SVC, OneClassSVM])
def test_files_and_partitions_are_named(frame, tmp_path, kind, change, message):
    model = kind().fit(frame[FEATURES], frame["fraud"])
    wrong = frame.assign(x3=change(frame["x3"]))
    wrong.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    with pytest.raises(DataError, match=rf"rows\.parquet, rows [\d,]+ to [\d,]+: {message}"):
        model.decision_function(tmp_path / "rows.parquet")
    lazy = model.predict(dd.from_pandas(wrong, npartitions=2))
    with pytest.raises(DataError, match=rf"Dask, partition \d: {message}"), dask.config.set(scheduler="sync"):
        lazy.compute()


def test_a_model_of_text_says_where(tmp_path):
    frame = mixed_table(1000)
    model = MomentSVC().fit(frame, target="fraud")
    wrong = frame.assign(age=frame["age"].where(frame.index != 700))
    wrong.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    with pytest.raises(DataError, match=r"rows 501 to 1,000: column 'age' is missing.* in row 201 there"):
        model.predict(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"^column 'age' is missing.* in row 701 of X\."):
        model.predict(wrong)


def test_chunks_of_an_array_are_named(frame):
    X = frame[FEATURES].to_numpy(copy=True)
    model = MomentSVC().fit(X, frame["fraud"])
    X[700, 3] = np.inf
    lazy = model.predict(da.from_array(X, chunks=(500, 2)))
    with pytest.raises(DataError, match=r"Dask, partition 1: column number 3 is missing, NaN or infinite.* row 201"):
        lazy.compute()
    with pytest.raises(DataError, match="Dask holds complex128, and real numbers are needed"):
        model.predict(da.from_array(X + 1j, chunks=(500, 6)))


def test_a_foreign_estimator_reads_its_columns_in_its_own_way(frame, tmp_path):
    """Missing values, and what it refuses comes with its place."""
    holed = frame.assign(x3=frame["x3"].where(frame["x3"] < 6))
    holed.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    trees = HistGradientBoostingClassifier(max_iter=5)
    model = ToleranceClassifier(trees, 0.1, random_state=0).fit(holed[FEATURES], frame["fraud"])
    scores = model.decision_function(tmp_path / "rows.parquet")
    np.testing.assert_allclose(scores, model.decision_function(holed[FEATURES]))
    model = ToleranceClassifier(LogisticRegression(), 0.1, random_state=0).fit(frame[FEATURES], frame["fraud"])
    with pytest.raises(
        DataError, match=r"rows\.parquet, rows 1 to 500: the rows could not be scored: Input X contains NaN"
    ):
        model.decision_function(tmp_path / "rows.parquet")


def test_a_model_of_text_is_calibrated_on_a_sample_and_scores_files(tmp_path):
    frame = mixed_table(2000)
    frame.to_parquet(tmp_path / "rows.parquet")
    fitted = MomentSVC().fit(tmp_path / "rows.parquet", target="fraud")
    model = ToleranceClassifier(fitted, 0.1, calibration="prefit").fit(frame.drop(columns="fraud"), frame["fraud"])
    scores = model.decision_function(tmp_path / "rows.parquet")
    np.testing.assert_allclose(scores, model.decision_function(frame))
    np.testing.assert_allclose(model.decision_function(dd.from_pandas(frame, npartitions=3)).compute(), scores)


@pytest.mark.parametrize(
    "seen_as",
    [
        lambda f: f,
        lambda f: f[f.columns[::-1]],
        pl.from_pandas,
        pa.Table.from_pandas,
        pa.RecordBatch.from_pandas,
        lambda f: {name: f[name] for name in f},
    ],
    ids=["pandas", "other order", "polars", "arrow", "batch", "dict"],
)
def test_a_fit_with_a_target_reads_frames_in_memory_by_name(frame, model, seen_as):
    expected = model.decision_function(frame[FEATURES].to_numpy())
    np.testing.assert_array_equal(model.decision_function(seen_as(frame)), expected)
    np.testing.assert_array_equal(model.predict(seen_as(frame)), model.classes_[(expected > 0).astype(int)])


def test_what_a_frame_in_memory_lacks_is_said(frame, model):
    with pytest.raises(DataError, match=r"no column 'x3', which the model was fitted with\."):
        model.predict(frame.drop(columns="x3"))
    for change, message in CHANGES[1:]:
        with pytest.raises(DataError, match=f"X: {message}"):
            model.predict(frame.assign(x3=change(frame["x3"])))


def test_a_fit_of_rows_and_labels_keeps_to_its_columns(frame, model):
    again = MomentSVC().fit(frame, target="fraud").fit(frame[FEATURES], frame["fraud"])
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        again.predict(frame)
