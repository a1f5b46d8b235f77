"""Blocks of every kind become the same pieces of numbers, and objects are told by their type."""

import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from scipy import sparse

from askew.exceptions import DataError, ParameterError
from askew.sources import FrameSource, LabelledRows, Layout, MemorySource, is_beyond_memory, open_source
from askew.sources import rows as rows_module
from askew.sources.opening import is_dask, is_spark, library_of
from askew.sources.rows import check_finite
from askew.sources.source import side_by_side


def together(layout, block):
    """All pieces; a copy of each, since their memory is used again."""
    pieces = [LabelledRows(X.copy(), y, weight) for X, y, weight in layout.read(block)]
    X = np.vstack([piece.X for piece in pieces])
    return X, np.concatenate([piece.y for piece in pieces]), [piece.weight for piece in pieces]


def test_a_table_an_array_and_a_chunked_table_are_the_same_rows(monkeypatch):
    monkeypatch.setattr(rows_module, "PIECE", 512)  # 256 rows of two features: several pieces
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    table = pa.table({"b": X[:, 1], "y": y, "a": X[:, 0].astype(np.float32)})
    chunked = pa.concat_tables([table.slice(0, 333), table.slice(333)])
    for block in (table, chunked):
        found, labels, _ = together(Layout(("a", "b"), "y"), block)
        np.testing.assert_array_equal(found, np.column_stack([X[:, 0].astype(np.float32), X[:, 1]]))
        np.testing.assert_array_equal(labels, y)
    found, labels, weight = together(Layout(), LabelledRows(X, y, np.ones(1000)))
    np.testing.assert_array_equal(found, X)
    assert sum(map(len, weight)) == 1000
    assert X.flags.writeable
    assert len(list(Layout().read(LabelledRows(sparse.csr_array(X), y)))) == 1


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, 3]), [1.0, np.nan, 3.0]),
        (pa.array([True, False, True]), [1.0, 0.0, 1.0]),
        (pa.array([1.5, 2.5, None], pa.float32()), [1.5, 2.5, np.nan]),
        (pa.array([1, 2, 3], pa.decimal128(5, 2)), [1.0, 2.0, 3.0]),
        (pa.array([1, 2, 3], pa.uint8()), [1.0, 2.0, 3.0]),
    ],
)
def test_every_kind_of_number(column, expected):
    [piece] = Layout(("a",), "y").read(pa.table({"a": column, "y": [0, 1, 0]}))
    np.testing.assert_array_equal(piece.X[:, 0], expected)


def test_what_is_not_a_number_is_named():
    layout = Layout(("a",), "y", "w")
    whole = {"a": [1.0, 2.0], "y": [0, 1], "w": [1.0, 1.0]}
    cases = {
        "Column 'a' holds string": {**whole, "a": ["x", "y"]},
        "finite and ≥ 0": {**whole, "w": [1.0, -1.0]},
        r"there is no column 'a'\. There are": {"y": [0, 1], "w": [1, 1]},
    }
    for message, columns in cases.items():
        with pytest.raises(DataError, match=message):
            list(layout.read(pa.table(columns)))
    with pytest.raises(DataError, match="column 'a' is missing, NaN or infinite, for the first time in row 2 there"):
        layout.check(pa.table({**whole, "a": [1.0, None]}))
    check_finite(np.full((2, 1), 1e308), largest=1e308)  # the sum overflows, the numbers do not
    for column in (["x", "y"], pd.to_datetime(["2026-01-01", "2026-01-02"])):
        with pytest.raises(DataError, match=r"sample weights must be numbers; got (string|timestamp)"):
            list(layout.read(pa.table({**whole, "w": column})))
    with pytest.raises(DataError, match="there are 2 rows and 3 labels"):
        list(Layout().read(LabelledRows(np.zeros((2, 1)), np.zeros(3))))


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_what_is_too_large_to_be_squared_is_named(sparse_rows):
    X = np.ones((4, 2))
    X[2, 1] = -1e200
    X = sparse.csr_array(X) if sparse_rows else X
    with pytest.raises(DataError, match=r"column 'b' is -1e\+200 in row 13 there, .* within ±1e\+150"):
        check_finite(X, ("a", "b"), start=10)
    check_finite(np.full((2, 2), 1e38, np.float32))
    with pytest.raises(DataError, match=r"column 'a' is 1e\+200 in row 1 there"):
        Layout(("a",)).check(pa.table({"a": [1e200, 1.0]}))


def test_objects_are_told_by_their_type(tmp_path):
    assert library_of(pd.DataFrame()) == "pandas"
    for here in (np.zeros((2, 2)), pd.DataFrame({"a": [1]}), pa.table({"a": [1]}), [[1.0]], sparse.eye(2)):
        assert not any(test(here) for test in (is_dask, is_spark, is_beyond_memory))
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    for far in (tmp_path, "x.parquet", ds.dataset(tmp_path), MemorySource(np.zeros((2, 2)))):
        assert is_beyond_memory(far)
    assert open_source(ds.dataset(tmp_path)).columns == ("a",)
    assert isinstance(open_source(pd.DataFrame({"a": [1]})), FrameSource)
    assert isinstance(open_source(np.zeros((2, 2))), MemorySource)
    with pytest.raises(ParameterError, match="are columns of it"):
        open_source(tmp_path, y=np.zeros(2))
    with pytest.raises(DataError, match="must be made of files on this machine"):
        open_source(ds.dataset(pa.table({"a": [1]})))


def test_errors_of_a_reduction_say_where():
    def refuse(block):
        raise DataError("no")

    with pytest.raises(DataError, match="memory, rows 1 to 3: no"):
        MemorySource(np.zeros((5, 1)), block_rows=3).map_reduce(refuse, max)


def test_side_by_side_keeps_order_and_stops_at_an_error():
    started = []
    both = threading.Barrier(2, timeout=30)  # passes only if two run at once

    def work(k):
        started.append(k)
        if k < 2:
            both.wait()
        if k == 3:
            raise DataError("three")
        return k

    results = side_by_side(work, range(1000), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match="three"):
        next(results)
    assert len(started) < 20
