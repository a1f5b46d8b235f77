"""Text and categories learnt in the pass: the model of scikit-learn's encoder and scaler, however the rows arrive."""

import tracemalloc

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from behaviour.rare_rows import MIXED, encoded_by_hand, mixed_table
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from askew import MomentSVC
from askew.exceptions import DataError
from askew.selection import ToleranceSearchCV
from askew.sources import FileSource, FrameSource, open_source


@pytest.fixture(scope="module")
def frame():
    return mixed_table()


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """Sorted by country: no file, and no row group, knows all categories."""
    folder = tmp_path_factory.mktemp("mixed")
    apart = frame.sort_values("country").reset_index(drop=True)
    for k in range(3):
        rows = pa.Table.from_pandas(apart.iloc[2000 * k : 2000 * (k + 1)], preserve_index=False)
        pq.write_table(rows, folder / f"part-{k}.parquet", row_group_size=300)
    return folder


def agree(scores, expected, within=1e-10):
    assert np.abs(scores - expected).max() <= within * np.abs(expected).max()


def pieces(frame, folder):
    """The same rows in many ways."""
    mixed = frame.sample(frac=1.0, random_state=1)
    yield folder
    yield FileSource(sorted(folder.iterdir()), "parquet", block_rows=17)
    yield FrameSource(mixed, block_rows=101)
    yield pl.from_pandas(mixed.reset_index(drop=True))
    yield pa.Table.from_pandas(frame, preserve_index=False)
    yield dd.from_pandas(mixed.reset_index(drop=True), npartitions=7)


@pytest.mark.parametrize(
    "options",
    [{}, {"scale": True}, {"scale": True, "covariance": "diagonal"}, {"scale": True, "covariance": "shrunk"},
     {"scale": True, "covariance": "factor", "n_factors": 3}, {"scale": True, "kernel": "rbf", "rho": 0.5}],
)  # fmt: skip
def test_any_road_finds_the_model_of_encoder_and_scaler(frame, folder, options):
    X, y = encoded_by_hand(frame, options.get("scale", False)), frame["fraud"]
    expected = clone(MomentSVC(**options)).set_params(scale=False).fit(X, y).decision_function(X)
    for rows in pieces(frame, folder):
        model = MomentSVC(**options).fit(rows, target="fraud")
        agree(model.decision_function(frame[MIXED]), expected)
    assert list(model.feature_names_in_) == MIXED
    assert model.categories_ == {"country": ["de", "es", "fr", "it"], "kind": ["card", "cash", None]}
    assert model.encoded_names_[:3].tolist() == ["amount", "country=de", "country=es"]


def test_coefficients_are_those_of_the_original_features(frame):
    X = encoded_by_hand(frame, False)
    far = MomentSVC(scale=True).fit(frame, target="fraud")
    agree(X @ far.coef_[0] + far.intercept_, far.decision_function(frame[MIXED]))
    near = MomentSVC(scale=True).fit(X, frame["fraud"])
    agree(far.coef_, near.coef_)
    np.testing.assert_allclose(far.scale_, X.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(far.moments_.covariance, np.cov(X[frame["fraud"] == 0].T, bias=True), atol=1e-9)
    assert far.false_positive_bound_ == pytest.approx(near.false_positive_bound_, rel=1e-9)


def test_three_classes_and_weights(frame):
    frame = frame.head(3000)
    classes = frame.assign(fraud=np.arange(len(frame)) % 3 + frame["fraud"], w=np.arange(len(frame)) % 4)
    classes.loc[classes["w"] == 0, "country"] = "nowhere"  # rows without weight have no categories either
    X = encoded_by_hand(frame.assign(country=np.where(classes["w"] == 0, "fr", frame["country"])), False)
    near = MomentSVC(scale=True, rho=0.1).fit(X, classes["fraud"], sample_weight=classes["w"])
    far = MomentSVC(scale=True, rho=0.1).fit(FrameSource(classes, block_rows=500), target="fraud", sample_weight="w")
    assert "nowhere" not in far.categories_["country"]
    counted = (classes["w"] > 0).to_numpy()
    agree(far.decision_function(classes[MIXED])[counted], near.decision_function(X)[counted])


def test_scores_are_lazy_and_the_same(frame, folder):
    model = MomentSVC(scale=True).fit(folder, target="fraud")
    expected = model.decision_function(frame[MIXED])
    lazy = model.decision_function(dd.from_pandas(frame, npartitions=3))
    assert hasattr(lazy, "compute")
    np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-12)
    everything = model.decision_function(folder)
    apart = frame.sort_values("country").reset_index(drop=True)
    np.testing.assert_allclose(everything, model.decision_function(apart[MIXED]), rtol=1e-12)
    agree(model.decision_function(frame[MIXED[::-1]]), expected)  # by name, not by place


def test_what_was_never_met_is_zero_in_all_columns(frame):
    model = MomentSVC().fit(frame, target="fraud")
    row = frame[MIXED].head(1).assign(country="atlantis", kind="barter")
    expected = row["amount"] * model.coef_[0, 0] + row["age"] * model.coef_[0, 5] + model.intercept_
    np.testing.assert_allclose(model.decision_function(row), expected, rtol=1e-10)
    full = MomentSVC().fit(frame.assign(kind=frame["kind"].astype(object).fillna("card")), target="fraud")
    assert full.categories_["kind"] == ["card", "cash"]
    assert full.decision_function(row.assign(kind=None)) == pytest.approx(full.decision_function(row))


def test_too_many_categories_are_named(frame, folder):
    many = frame.assign(country=[f"c{k % 120}" for k in range(len(frame))])
    for rows in (FrameSource(many, block_rows=50), dd.from_pandas(many, npartitions=9)):
        with pytest.raises(DataError, match=r"column 'country' has at least \d+ different.*max_categories=100.*Raise"):
            MomentSVC().fit(rows, target="fraud")
    assert len(MomentSVC(max_categories=120).fit(many, target="fraud").categories_["country"]) == 120


def test_a_column_of_identifiers_is_refused_before_it_costs_memory():
    """Moments with a column for each of them would take a gigabyte."""
    rows = pd.DataFrame({"id": [f"id{k}" for k in range(12_000)], "x": np.arange(12_000.0), "fraud": 0})
    rows.loc[::100, "fraud"] = 1
    tracemalloc.start()
    with pytest.raises(DataError, match=r"column 'id' has at least 12000 different values"):
        MomentSVC().fit(rows, target="fraud")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_faults_are_named(frame, tmp_path):
    model = MomentSVC().fit(frame, target="fraud")
    with pytest.raises(DataError, match="Column 'country' holds int64 here, and categories"):
        model.decision_function(frame[MIXED].assign(country=1))
    with pytest.raises(DataError, match="needs a frame with the same columns"):
        model.decision_function(np.zeros((2, 4)))
    with pytest.raises(DataError, match="there is no column 'kind'"):
        model.decision_function(frame[["amount", "country", "age"]])
    with pytest.raises(DataError, match="column 'age' is missing, NaN or infinite"):
        model.decision_function(frame[MIXED].assign(age=np.nan))
    frame.assign(age=np.where(frame.index == 7, np.nan, frame["age"])).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t.parquet.*column 'age' is missing.*row 8 there"):
        MomentSVC().fit(tmp_path / "t.parquet", target="fraud")


def test_only_text(frame):
    texts = frame[["country", "kind", "fraud"]]
    X = encoded_by_hand(frame, False)[:, [1, 2, 3, 4, 6, 7, 8]]
    expected = MomentSVC().fit(X, frame["fraud"]).decision_function(X)
    agree(MomentSVC().fit(FrameSource(texts, block_rows=99), target="fraud").decision_function(texts), expected, 1e-8)


def test_a_new_fit_forgets_categories_and_scale(frame):
    model = MomentSVC(scale=True).fit(frame, target="fraud")
    model.set_params(scale=False).fit(frame[["amount", "age"]], frame["fraud"])
    assert not any(hasattr(model, name) for name in ("categories_", "encoded_names_", "scale_"))
    assert model.decision_function(frame[["amount", "age"]]).shape == (len(frame),)


def test_a_fair_draw_is_the_same_whatever_the_blocks(frame):
    found = []
    for rows in (frame, FrameSource(frame.sample(frac=1.0, random_state=2), block_rows=91)):
        with pytest.warns(UserWarning, match="max_positive=50"):
            found.append(MomentSVC(max_positive=50, scale=True).fit(rows, target="fraud").coef_)
    agree(*found)


def test_scale_in_memory_in_streams_and_from_moments(frame):
    """All of them are StandardScaler before the fit."""
    X, y = encoded_by_hand(frame, False)[:, [0, 5]], frame["fraud"].to_numpy()
    Z = encoded_by_hand(frame, True)[:, [0, 5]]
    near = MomentSVC().fit(Z, y)
    expected = near.decision_function(Z)
    model = MomentSVC(scale=True).fit(X, y)
    agree(model.decision_function(X), expected)
    assert model.rho_ == pytest.approx(near.rho_)
    np.testing.assert_allclose(model.support_vectors_, X[model.support_])
    stream = MomentSVC(scale=True)
    for part in np.array_split(np.arange(len(X)), 7):
        stream.partial_fit(X[part], y[part], classes=[0, 1])
    agree(stream.decision_function(X), expected)
    np.testing.assert_allclose(stream.support_vectors_, X[stream.support_])
    kernel = MomentSVC(scale=True, kernel="rbf").fit(X.astype(np.float32), y)
    assert kernel.decision_function(X.astype(np.float32)).shape == y.shape
    path = MomentSVC(scale=True).path(X, y, [0.1, 1.0])
    agree(X @ path.coefs[1, 0] + path.intercepts[1, 0], expected, 1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_search_scales_by_the_training_rows_of_each_fold(frame, kernel):
    """What a pipeline with StandardScaler would find."""
    X, y = encoded_by_hand(frame.head(1500), False)[:, [0, 2, 5]], frame["fraud"].to_numpy()[:1500]
    grid = {"C": [0.01, 1.0], "rho": [0.1, 1.0]}
    found = ToleranceSearchCV(MomentSVC(scale=True, kernel=kernel), grid, cv=3).fit(X, y)
    pipeline = make_pipeline(StandardScaler(), MomentSVC(kernel=kernel))
    expected = ToleranceSearchCV(pipeline, {f"momentsvc__{name}": values for name, values in grid.items()}, cv=3)
    expected.fit(X, y)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-6)


def test_a_source_says_which_columns_are_categories(frame, folder):
    assert open_source(folder).categories == ("country", "kind")
    assert open_source(frame).categories == ("country", "kind")
    assert open_source(dd.from_pandas(frame, npartitions=2)).categories == ("country", "kind")
    assert open_source(pd.DataFrame({"is_new": [True, False]})).categories == ()
