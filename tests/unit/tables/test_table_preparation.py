"""Tables become numbers: the same from any blocks, nothing silent, nothing lost."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from askew.estimators.table_preparation import TablePreparation
from askew.exceptions import DataError, ParameterError
from askew.tables import NumberColumn


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 2000
    data = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1.5, n),
            "balance": rng.normal(-5.0, 2.0, n),
            "kind": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "when": pd.date_range("2026-01-01", periods=n, freq="37min"),
            "flag": rng.random(n) < 0.2,
        }
    )
    data.loc[::10, "balance"] = np.nan
    data.loc[::7, "kind"] = None
    return data


def test_blocks_of_any_size_give_the_same(frame):
    whole = TablePreparation().fit(frame).transform(frame)
    for rows in (1, 99, 1024):
        stream = TablePreparation()
        for start in range(0, len(frame), rows):
            stream.partial_fit(frame[start : start + rows])
        np.testing.assert_array_equal(stream.transform(frame)[:, :3], whole[:, :3])  # to the last bit
        np.testing.assert_allclose(stream.transform(frame), whole, atol=1e-12)


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas])
def test_libraries_agree(frame, library):
    whole = TablePreparation().fit(frame).transform(frame)
    np.testing.assert_array_equal(TablePreparation().fit(library(frame)).transform(library(frame)), whole)


def test_numbers_are_centred_scaled_and_filled(frame):
    preparation = TablePreparation().fit(frame)
    X = pd.DataFrame(preparation.transform(frame), columns=preparation.get_feature_names_out())
    present = frame["balance"].notna()
    assert abs(X["balance"][present].mean()) < 1e-9
    assert X["balance"][present].std(ddof=0) == pytest.approx(1.0)
    assert (X["balance"][~present] == 0).all()
    np.testing.assert_array_equal(X["balance is missing"], ~present)
    np.testing.assert_allclose(preparation.means_out_, X.mean(), atol=1e-9)


def test_skewed_quantities_are_seen_through_their_logarithm(frame):
    column = TablePreparation().fit(frame).columns_["amount"]
    assert column.is_logged
    assert not TablePreparation().fit(frame).columns_["balance"].is_logged


def test_skewness_is_that_of_scipy():
    x = np.random.default_rng(0).gamma(1.0, size=5000)
    column = NumberColumn("x")
    for start in range(0, len(x), 321):
        column.learn(x[start : start + 321])
    assert NumberColumn._skewness(column.plain) == pytest.approx(stats.skew(x), rel=1e-10)


def test_levels_missing_rare_and_new():
    train = {"k": ["a"] * 50 + ["b"] * 30 + ["c"] * 15 + ["d"] * 5 + [None] * 10}
    preparation = TablePreparation(max_categories=2).fit(train)
    assert preparation.get_feature_names_out().tolist() == ["k=a", "k=b", "k is another", "k is missing"]
    new = preparation.transform({"k": ["a", "d", "never seen", None, ""]})
    np.testing.assert_array_equal(new, [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    without = TablePreparation().fit({"k": ["a", "b", "a"]})
    np.testing.assert_array_equal(without.transform({"k": ["z"]}), [[0, 0]])


def test_times_are_places_on_a_circle():
    noon, midnight = dt.datetime(2026, 1, 5, 12), dt.datetime(2026, 1, 5, 0)
    preparation = TablePreparation().fit({"t": [noon, midnight]})
    X = preparation.transform({"t": [midnight, noon, None]})
    np.testing.assert_allclose(X[:2, :2], [[0, 1], [0, -1]], atol=1e-12)
    assert (X[2] == 0).all()
    dates = TablePreparation().fit({"d": [dt.date(2026, 1, 1), dt.date(2026, 7, 1)]})
    assert "d: day of year (sin)" in dates.get_feature_names_out()


def test_columns_that_cannot_help_are_named_with_the_reason():
    n = 100
    preparation = TablePreparation().fit(
        {
            "same": np.ones(n),
            "id": [f"customer {k}" for k in range(n)],
            "nothing": pa.nulls(n, pa.float64()),
            "list": [[1]] * n,
            "x": np.arange(n),
        }
    )
    assert preparation.get_feature_names_out().tolist() == ["x"]
    assert preparation.needed_ == ("x",)
    reasons = preparation.unused_
    assert reasons["same"] == "always 1"
    assert "identifier" in reasons["id"]
    assert reasons["nothing"] == "no values"
    assert "list" in reasons["list"]
    assert len(preparation.explain()) == 5


def test_codes_are_categories_when_said():
    preparation = TablePreparation(kinds={"zone": "category"}).fit({"zone": [1, 2, 1], "x": [0.0, 1.0, 2.0]})
    assert preparation.get_feature_names_out().tolist() == ["zone=1", "zone=2", "x"]
    # the same codes as floats, as a CSV with a gap would give them
    np.testing.assert_array_equal(preparation.transform({"zone": [2.0], "x": [1.0]})[0, :2], [0, 1])
    with pytest.raises(ParameterError, match="Did you mean 'zone'"):
        TablePreparation(kinds={"zon": "category"}).fit({"zone": [1, 2]})


def test_scoring_time_errors():
    preparation = TablePreparation().fit({"amount": [1.0, 2.0], "kind": ["a", "b"]})
    with pytest.raises(DataError, match=r"lack the column 'amount'.*Did you mean 'Amount'"):
        preparation.transform({"Amount": [1.0], "kind": ["a"]})
    with pytest.raises(DataError, match="'amount' is one of numbers and holds string that is none"):
        preparation.transform({"amount": ["many"], "kind": ["a"]})
    assert preparation.transform({"amount": ["1.5"], "kind": ["a"], "more": [0]}).shape == (1, 3)


def test_infinity_counts_as_missing():
    X = TablePreparation().fit({"x": [1.0, 2.0, np.inf]}).transform({"x": [np.inf, -np.inf, 1.5]})
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X[:, 1], [1, 1, 0])


def test_habits_of_a_transformer(frame):
    y = frame["flag"].to_numpy()
    model = make_pipeline(TablePreparation(), LogisticRegression()).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert clone(TablePreparation(max_categories=3)).max_categories == 3
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert TablePreparation().fit(X).get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    first = TablePreparation().fit(frame)
    assert first.fit(X).n_features_in_ == 3
    with pytest.raises(DataError, match="two dimensions"):
        TablePreparation().fit(np.zeros(3))
    with pytest.raises(DataError, match="got int"):
        TablePreparation().fit(3)
    with pytest.raises(ParameterError, match="max_categories"):
        TablePreparation(max_categories=0).fit(frame)
