"""The command line as a person uses it: from a table to a model, scores and pages, and every mistake on the way."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
from typer.testing import CliRunner

from askew.cli.app import app
from askew.datasets import Transactions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, new rows, and a model fitted by the command line."""
    place = tmp_path_factory.mktemp("cli")
    for name, seed in (("past", 0), ("new", 1)):
        table = pd.DataFrame(Transactions(rare=0.03).sample(5000, random_state=seed))
        table.insert(0, "id", [f"t{k}" for k in range(5000)])
        table.to_parquet(place / f"{name}.parquet")
    table.head(1000).to_csv(place / "new.csv", index=False)
    result = run(
        "fit", place / "past.parquet", "-t", "is_fraud", "-m", "moment", "--tolerance", 0.02, "-o", place / "m.skops"
    )
    assert result.exit_code == 0, result.output
    assert "promised            FPR <= 0.0" in result.stdout
    return place


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_fit_prints_what_was_done_to_every_column(folder):
    result = run("inspect", folder / "m.skops")
    assert result.exit_code == 0
    for column in ("amount", "merchant", "time", "id"):
        assert f"\n  {column}: " in result.stdout
    assert "different values in" in result.stdout  # why id is left out
    assert "made by: askew" in result.stdout


def test_score_writes_every_row(folder, tmp_path):
    result = run("score", folder / "m.skops", folder / "new.parquet", "-o", tmp_path / "s.parquet", "--keep", "id")
    assert result.exit_code == 0, result.output
    scores, truth = pd.read_parquet(tmp_path / "s.parquet"), pd.read_parquet(folder / "new.parquet")
    assert list(scores.columns) == ["row", "id", "score", "alarm", "reasons"]
    assert (scores["id"] == truth["id"]).all()
    assert ((scores["score"] > 0) == scores["alarm"]).all()
    assert scores["alarm"][truth["is_fraud"] == 0].mean() <= 0.02
    assert scores["alarm"][truth["is_fraud"] == 1].mean() > 0.7
    assert scores["reasons"][scores["alarm"]].str.contains(r"\+").all()


def test_score_to_standard_output_is_csv_and_nothing_else(folder):
    result = run("score", folder / "m.skops", folder / "new.csv", "-o", "-")
    lines = result.stdout.strip().split("\n")
    assert lines[0] == '"row","score","alarm","reasons"'
    assert len(lines) == 1001


def test_formats_score_alike(folder, tmp_path):
    scores = []
    for name in ("new.parquet", "new.csv"):
        run("score", folder / "m.skops", folder / name, "-o", tmp_path / "s.csv", "--reasons", 0)
        scores.append(pd.read_csv(tmp_path / "s.csv")["score"].to_numpy()[:1000])
    np.testing.assert_allclose(*scores, atol=1e-9)


def test_report_writes_a_page_and_sees_drift(folder, tmp_path):
    page = tmp_path / "r.html"
    result = run("report", folder / "m.skops", folder / "new.parquet", "-o", page, "--event", "fraud", "--json")
    figures = json.loads(result.stdout)
    assert figures["fpr"] <= 0.02
    assert not figures["drift"]["drifted"]
    assert "fraud" in page.read_text(encoding="utf-8")
    moved = pd.read_parquet(folder / "new.parquet").assign(amount=lambda t: t["amount"] * 30)
    moved.to_parquet(tmp_path / "moved.parquet")
    result = run("report", folder / "m.skops", tmp_path / "moved.parquet", "-o", page, "--fail-on-drift")
    assert result.exit_code == 6
    assert "does not hold any more" in result.stdout


def test_compare_prints_a_table_and_writes_page_and_model(folder, tmp_path):
    result = run(
        "compare", folder / "past.parquet", "-t", "is_fraud", "-m", "moment", "-m", "logistic", "--tolerance", 0.02,
        "-o", tmp_path / "c.html", "--model", tmp_path / "best.skops",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "MomentSVC" in result.stdout
    assert "logistic regression" in result.stdout
    assert "<html" in (tmp_path / "c.html").read_text(encoding="utf-8")
    assert run("inspect", tmp_path / "best.skops").exit_code == 0


def test_one_class_on_normal_rows(folder, tmp_path):
    result = run(
        "fit", folder / "past.parquet", "--one-class", "--drop", "is_fraud", "-m", "svdd", "--tolerance", 0.05,
        "-o", tmp_path / "m.skops", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["promise"]["guaranteed_rate"] <= 0.05
    assert run("score", tmp_path / "m.skops", folder / "new.csv", "-o", tmp_path / "s.csv", "-q").stdout == ""


def test_json_of_fit_is_the_card(folder, tmp_path):
    result = run(
        "fit", folder / "past.parquet", "-t", "is_fraud", "-m", "moment", "--tolerance", 0.02,
        "-o", tmp_path / "m.skops", "--json",
    )  # fmt: skip
    card = json.loads(result.stdout)
    assert card["target"]["positive"] == "1"
    assert card["n_rows"] == 5000


MISTAKES = {
    "unknown target": (["fit", "past.parquet", "-t", "is_frad"], 2, "Did you mean 'is_fraud'"),
    "no target": (["fit", "past.parquet"], 2, "--target"),
    "target and one-class": (["fit", "past.parquet", "-t", "is_fraud", "--one-class"], 2, "--one-class has no target"),
    "missing file": (["fit", "pst.parquet", "-t", "is_fraud"], 3, "Did you mean 'past.parquet'"),
    "one-valued target": (["fit", "one.csv", "-t", "y"], 3, "one value only"),
    "NaN target": (["fit", "gaps.csv", "-t", "y"], 3, "missing or NaN in row 2"),
    "many-valued target": (["fit", "past.parquet", "-t", "merchant"], 2, "--positive VALUE"),
    "unknown positive": (["fit", "past.parquet", "-t", "is_fraud", "--positive", "yes"], 2, "never takes the value"),
    "unknown method": (["fit", "past.parquet", "-t", "is_fraud", "-m", "momet"], 2, "Did you mean 'moment'"),
    "impossible tolerance": (["fit", "past.parquet", "-t", "is_fraud", "--tolerance", "1e-6"], 4, "Raise --tolerance"),
    "tolerance out of range": (["fit", "past.parquet", "-t", "is_fraud", "--tolerance", "5"], 2, "between 0 and 1"),
    "columns missing at scoring": (["score", "m.skops", "one.csv"], 3, "which the model was fitted with"),
    "no labels for a report": (["report", "m.skops", "unlabelled.csv"], 2, "needs the labels"),
    "not a model": (["score", "past.parquet", "new.csv"], 3, "not a model"),
    "model of another version": (["score", "future.skops", "new.csv"], 3, "Install askew==9.9"),
    "unknown column to keep": (["score", "m.skops", "new.csv", "--keep", "idd"], 2, "Did you mean 'id'"),
    "unknown output format": (["score", "m.skops", "new.csv", "-o", "s.xls"], 2, ".parquet"),
    "folder that is not there": (["score", "m.skops", "new.csv", "-o", "no/s.csv"], 3, "does not exist"),
    "unknown option": (["fit", "past.parquet", "--tolerence", "0.1"], 2, "--tolerance"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_to_do_and_write_nothing(folder, monkeypatch, mistake):
    arguments, code, message = MISTAKES[mistake]
    (folder / "one.csv").write_text("x,y\n1,0\n2,0\n")
    (folder / "gaps.csv").write_text("x,y\n1,0\n2,\n3,1\n")
    pd.read_csv(folder / "new.csv").drop(columns="is_fraud").to_csv(folder / "unlabelled.csv", index=False)
    with zipfile.ZipFile(folder / "future.skops", "w") as archive:
        archive.writestr("askew.json", json.dumps({"format": 7, "versions": {"askew": "9.9"}}))
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_errors_reach_programs_as_json(folder):
    result = run("fit", folder / "past.parquet", "-t", "is_frad", "--json")
    assert "Did you mean" in json.loads(result.stdout)["error"]
