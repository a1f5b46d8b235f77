"""A file that is written whole or not at all, under a name that keeps what it was."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from askew import MomentSVC
from askew.datasets import write_transactions
from askew.exceptions import DataError
from askew.moments import Moments
from askew.sources import TableWriter, WholeFile

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def by_hand(path):
    with WholeFile(path) as file:
        file.beside.write_bytes(b"new")


def by_table(path):
    with TableWriter(str(path), pa.schema([("a", pa.int64())])) as writer:
        writer.write(pa.table({"a": [1, 2]}))


def by_moments(path):
    Moments.of(np.eye(3)).save(path)


def by_stream(path):
    rows = np.random.default_rng(0).normal(size=(40, 2))
    MomentSVC().partial_fit(rows, np.arange(40) % 2, classes=[0, 1]).save_stream(path)


def by_transactions(path):
    write_transactions(path, 50, random_state=0)


def by_model_file(path):
    pytest.importorskip("skops")
    from askew import SVC, save

    save(SVC(), path)


WAYS = [by_hand, by_table, by_moments, by_stream, by_transactions, by_model_file]
every_way = pytest.mark.parametrize("write", WAYS, ids=lambda write: write.__name__)


@every_way
def test_a_new_file_has_the_mode_of_the_umask(write, tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "out.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@every_way
@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_an_old_file_keeps_its_mode(write, mode, tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() != b"old"


@every_way
def test_a_link_stays_and_the_file_it_names_is_replaced(write, tmp_path):
    (tmp_path / "versions").mkdir()
    (tmp_path / "versions" / "v1.csv").write_text("old")
    link = tmp_path / "latest.csv"
    link.symlink_to("versions/v1.csv")
    (tmp_path / "again.csv").symlink_to("latest.csv")
    write(tmp_path / "again.csv")
    assert os.readlink(link) == "versions/v1.csv"
    assert (tmp_path / "again.csv").is_symlink()
    assert (tmp_path / "versions" / "v1.csv").read_bytes() != b"old"
    assert [path.name for path in (tmp_path / "versions").iterdir()] == ["v1.csv"]


def test_a_link_to_nothing_yet_names_the_new_file(tmp_path):
    link = tmp_path / "latest.html"
    link.symlink_to("v1.html")
    by_hand(link)
    assert link.is_symlink()
    assert (tmp_path / "v1.html").read_bytes() == b"new"


@every_way
def test_a_fifo_is_written_through(write, tmp_path):
    fifo, found = tmp_path / "out.csv", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    write(fifo)
    reader.join(timeout=20)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert found
    assert found[0]
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_all_of_a_long_table_goes_through_a_fifo(tmp_path):
    fifo, found = tmp_path / "out.csv", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    rows = pa.table({"a": np.arange(300_000)})
    with TableWriter(str(fifo), rows.schema) as writer:
        writer.write(rows)
    reader.join(timeout=20)
    assert pyarrow.csv.read_csv(pa.BufferReader(found[0]))["a"].to_pylist() == list(range(300_000))


def test_an_interrupted_write_sends_nothing_through_a_fifo(tmp_path):
    fifo, found = tmp_path / "out.csv", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    file = WholeFile(fifo)

    def interrupted():
        with file:
            file.beside.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    reader.join(timeout=20)
    assert found == [b""]
    assert not file.beside.exists()


@pytest.mark.skipif(not IS_ROOT, reason="only root makes device nodes")
@every_way
def test_a_device_node_stays_a_device_node(write, tmp_path):
    node = tmp_path / "null.csv"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        node.open("wb").close()
    except OSError:
        pytest.skip("no device nodes here")
    write(node)
    assert stat.S_ISCHR(node.stat().st_mode)
    assert node.stat().st_rdev == os.makedev(1, 3)


def test_a_device_through_a_link_and_a_full_one(tmp_path):
    for device in ("null", "full"):
        if not Path(f"/dev/{device}").is_char_device():
            pytest.skip(f"no /dev/{device} here")
        (tmp_path / device).symlink_to(f"/dev/{device}")
    by_hand(tmp_path / "null")
    with pytest.raises(DataError, match="full cannot be written: No space left on device"):
        by_hand(tmp_path / "full")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "null"]
    assert Path("/dev/full").is_char_device()


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
def test_an_old_file_keeps_its_owner(tmp_path):
    path = tmp_path / "out.html"
    path.write_text("old")
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    by_hand(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o640)


@every_way
def test_an_interrupt_leaves_the_old_file_whole(write, tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o640)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


def test_what_is_beside_an_old_file_is_never_more_open(tmp_path):
    path = tmp_path / "out.html"
    path.write_text("old")
    path.chmod(0o600)
    with WholeFile(path) as file:
        assert stat.S_IMODE(file.beside.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/x.html", "no does not exist"),
        (".", "is a folder"),
        ("nul\0l", "null character"),
        ("loop", "symbolic links"),
    ],
)
def test_a_name_that_cannot_be_written(name, message, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for attempt in (WholeFile(f"{tmp_path}/{name}").check, WholeFile(f"{tmp_path}/{name}").__enter__):
        with pytest.raises(DataError, match=message):
            attempt()
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def test_a_killed_writer_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "out.html"
    path.write_text("old")
    program = (
        "import sys, os, signal\nfrom askew.sources import WholeFile\n"
        "with WholeFile(sys.argv[1]) as file:\n"
        "    file.beside.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == -9
    assert path.read_text() == "old"
