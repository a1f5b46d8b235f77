"""Every way rows arrive gives the same rows, and what is wrong is named."""

import gc
import gzip
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from threadpoolctl import threadpool_limits

from askew.exceptions import DataError, ParameterError
from askew.moments import Moments
from askew.sources import FileSource, FrameSource, MemorySource, SvmlightSource, TableWriter, open_source
from askew.sources.names import nearest


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pa.table({"a": rng.normal(size=250), "b": np.arange(250), "c": rng.choice(["x", "y"], 250)})


def whole(source, columns=None):
    return pa.concat_tables(source.blocks(columns))


def write(table, path):
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(table, path, row_group_size=100)
    elif name.endswith(".feather"):
        feather.write_feather(table, path)
    elif name.endswith(".csv.gz"):
        with gzip.open(path, "wt") as file:
            table.to_pandas().to_csv(file, index=False)
    elif ".csv" in name or ".tsv" in name:
        table.to_pandas().to_csv(path, index=False, sep="\t" if "tsv" in name else ";")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv", "t.tsv", "t.csv.gz", "t.jsonl"])
def test_every_format_gives_the_rows_in_order(table, tmp_path, name):
    write(table, tmp_path / name)
    source = open_source(str(tmp_path / name))
    read = whole(source)
    assert source.columns == ("a", "b", "c")
    np.testing.assert_allclose(read["a"].to_numpy(), table["a"].to_numpy(), rtol=1e-12)
    assert read["b"].to_pylist() == table["b"].to_pylist()
    assert read["c"].to_pylist() == table["c"].to_pylist()
    assert whole(source, ["c"]).column_names == ["c"]


def test_number_of_rows_is_known_where_a_footer_tells(table, tmp_path):
    for name, expected in (("t.parquet", 250), ("t.feather", 250), ("t.csv", None)):
        write(table, tmp_path / name)
        assert open_source(str(tmp_path / name)).n_rows == expected


def test_folder_and_pattern_are_all_their_files(table, tmp_path):
    write(table.slice(0, 100), tmp_path / "part-0.parquet")
    write(table.slice(100), tmp_path / "part-1.parquet")
    (tmp_path / "_SUCCESS").touch()
    for location in (str(tmp_path), str(tmp_path / "*.parquet")):
        assert whole(open_source(location))["b"].to_pylist() == list(range(250))


def test_a_list_is_all_its_files_in_order(table, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for k, start in enumerate((0, 100, 200)):
        (tmp_path / f"d{k}").mkdir()
        write(table.slice(start, 100), tmp_path / f"d{k}" / "t.parquet")
    source = open_source([tmp_path / "d2", "~/d0/*.parquet", tmp_path / "d1" / "t.parquet"])
    assert whole(source)["b"].to_pylist() == [*range(200, 250), *range(200)]
    assert whole(open_source("~/d1"))["b"].to_pylist() == list(range(100, 200))
    with pytest.raises(DataError, match="does not exist"):
        open_source([tmp_path / "d0", tmp_path / "nothing.parquet"])


def test_blocks_are_cut_at_block_rows(table, tmp_path):
    write(table, tmp_path / "t.parquet")
    source = FileSource([tmp_path / "t.parquet"], "parquet", block_rows=64)
    assert max(block.num_rows for block in source.blocks()) <= 64
    assert [b.num_rows for b in FrameSource(table, block_rows=100).blocks()] == [100, 100, 50]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_of_every_library(kind):
    columns = {"a": [1.0, 2.0, 3.0], "c": ["x", "y", "x"]}
    assert whole(FrameSource(kind(columns), block_rows=2)).to_pydict() == columns


def test_an_index_of_pandas_is_no_column():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 3, 5])
    assert FrameSource(frame).columns == ("a",)


def test_column_names_that_are_numbers():
    frame = pd.DataFrame(np.eye(6), index=range(6, 0, -1))[[5, 2]]
    assert FrameSource(frame).columns == ("5", "2")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column called 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than one column called 'a'"),
        (pd.DataFrame({"a": [1, 2], "c": ["x", 1]}), r"Column 'c' holds values that no type.*\(int, str\)"),
        ({"a": [1, 2], "c": ["x", 1]}, r"Column 'c' holds values that no type.*\(int, str\)"),
        ({"a": [1, 2], "c": ["x"]}, "Give columns of one length"),
        (pl.DataFrame({"a": [1]}).lazy(), r"got LazyFrame\. Collect it first: frame\.collect\(\)"),
        (b"rows", "got bytes"),
    ],
)
def test_what_is_wrong_with_a_frame_is_said(frame, message):
    with pytest.raises(DataError, match=message):
        open_source(frame)


def test_moments_do_not_depend_on_blocks():
    X = np.random.default_rng(0).normal(1e6, size=(1000, 3))
    parts = MemorySource(X, block_rows=77).map_reduce(Moments.of, Moments.merge)
    np.testing.assert_allclose(parts.covariance, Moments.of(X).covariance, rtol=1e-10)
    doubled = MemorySource(X, block_rows=77).map(lambda block: 2 * block).map_reduce(Moments.of, Moments.merge)
    np.testing.assert_allclose(doubled.covariance, 4 * parts.covariance, rtol=1e-10)


def test_whole_numbers_that_get_a_point_further_down(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 3_000_000 + "1.5\n")
    assert sum(float(block["a"].to_numpy().sum()) for block in open_source(str(path)).blocks()) == 3_000_001.5


def test_text_columns_stay_text(tmp_path):
    (tmp_path / "t.csv").write_text("zip,v\n01234,1\n99999,2\n")
    assert whole(open_source(str(tmp_path / "t.csv"), text=["zip"]))["zip"].to_pylist() == ["01234", "99999"]


def test_svmlight_rows_and_width(tmp_path):
    X = sparse.random(30, 8, density=0.3, format="csr", random_state=0)
    y = np.tile([1.0, -1.0], 15)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=True)
    block = next(SvmlightSource(tmp_path / "t.svm", n_features=8).blocks())
    np.testing.assert_allclose(block.X.toarray(), X.toarray())
    np.testing.assert_array_equal(block.y, y)
    assert next(SvmlightSource(tmp_path / "t.svm", n_features=5).blocks()).X.shape == (30, 5)
    (tmp_path / "bad.svm").write_text("1 2:x\n")
    with pytest.raises(DataError, match=r"bad\.svm, lines 1 to 1"):
        SvmlightSource(tmp_path / "bad.svm")


def test_standard_input_is_told_by_its_first_bytes(table, monkeypatch):
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    for data in (buffer.getvalue(), b"a,b\n1,2\n", b'{"a": 1}\n'):
        stream = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr("sys.stdin", stream)
        assert "a" in open_source("-").columns
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="Standard input is empty"):
        open_source("-")


def test_errors_name_the_file(table, tmp_path):
    write(table, tmp_path / "good.parquet")
    with pytest.raises(DataError, match=r"Did you mean 'good\.parquet'"):
        open_source(str(tmp_path / "god.parquet"))
    (tmp_path / "t.xls").touch()
    with pytest.raises(DataError, match="no known format"):
        open_source(str(tmp_path / "t.xls"))
    (tmp_path / "empty.csv").touch()
    with pytest.raises(DataError, match=r"empty\.csv is empty"):
        open_source(str(tmp_path / "empty.csv"))
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    with pytest.raises(DataError, match="multiple columns named a"):
        open_source(str(tmp_path / "twice.csv"))
    with pytest.raises(DataError, match="different formats"):
        open_source(str(tmp_path))
    with pytest.raises(DataError, match="No file matches"):
        open_source(str(tmp_path / "*.feather"))


def test_a_file_with_other_columns_is_named(table, tmp_path):
    write(table, tmp_path / "p0.parquet")
    write(table.drop_columns(["c"]), tmp_path / "p1.parquet")
    with pytest.raises(DataError, match=r"p1\.parquet has no column 'c'"):
        whole(open_source(str(tmp_path)))


def test_a_damaged_row_group_is_named(table, tmp_path):
    path = tmp_path / "damaged.parquet"
    pq.write_table(table, path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(bytes(data))
    source = open_source(str(path))
    with pytest.raises(DataError, match=r"damaged\.parquet could not be read"):
        whole(source)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("height", [7, 100, 250])
def test_a_reduction_meets_all_rows_in_order(table, tmp_path, threads, height):
    """Row groups are read side by side where there are threads; one that is too large is cut into even blocks."""
    for k in range(3):
        pq.write_table(table.slice(80 * k, 90), tmp_path / f"t-{k}.parquet", row_group_size=height)
    source = FileSource(sorted(tmp_path.iterdir()), "parquet", block_rows=20)
    with threadpool_limits(threads):
        parts = source.map_reduce(lambda block: [block], lambda first, then: first + then, ["b", "a"])
    assert [part.column_names for part in parts] == [["b", "a"]] * len(parts)
    assert max(part.num_rows for part in parts) <= 20
    expected = [*range(90), *range(80, 170), *range(160, 250)]
    assert [row for part in parts for row in part["b"].to_pylist()] == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_a_fault_in_a_reduction_is_named(table, tmp_path, threads):
    pq.write_table(table, tmp_path / "good.parquet", row_group_size=50)
    pq.write_table(table, tmp_path / "worse.parquet", row_group_size=50, compression="none")
    source = FileSource(sorted(tmp_path.iterdir()), "parquet")

    def refuse(block):
        if block["b"][0].as_py() == 150:
            raise DataError("no.")
        return 0

    with threadpool_limits(threads):
        with pytest.raises(DataError, match=r"good\.parquet, rows 151 to 200: no\."):
            source.map_reduce(refuse, max)
        data = bytearray((tmp_path / "worse.parquet").read_bytes())
        data[4:200] = b"\xff" * 196
        (tmp_path / "worse.parquet").write_bytes(bytes(data))
        with pytest.raises(DataError, match=r"worse\.parquet could not be read"):
            source.map_reduce(lambda block: 0, max)


def test_a_file_that_disappears_is_named(table, tmp_path):
    write(table, tmp_path / "gone.parquet")
    source = open_source(str(tmp_path / "gone.parquet"))
    (tmp_path / "gone.parquet").unlink()
    with pytest.raises(DataError, match=r"gone\.parquet"):
        whole(source)


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv", ".jsonl"])
def test_what_is_written_is_read_again(table, tmp_path, ending):
    path = str(tmp_path / f"out{ending}")
    with TableWriter(path, table.schema) as writer:
        writer.write(table.slice(0, 100))
        writer.write(table.slice(100))
    np.testing.assert_allclose(whole(open_source(path))["a"].to_numpy(), table["a"].to_numpy(), rtol=1e-12)


def test_an_interrupted_write_leaves_nothing(table, tmp_path):
    (tmp_path / "out.parquet").write_text("old")

    def interrupted():
        with TableWriter(str(tmp_path / "out.parquet"), table.schema) as writer:
            writer.write(table)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]
    assert (tmp_path / "out.parquet").read_text() == "old"


@pytest.mark.parametrize("moment", ["opening", "closing"])
def test_an_interrupt_while_the_writer_opens_or_closes_leaves_nothing(table, tmp_path, monkeypatch, moment):
    class Interrupted(pq.ParquetWriter):
        def __init__(self, *args, **kwargs):
            if moment == "opening":
                raise KeyboardInterrupt
            super().__init__(*args, **kwargs)

        def close(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(pq, "ParquetWriter", Interrupted)

    def work():
        with TableWriter(str(tmp_path / "out.parquet"), table.schema) as writer:
            writer.write(table)

    with pytest.raises(KeyboardInterrupt):
        work()
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_an_unknown_format_is_refused(table):
    with pytest.raises(ParameterError, match="Cannot tell the format"):
        TableWriter("x.xls", table.schema)


def test_nearest_names():
    assert nearest("Amount", ["amount", "time"]) == "Did you mean 'amount'?"
    assert nearest(3, ["x3", "y"]) == "Did you mean 'x3'?"
    assert nearest("a", ["b", 3]) == "There are: 'b', 3."
    assert nearest("q", [f"c{k}" for k in range(20)]).endswith("(20 in all).")
