"""Columns of several files: which are none, which are one too many, and the type that holds them all."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from askew import MomentSVC
from askew.exceptions import DataError
from askew.sources import as_table, open_source
from askew.sources.schemas import common_type, conformed, without_index


def whole(location, columns=None, **options):
    return pa.concat_tables(open_source(location, **options).blocks(columns))


def folder_of(place, *columns):
    """Parquet files with one column ``a`` each."""
    for k, values in enumerate(columns):
        pq.write_table(pa.table({"a": values}), place / f"p{k}.parquet")
    return place


def test_a_stored_index_of_pandas_is_no_column(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 2.0]})
    frame[frame.a > 1].to_parquet(tmp_path / "filtered.parquet")
    frame.set_index("b").to_parquet(tmp_path / "named.parquet")
    feather.write_feather(pa.Table.from_pandas(frame[frame.a > 1]), tmp_path / "filtered.feather")
    for name, columns in (("filtered.parquet", ["a", "b"]), ("named.parquet", ["a"]), ("filtered.feather", ["a", "b"])):
        assert whole(tmp_path / name).column_names == columns
    assert as_table(pq.read_table(tmp_path / "named.parquet")).column_names == ["a"]
    assert as_table(pa.RecordBatch.from_pandas(frame[frame.a > 1])).column_names == ["a", "b"]
    dask = pa.schema([("a", pa.float64()), ("__null_dask_index__", pa.int64())])
    assert without_index(dask).names == ["a"]


def test_files_with_and_without_a_stored_index_are_one_table(tmp_path):
    frame = pd.DataFrame({"a": np.arange(6.0)})
    frame[frame.a > 2].to_parquet(tmp_path / "p0.parquet")
    frame.to_parquet(tmp_path / "p1.parquet")
    assert whole(tmp_path)["a"].to_pylist() == [3, 4, 5, 0, 1, 2, 3, 4, 5]


def test_an_index_that_tells_the_label_is_not_learnt(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "fraud": np.repeat([0, 1], 200)})
    frame[frame.x > -5].rename(index=lambda row: row + 1).to_parquet(tmp_path / "t.parquet")
    model = MomentSVC().fit(tmp_path / "t.parquet", target="fraud")
    assert list(model.feature_names_in_) == ["x"]
    np.testing.assert_array_equal(model.predict(tmp_path / "t.parquet"), model.predict(frame[["x"]]))


NUMBERS = {
    "small": pa.array([1, 2], pa.int8()),
    "whole": pa.array([2**40, 3], pa.int64()),
    "single": pa.array([0.5, 1.5], pa.float32()),
    "double": pa.array([0.1, 2.7]),
    "truth": pa.array([True, False]),
    "exact": pa.array([1, 2]).cast(pa.decimal128(21, 1)),
    "empty": pa.nulls(2),
}


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(NUMBERS, 2)))
def test_numbers_of_two_types_are_read_as_they_are_in_either_order(tmp_path, first, second):
    read = whole(folder_of(tmp_path, NUMBERS[first], NUMBERS[second]))["a"]
    expected = [*NUMBERS[first].to_pylist(), *NUMBERS[second].to_pylist()]
    assert [None if each is None else float(each) for each in read.to_pylist()] == [
        None if each is None else float(each) for each in expected
    ]


def test_whole_numbers_stay_whole(tmp_path):
    assert whole(folder_of(tmp_path, NUMBERS["small"], NUMBERS["whole"]))["a"].type == pa.int64()


@pytest.mark.parametrize("order", [1, -1])
def test_text_in_any_form_is_one_kind_of_category(tmp_path, order):
    forms = [pa.array(["x", "y"]), pa.array(["z"], pa.large_string()), pa.array(["x", None]).dictionary_encode()]
    source = open_source(folder_of(tmp_path, *forms[::order]))
    assert source.categories == ("a",)
    assert sorted(pa.concat_tables(source.blocks())["a"].to_pylist(), key=str) == [None, "x", "x", "y", "z"]


def test_dictionaries_of_numbers_stay_categories():
    kinds = pa.dictionary(pa.int8(), pa.int64()), pa.dictionary(pa.int16(), pa.int32())
    both = common_type(*kinds)
    assert both == pa.dictionary(pa.int32(), pa.int64())
    table = pa.table({"a": pa.array([5, 7, 5], pa.int32()).dictionary_encode().cast(kinds[1])})
    assert conformed(table, pa.schema([("a", both)]), "t")["a"].to_pylist() == [5, 7, 5]
    assert common_type(kinds[0], pa.int64()) is None


@pytest.mark.parametrize(
    "other",
    [pa.array(["1"]), pa.array([0], pa.timestamp("us")), pa.array(["x"]).dictionary_encode()],
    ids=["text", "time", "category"],
)
@pytest.mark.parametrize("order", [1, -1])
def test_other_types_name_file_column_and_both_types(tmp_path, other, order):
    columns = [pa.array([1]), other][::order]
    with pytest.raises(DataError, match=r"p1\.parquet: column 'a' holds .* here, and .* in .*p0\.parquet") as caught:
        open_source(folder_of(tmp_path, *columns))
    assert all(str(column.type) in str(caught.value) for column in columns)


def test_whole_numbers_that_no_float_holds_are_refused_by_name(tmp_path):
    folder_of(tmp_path, pa.array([2**53 + 1]), pa.array([0.5]))
    with pytest.raises(DataError, match=r"p0\.parquet could not be read: column 'a' holds int64, and double"):
        whole(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv", "jsonl"])
@pytest.mark.parametrize(
    ("order", "message"), [(1, "p1.* has a column 'b', which .*p0"), (-1, "p1.* has no column 'b'")]
)
def test_a_column_too_many_is_an_error_in_either_order(tmp_path, ending, order, message):
    for k, names in enumerate([["a"], ["a", "b"]][::order]):
        frame, path = pd.DataFrame({name: [1.0, 2.0] for name in names}), tmp_path / f"p{k}.{ending}"
        if ending == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        else:
            getattr(frame, f"to_{ending}")(path, **({"index": False} if ending == "csv" else {}))
    with pytest.raises(DataError, match=message):
        whole(tmp_path)


def test_a_column_twice_names_the_file(tmp_path):
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet has more than one column called 'a'"):
        open_source(tmp_path / "t.parquet")
