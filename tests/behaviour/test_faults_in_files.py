"""Files beyond memory: the model of memory, and every fault named by its file, with nothing left behind."""

import builtins
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from behaviour.rare_rows import FEATURES, relative_difference, table
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from askew import SVC, MomentSVC
from askew.exceptions import DataError, MissingDependencyError, ParameterError
from askew.sources import FileSource, open_source


@pytest.fixture(scope="module")
def frame():
    return table()


@pytest.fixture(scope="module")
def reference(frame):
    return MomentSVC().fit(frame[FEATURES], frame["fraud"])


@pytest.fixture
def folder(frame, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    for k in range(3):
        rows = pa.Table.from_pandas(frame.iloc[k::3], preserve_index=False)
        pq.write_table(rows, folder / f"part-{k}.parquet", row_group_size=400, compression="none")
    return folder


def test_a_folder_a_pattern_a_dataset_and_a_source_are_the_model_of_memory(folder, reference):
    for data in (folder, str(folder), f"{folder}/*.parquet", ds.dataset(folder), open_source(folder)):
        model = MomentSVC().fit(data, target="fraud")
        assert relative_difference(model, reference) < 1e-10
    assert list(model.feature_names_in_) == FEATURES


@pytest.mark.parametrize("block_rows", [7, 100, 10_000])
def test_blocks_of_any_size(folder, reference, block_rows):
    source = FileSource(sorted(folder.iterdir()), "parquet", block_rows=block_rows)
    assert relative_difference(MomentSVC().fit(source, target="fraud"), reference) < 1e-10


def test_other_formats_and_frames(frame, tmp_path, reference):
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    feather.write_feather(rows, tmp_path / "t.feather")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (tmp_path / "t.feather", tmp_path / "t.csv", frame, rows):
        assert relative_difference(MomentSVC().fit(data, target="fraud"), reference) < 1e-10


def test_float32_files_are_fitted_in_float64(frame, tmp_path):
    small = frame.astype(dict.fromkeys(FEATURES, np.float32))
    small.to_parquet(tmp_path / "t.parquet")
    near = MomentSVC().fit(small[FEATURES].astype(np.float64), small["fraud"])
    assert relative_difference(MomentSVC().fit(tmp_path / "t.parquet", target="fraud"), near) < 1e-10


@pytest.mark.parametrize(
    ("n_positive", "options"),
    [(3000, {}), (3000, {"formulation": "nu"}), (3000, {"formulation": "nu", "kernel": "rbf"}),
     (20_000, {}), (20_000, {"formulation": "nu"}), (20_000, {"formulation": "two_slack"})],
)  # fmt: skip
def test_many_positives_in_any_order_and_blocks_at_the_default_tolerance(tmp_path, n_positive, options):
    frame = table(30_000, n_positive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where the sweeps end is as exact before their limit
        near = MomentSVC(**options).fit(frame[FEATURES], frame["fraud"])
        scores = near.decision_function(frame[FEATURES])
        for seed, block_rows in ((1, 777), (2, 50_000)):
            frame.sample(frac=1.0, random_state=seed).to_parquet(tmp_path / f"{seed}.parquet", index=False)
            source = FileSource([tmp_path / f"{seed}.parquet"], "parquet", block_rows=block_rows)
            far = MomentSVC(**options).fit(source, target="fraud").decision_function(frame[FEATURES])
            assert np.abs(far - scores).max() < 1e-10 * np.abs(scores).max()


def test_scores_of_files(folder, reference, frame):
    here = np.concatenate([frame.iloc[k::3][FEATURES].to_numpy() for k in range(3)])
    unnamed = MomentSVC().fit(frame[FEATURES].to_numpy(), frame["fraud"])
    scores = reference.decision_function(folder)
    np.testing.assert_allclose(scores, unnamed.decision_function(here), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(reference.predict(ds.dataset(folder)), unnamed.predict(here))
    other = SVC().fit(frame[FEATURES].iloc[:500], frame["fraud"].iloc[:500])
    assert other.predict(str(folder)).shape == (len(frame),)


def damage(path, rows, fault):
    if fault == "corrupt":
        data = bytearray(path.read_bytes())
        data[4:400] = b"\xff" * 396
        path.write_bytes(bytes(data))
    elif fault == "gone":
        path.unlink()
    elif fault == "nan":
        values = rows["x3"].to_numpy().copy()
        values[1000] = np.nan
        pq.write_table(rows.set_column(3, "x3", pa.array(values)), path)
    elif fault == "type":
        pq.write_table(rows.set_column(3, "x3", pa.array(["high"] * rows.num_rows)), path)
    else:
        pq.write_table(rows.drop_columns(["x3"]), path)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("corrupt", r"part-1\.parquet could not be read"),
        ("gone", r"part-1\.parquet disappeared while it was read"),
        ("nan", r"part-1\.parquet, rows 1 to 1,467: column 'x3' is missing, NaN or infinite.* in row 1001 there"),
        ("type", r"part-1\.parquet could not be read: column 'x3' holds string and not double"),
        ("columns", r"part-1\.parquet has no column 'x3', which other files"),
    ],
)
def test_faults_name_the_file_and_leave_nothing(folder, fault, message):
    source = open_source(folder)
    victim = folder / "part-1.parquet"
    damage(victim, pq.read_table(victim), fault)
    model = MomentSVC()
    with pytest.raises(DataError, match=message):
        model.fit(source, target="fraud")
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_page_that_does_not_match_its_checksum_is_refused(tmp_path, frame, threads):
    path = tmp_path / "t.parquet"
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(rows, path, write_page_checksum=True, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[5000] ^= 0x01  # a number becomes another number
    path.write_bytes(bytes(data))
    with threadpool_limits(threads), pytest.raises(DataError, match=r"t\.parquet could not be read.*checksum"):
        MomentSVC().fit(path, target="fraud")


def test_the_command_line_writes_no_model_from_a_broken_file(folder, tmp_path):
    damage(folder / "part-1.parquet", None, "corrupt")
    done = subprocess.run(
        [sys.executable, "-m", "askew.cli", "fit", str(folder), "--target", "fraud", "-o", str(tmp_path / "m.skops")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "part-1.parquet" in (done.stderr + done.stdout).replace("\n", "")
    assert [each.name for each in tmp_path.iterdir()] == ["rows"]


def test_an_empty_file_is_nothing(folder, reference):
    empty = pq.read_table(folder / "part-0.parquet").slice(0, 0)
    pq.write_table(empty, folder / "part-9.parquet")
    assert relative_difference(MomentSVC().fit(folder, target="fraud"), reference) < 1e-10
    for k in range(3):
        (folder / f"part-{k}.parquet").unlink()
    with pytest.raises(DataError, match="holds no rows"):
        MomentSVC().fit(folder, target="fraud")


def test_what_is_missing_in_the_call_is_said(folder, frame):
    with pytest.raises(ParameterError, match="name their column, as in target='fraud'"):
        MomentSVC().fit(folder)
    with pytest.raises(ParameterError, match="are columns of it"):
        MomentSVC().fit(folder, frame["fraud"])
    with pytest.raises(ParameterError, match="Give y or target, not both"):
        MomentSVC().fit(frame[FEATURES], frame["fraud"], target="fraud")
    with pytest.raises(DataError, match="does not exist"):
        MomentSVC().fit(str(folder) + "/nothing.parquet", target="fraud")


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("dask", "from askew.sources.dask import dask; dask()"),
        ("pyspark", "from askew.sources.spark import spark; spark()"),
    ],
)
def test_without_the_package_the_line_that_installs_it(package, call, monkeypatch):
    plain = builtins.__import__

    def absent(name, *args, **options):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return plain(name, *args, **options)

    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", absent)
    if package == "pyspark":
        monkeypatch.setitem(sys.modules, "pyspark", None)
    extra = {"dask": "dask", "pyspark": "spark"}[package]
    with pytest.raises(MissingDependencyError, match=rf"pip install 'askew\[{extra}\]'"):
        exec(call, {})


def test_neither_engine_is_imported_to_tell_whose_an_object_is():
    program = (
        "import sys, numpy as np, pandas as pd\nfrom askew import MomentSVC\nfrom askew.sources import open_source\n"
        "X = np.random.default_rng(0).normal(size=(50, 2)); y = np.arange(50) % 2\n"
        "model = MomentSVC().fit(X, y); model.predict(X); open_source(pd.DataFrame(X)); open_source(X)\n"
        "print(*{name.partition('.')[0] for name in sys.modules} & {'dask', 'pyspark', 'distributed'})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
