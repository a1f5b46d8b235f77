"""Outputs of the command line: what is read is never written over, and a name keeps what it was."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
from typer.testing import CliRunner

from askew import Detector
from askew.cli.app import app
from askew.datasets import Transactions
from askew.exceptions import ParameterError
from askew.sources import check_outputs


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table in three formats and a model of it."""
    place = tmp_path_factory.mktemp("made")
    table = pd.DataFrame(Transactions(rare=0.03).sample(4000, random_state=0))
    table.to_csv(place / "t.csv", index=False)
    table.to_parquet(place / "t.parquet")
    table.head(500).to_csv(place / "small.csv", index=False)
    result = run(
        "fit", place / "t.parquet", "-t", "is_fraud", "-m", "moment", "--tolerance", 0.05, "-o", place / "m.skops"
    )
    assert result.exit_code == 0, result.output
    return place


@pytest.mark.parametrize(
    "command",
    [
        "fit t.csv -t is_fraud -m moment --tolerance 0.05 -o t.csv",
        "fit t.parquet -t is_fraud -m moment --tolerance 0.05 -o ./t.parquet",
        "score m.skops t.parquet -o t.parquet",
        "score m.skops t.csv -o linked.csv",
        "score m.skops t.csv -o hard.csv",
        "score m.skops linked.csv -o t.csv",
        "score m.skops small.csv -o m.skops.csv",
        "score m.skops *.csv -o small.csv",
        "report m.skops t.parquet -o m.skops",
        "report m.skops t.parquet -o t.parquet",
        "compare t.parquet -t is_fraud -m moment --tolerance 0.05 -o t.parquet",
        "compare t.parquet -t is_fraud -m moment --tolerance 0.05 -o c.html --model t.parquet",
    ],
)
def test_what_is_read_is_not_written_over(made, command, tmp_path, monkeypatch):
    for name in ("t.csv", "t.parquet", "small.csv", "m.skops"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    (tmp_path / "linked.csv").symlink_to("t.csv")
    os.link(tmp_path / "t.csv", tmp_path / "hard.csv")
    os.link(tmp_path / "m.skops", tmp_path / "m.skops.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    result = run(*command.split())
    assert result.exit_code == 2, result.output
    assert "would be destroyed" in " ".join(result.output.split())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


NOT_READ = {
    "one file": ("t.csv", "t.csv", "is the input"),
    "a file of a folder": ("rows", "rows/1.csv", "is one of the inputs, rows/1.csv"),
    "a new file in a folder": ("rows", "rows/scores.csv", "would be read as rows the next time"),
    "a new file further down": ("rows", "rows/deep/scores.csv", "would be read as rows the next time"),
    "a link from a folder": ("rows", "rows/link.csv", "would be read as rows the next time"),
    "a link into a folder": ("rows", "into.csv", "would be read as rows the next time"),
    "a file of a pattern": ("rows/*.csv", "rows/1.csv", "is one of the inputs"),
    "a new file that a pattern finds": ("rows/*.csv", "rows/scores.csv", "would be read as rows the next time"),
    "a new file that a deep pattern finds": ("**/*.csv", "rows/deep/s.csv", "would be read as rows the next time"),
}


@pytest.mark.parametrize("case", NOT_READ)
def test_the_refusal_comes_before_any_work(case, tmp_path, monkeypatch):
    # The tables and the model could not be read: nobody has tried.
    data, output, message = NOT_READ[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows" / "deep").mkdir(parents=True)
    for name in ("t.csv", "m.skops", "rows/1.csv", "rows/2.csv"):
        (tmp_path / name).write_bytes(b"\xff\xfe no table")
    (tmp_path / "rows" / "link.csv").symlink_to("../elsewhere.csv")
    (tmp_path / "into.csv").symlink_to("rows/new.csv")
    for command in (["score", "m.skops", data], ["report", "m.skops", data], ["fit", data, "-t", "y"]):
        result = run(*command, "-o", output)
        assert result.exit_code == 2, result.output
        assert message in " ".join(result.output.split())


def test_outputs_beside_the_rows_are_allowed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    for name in ("rows/1.csv", "rows/2.csv", "old.parquet"):
        (tmp_path / name).write_text("a\n1\n")
    os.mkfifo(tmp_path / "rows" / "fifo.csv")
    for data, output in (
        ("rows", "rows/model.skops"), ("rows", "rows/_scores.csv"), ("rows", "scores.csv"),
        ("rows/*.csv", "rows/s.parquet"),
        ("rows/1.csv", "rows/3.csv"), ("rows", "old.parquet"), ("rows/*.csv", "1.csv"), ("rows", "rows/fifo.csv"),
        ("rows", "-"),
    ):  # fmt: skip
        check_outputs([output], data)
    if Path("/dev/null").is_char_device():
        check_outputs(["/dev/null", "/dev/null"], "rows")


def test_two_outputs_are_two_files(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "link").symlink_to("c.html")
    for model in ("c.html", "./c.html", "link"):
        with pytest.raises(ParameterError, match="are one file"):
            check_outputs([tmp_path / "c.html", f"{tmp_path}/{model}"], str(tmp_path / "t.csv"))


def test_a_source_that_was_opened_is_not_written_over(made, tmp_path):
    (tmp_path / "t.csv").write_bytes((made / "small.csv").read_bytes())
    detector, before = Detector.load(made / "m.skops"), (tmp_path / "t.csv").read_bytes()
    with pytest.raises(ParameterError, match="would be destroyed"):
        detector.write_scores(tmp_path / "t.csv", str(tmp_path / "t.csv"))
    assert (tmp_path / "t.csv").read_bytes() == before


@pytest.mark.parametrize("redirection", ["- -o t.csv < t.csv", "t.csv -o - >> t.csv"])
def test_a_redirected_input_is_not_written_over(redirection, made, tmp_path):
    (tmp_path / "t.csv").write_bytes((made / "small.csv").read_bytes())
    before = (tmp_path / "t.csv").read_bytes()
    askew = f"{sys.executable} -m askew.cli score {made / 'm.skops'} {redirection}"
    here = {**os.environ, "PYTHONPATH": str(Path(check_outputs.__code__.co_filename).parents[2])}
    done = subprocess.run(["bash", "-c", askew], cwd=tmp_path, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "would be destroyed" in " ".join(done.stderr.split())
    assert (tmp_path / "t.csv").read_bytes() == before


def test_a_link_to_the_latest_model_stays_and_modes_stay(made, tmp_path):
    (tmp_path / "v1.skops").write_bytes(b"old")
    (tmp_path / "v1.skops").chmod(0o600)
    (tmp_path / "latest.skops").symlink_to("v1.skops")
    (tmp_path / "s.parquet").touch(0o600)
    (tmp_path / "s.parquet").chmod(0o600)
    fit = run(
        "fit",
        made / "t.parquet",
        "-t",
        "is_fraud",
        "-m",
        "moment",
        "--tolerance",
        0.05,
        "-o",
        tmp_path / "latest.skops",
    )
    assert fit.exit_code == 0, fit.output
    assert os.readlink(tmp_path / "latest.skops") == "v1.skops"
    score = run("score", tmp_path / "latest.skops", made / "small.csv", "-o", tmp_path / "s.parquet")
    assert score.exit_code == 0, score.output
    assert np.isfinite(pd.read_parquet(tmp_path / "s.parquet")["score"]).all()
    for name in ("v1.skops", "s.parquet"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_page_for_a_device_leaves_the_device(made, tmp_path):
    if not Path("/dev/null").is_char_device():
        pytest.skip("no /dev/null here")
    (tmp_path / "page.html").symlink_to("/dev/null")
    assert run("report", made / "m.skops", made / "small.csv", "-o", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").is_symlink()
    assert Path("/dev/null").is_char_device()
