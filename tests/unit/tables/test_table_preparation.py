"""Tables become numbers: the same from any blocks, nothing silent, nothing lost."""

import datetime as dt
from copy import copy
from itertools import pairwise

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from askew import TablePreparation
from askew.exceptions import DataError, ParameterError
from askew.sources import FrameSource
from askew.tables import NumberColumn
from askew.tables.text import hashed


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


def same(one, other, frame):
    assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert one.explain() == other.explain()
    np.testing.assert_allclose(one.transform(frame), other.transform(frame), rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.means_out_, other.means_out_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cuts", [(1,), (500, 501, 1999), (1000,), (10, 20, 30, 40)])
def test_parts_merge_to_the_whole_in_any_tree(frame, cuts):
    memo = [f"rent to {name} in {k % 97}" for k, name in enumerate(frame["kind"].astype(str))]
    frame = frame.assign(memo=memo, id=[f"c{k}" for k in range(len(frame))])
    whole = TablePreparation().fit(frame)
    assert whole.columns_["memo"].kind == "text"
    ends = [0, *cuts, len(frame)]
    parts = [TablePreparation().fit(frame[start:end]) for start, end in pairwise(ends)]
    left = parts[0]
    for part in parts[1:]:
        left = left.merge(part)
    same(left, whole, frame)
    right = parts[-1]
    for part in parts[-2::-1]:
        right = part.merge(right)
    same(right, whole, frame)
    first = TablePreparation().fit(frame[:10])
    names = first.get_feature_names_out().tolist()
    first.merge(whole)
    assert first.get_feature_names_out().tolist() == names  # a merge leaves its parts as they are


def test_a_part_without_values_has_no_type_of_its_own():
    empty = TablePreparation().fit({"x": pa.nulls(3), "k": pa.array([None] * 3, pa.float64()), "y": [1, 2, 3]})
    full = TablePreparation().fit({"x": [1.0, 2.0], "k": ["a", "b"], "y": [4, 5]})
    for both in (empty.merge(full), full.merge(empty)):
        assert both.get_feature_names_out().tolist() == ["x", "x is missing", "k=a", "k=b", "k is missing", "y"]
        assert both.means_out_[1] == pytest.approx(0.6)
    with pytest.raises(DataError, match=r"'y' is of another type in other rows.*kinds"):
        full.merge(TablePreparation().fit({"x": [1.0], "k": ["a"], "y": ["text"]}))
    with pytest.raises(DataError, match="lack the column 'k'"):
        full.merge(TablePreparation().fit({"x": [1.0], "y": [1]}))


def test_every_door_learns_the_same(frame, tmp_path):
    whole = TablePreparation(drop=["flag"]).fit(frame)
    assert not any(name.startswith("flag") for name in whole.get_feature_names_out())
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "all.parquet", row_group_size=300)
    for k in range(3):
        part = frame[700 * k : 700 * (k + 1)]
        pq.write_table(pa.Table.from_pandas(part), tmp_path / f"part-{k}.parquet")
    for rows in (
        tmp_path / "all.parquet",
        str(tmp_path / "part-*.parquet"),
        sorted(map(str, tmp_path.glob("part-*.parquet"))),
        dd.from_pandas(frame, npartitions=5),
        FrameSource(frame, block_rows=17),
    ):
        same(TablePreparation(drop=["flag"]).fit(rows), whole, frame)
    with pytest.raises(ParameterError, match=r"no column 'flog'.*Did you mean 'flag'"):
        TablePreparation(drop=["flog"]).fit(tmp_path / "all.parquet")
    with pytest.raises(ParameterError, match="no column 'x9'"):
        TablePreparation(drop=["x9"]).fit(np.zeros((3, 2)))


def test_a_fit_that_fails_leaves_the_earlier_one(frame):
    preparation = TablePreparation().fit(frame)
    expected = preparation.transform(frame)
    with pytest.raises(DataError):
        preparation.fit({"x": []})
    np.testing.assert_array_equal(preparation.transform(frame), expected)


def test_sparse_rows_pass_through():
    X = sparse.random(40, 5, 0.3, format="csr", random_state=0)
    preparation = TablePreparation().fit(X)
    assert (preparation.transform(X) != X).nnz == 0
    assert preparation.get_feature_names_out()[0] == "feature 0"
    np.testing.assert_allclose(preparation.means_out_, np.asarray(X.mean(axis=0)).ravel())
    same_sums = TablePreparation().fit(X[:7]).merge(TablePreparation().fit(X[7:])).means_out_
    np.testing.assert_allclose(same_sums, preparation.means_out_, atol=1e-15)
    with pytest.raises(DataError, match="table has no numbered features"):
        preparation.transform({"x": [1.0]})
    with pytest.raises(DataError, match="Sparse rows have no named columns"):
        TablePreparation().fit({"x": [1.0, 2.0]}).transform(X)
    with pytest.raises(DataError, match="has 4 sparse features"):
        preparation.transform(X[:, :4])


def test_free_text_is_hashed_and_identifiers_are_not():
    rng = np.random.default_rng(0)
    words = ["rent", "salary", "refund", "coffee", "fuel", "gift"]
    n = 3000
    memo = [f"{rng.choice(words)} {rng.choice(words)} {rng.integers(900)}" for _ in range(n)]
    spam = np.array(["refund" in each for each in memo])
    rows = {"memo": memo, "id": [f"c{k}" for k in range(n)], "kind": rng.choice(["a b c", "d"], n)}
    preparation = TablePreparation(text=32).fit(rows)
    names = preparation.get_feature_names_out().tolist()
    assert names[:2] == ["memo~0", "memo~1"]
    assert names[32:] == ["kind=a b c", "kind=d"] or names[32:] == ["kind=d", "kind=a b c"]
    assert "identifier" in preparation.unused_["id"]
    X = preparation.transform(rows)
    np.testing.assert_allclose(np.linalg.norm(X[:, :32], axis=1), 1.0)
    assert LogisticRegression(C=100.0).fit(X[:2000], spam[:2000]).score(X[2000:], spam[2000:]) > 0.95
    one_by_one = np.vstack(
        [preparation.transform({**rows, **{k: v[j : j + 1] for k, v in rows.items()}}) for j in range(5)]
    )
    np.testing.assert_array_equal(one_by_one, X[:5])
    without = TablePreparation(text=0).fit(rows)
    assert not any("~" in name for name in without.get_feature_names_out())
    asked = TablePreparation(kinds={"kind": "text", "memo": "category"}, text=8).fit(rows)
    assert "kind~7" in asked.get_feature_names_out()
    assert "identifier" in asked.unused_["memo"]


def test_hashed_text_is_that_of_each_text_alone():
    texts = ["Zürich Bahnhof", "zürich  bahnhof ", "a", "", None, "日本語テキスト", "zürich"]
    X = hashed(pa.array(texts), 64)
    np.testing.assert_array_equal(X[0], X[1])  # case and blanks do not count
    assert not X[4].any()
    for k, text in enumerate(texts):
        np.testing.assert_array_equal(hashed(pa.array([text], pa.string()), 64)[0], X[k])
    assert X[0] @ X[6] > X[0] @ X[5]
    norms = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(norms[[0, 2, 5]], 1.0)


def test_kinds_nulls_and_marks():
    rows = {
        "amount": ["1.234,50", "?", "-7,25", " 12 "],
        "zip": [1011, 8001, 8001, 1011],
        "day": ["2026-01-31", "2026-02-01", "", "2026-02-03"],
        "level": [-999.0, 1.0, 2.0, 3.0],
    }
    options = {"null": ["?", "-999"], "decimal": ",", "thousands": "."}
    kinds = {"amount": "number", "zip": "category", "day": "date"}
    preparation = TablePreparation(kinds=kinds, **options).fit(rows)
    columns = preparation.columns_
    assert columns["amount"].plain[:2].tolist() == pytest.approx([3, (1234.5 - 7.25 + 12) / 3])
    assert (columns["amount"].n_missing, columns["level"].n_missing, columns["level"].low) == (1, 1, 1.0)
    assert "zip=1011" in preparation.get_feature_names_out()
    assert "day: time of day (sin)" in preparation.get_feature_names_out()
    with pytest.raises(DataError, match=r"'amount' is one of numbers and holds string.*`null`"):
        TablePreparation(kinds=kinds).fit(rows)
    with pytest.raises(DataError, match=r"'day' is one of dates.*2026-01-31"):
        TablePreparation(kinds={"day": "date"}).fit({"day": ["31/01/2026"]})
    with pytest.raises(ParameterError, match=r"kinds\['zip'\] must be one of 'number', .*got 'code'"):
        TablePreparation(kinds={"zip": "code"}).fit(rows)


def test_codes_of_a_file_keep_their_zeros(tmp_path):
    (tmp_path / "rows.csv").write_text("zip,x\n01234,1\n08001,2\n01234,3\n")
    preparation = TablePreparation(kinds={"zip": "category"}).fit(tmp_path / "rows.csv")
    assert preparation.get_feature_names_out().tolist() == ["zip=01234", "zip=08001", "x"]


def test_the_state_of_an_earlier_askew_is_understood(frame):
    """As model files of format 1 hold it: columns side by side, and columns of text that knew no free text."""
    rows = {"zone": [1, 2, 1, 2], "x": [0.0, 1.0, 2.0, 5.0], "list": [[1]] * 4}
    known = TablePreparation(kinds={"zone": "category"}).fit(rows)
    columns = {name: copy(column) for name, column in known.columns_.items()}
    for name in ("role", "text_columns", "n_words"):
        delattr(columns["zone"], name)
    old = TablePreparation.__new__(TablePreparation)
    old.__setstate__(
        {
            "max_categories": 25,
            "categorical": ("zone",),
            "columns_": columns,
            "_unreadable": {"list": known.unused_["list"]},
            "feature_names_in_": known.feature_names_in_,
            "n_features_in_": 3,
        }
    )
    same(old, known, rows)
    assert old.unused_ == known.unused_
    assert clone(old).kinds == {"zone": "category"}
