"""What a pyarrow dataset says about itself is honoured, and folders called key=value are columns, as for pandas."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from askew import MomentSVC
from askew.exceptions import DataError
from askew.sources import FileSource, open_source
from askew.sources.dataset import DatasetSource


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    return pd.DataFrame(
        {"a": rng.normal(size=300) + y, "b": rng.normal(size=300), "land": rng.choice(["de", "fr"], 300), "fraud": y}
    )


@pytest.fixture
def folder(frame, tmp_path):
    place = tmp_path / "rows"
    place.mkdir()
    for k in range(3):
        frame.iloc[k::3].to_parquet(place / f"p{k}.parquet", index=False)
    return place


@pytest.fixture
def hive(frame, tmp_path):
    frame.to_parquet(tmp_path / "hive", partition_cols=["land"])
    return tmp_path / "hive"


def whole(location, columns=None):
    return pa.concat_tables(open_source(location).blocks(columns))


def coefficients(data):
    return MomentSVC().fit(data, target="fraud").coef_


def test_a_dataset_without_settings_is_read_as_its_files(folder):
    assert isinstance(open_source(ds.dataset(folder)), FileSource)


def test_the_filter_of_a_dataset_is_honoured_in_fit_and_score(folder):
    some = ds.dataset(folder).filter(ds.field("b") > 0)
    rows = some.to_table()
    assert whole(some).equals(rows)
    assert whole(some, ["a"]).column_names == ["a"]  # though the filter needs another
    np.testing.assert_allclose(coefficients(some), coefficients(rows), rtol=1e-10)
    model = MomentSVC().fit(folder, target="fraud")
    np.testing.assert_allclose(model.decision_function(some), model.decision_function(rows.to_pandas()), rtol=1e-10)


def test_the_schema_of_a_dataset_is_honoured(folder):
    narrow = ds.dataset(folder, schema=pa.schema([("b", pa.float32()), ("fraud", pa.int64())]))
    assert whole(narrow).schema.equals(narrow.schema)


def test_the_options_of_a_dataset_are_honoured(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2\n2,5;3\n")
    layout = ds.CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=";"), convert_options=csv.ConvertOptions(decimal_point=",")
    )
    assert whole(ds.dataset(tmp_path / "t.csv", format=layout)).to_pydict() == {"a": [1.5, 2.5], "b": [2, 3]}


def test_partition_columns_of_a_dataset_are_read(hive, frame):
    parts = ds.dataset(hive, partitioning="hive")
    assert whole(parts)["land"].to_pylist() == sorted(frame.land)
    np.testing.assert_allclose(coefficients(parts), coefficients(parts.to_table()), rtol=1e-10)


@pytest.mark.parametrize("table", [{"a": [1]}, {"a": [1.5], "b": [2.0], "c": [1.0]}, {"a": ["x"], "b": [1.0]}])
def test_files_that_a_dataset_would_fill_or_cast_are_refused(tmp_path, table):
    pq.write_table(pa.table({"a": [1.5], "b": [2.0]}), tmp_path / "p0.parquet")
    pq.write_table(pa.table(table), tmp_path / "p1.parquet")
    with pytest.raises(DataError, match=r"p1\.parquet.* column '[abc]'"):
        DatasetSource(ds.dataset(tmp_path).filter(ds.field("a") > 0))


def test_a_fault_in_a_scanned_file_is_named(tmp_path):
    rows, path = pa.table({"a": np.arange(2000.0)}), tmp_path / "t.parquet"
    pq.write_table(rows, path, write_page_checksum=True, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[5000] ^= 0x40
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"t\.parquet could not be read: .*CRC checksum"):
        whole(ds.dataset(path).filter(ds.field("a") > -1))


def test_folders_called_key_and_value_are_a_column_as_for_pandas(hive, frame):
    known = pd.read_parquet(hive)
    model = MomentSVC().fit(hive, target="fraud")
    assert list(model.feature_names_in_) == ["a", "b", "land"]
    np.testing.assert_allclose(model.coef_, coefficients(known), rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(hive), model.decision_function(known), rtol=1e-12)
    assert whole(hive, ["land"]).to_pydict() == {"land": sorted(frame.land)}
    assert whole(hive, ["land", "a"]).column_names == ["land", "a"]


def test_a_pattern_and_a_list_keep_the_column_and_a_file_alone_has_none(hive):
    files = sorted(map(str, hive.rglob("*.parquet")))
    for location in (files, f"{hive}/*/*.parquet", f"{hive}/land=f*/*.parquet"):
        assert "land" in open_source(location).columns
    assert "land" not in open_source(files[0]).columns


def test_keys_of_whole_numbers_missing_keys_and_labels_in_folders(tmp_path, frame):
    frame.assign(land=np.where(frame.b > 0, 3, 20)).to_parquet(tmp_path / "n", partition_cols=["land", "fraud"])
    assert set(whole(tmp_path / "n")["land"].to_pylist()) == {3, 20}
    both = frame.assign(land=np.where(frame.b > 0, 3, 20)).astype({"land": "category"})
    np.testing.assert_allclose(coefficients(tmp_path / "n"), coefficients(both), rtol=1e-9)
    frame.assign(land=frame.land.where(frame.b > 0)).to_parquet(tmp_path / "m", partition_cols=["land"])
    assert whole(tmp_path / "m")["land"].null_count == (frame.b <= 0).sum()


def test_a_file_outside_the_folders_of_its_kind_is_named(hive, frame):
    frame.drop(columns="land").to_parquet(hive / "stray.parquet", index=False)
    with pytest.raises(DataError, match=r"stray\.parquet lies in no folder called land=…"):
        open_source(hive)


def test_a_column_that_stands_in_the_files_is_read_from_there(tmp_path):
    (tmp_path / "a=9").mkdir()
    pq.write_table(pa.table({"a": [1.5]}), tmp_path / "a=9" / "t.parquet")
    assert whole(tmp_path).to_pydict() == {"a": [1.5]}
