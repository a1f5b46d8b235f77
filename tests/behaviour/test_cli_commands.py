"""The command line as a person uses it: from a table to a model, scores and pages, and every mistake on the way."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
from typer.testing import CliRunner

from askew import Detector
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


def test_the_command_fits_what_the_detector_fits(folder):
    written = Detector.load(folder / "m.skops")
    fitted = Detector("moment", tolerance=0.02).fit(folder / "past.parquet", target="is_fraud")
    new = folder / "new.parquet"
    np.testing.assert_array_equal(written.decision_function(new), fitted.decision_function(new))
    ours, theirs = (detector.card_.as_dict() for detector in (written, fitted))
    differing = {name for name in ours if ours[name] != theirs[name]}
    assert differing <= {"data", "command", "settings", "seconds", "fit_seconds"}


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


def spelled(table, kind):
    """The table with its labels spelled otherwise."""
    truth = table["is_fraud"] == 1
    labels = {
        "bool": truth,
        "float": truth.astype(float),
        "nullable": truth.astype("Int8"),
        "text": truth.map({True: "1", False: "0"}),
        "blanks": truth.map({True: " 1", False: "0 "}),
        "points": truth.map({True: "1.0", False: "0.0"}),
        "words": truth.map({True: "True", False: "False"}),
        "categories": truth.map({True: "1", False: "0"}).astype("category"),
        "yes": truth.map({True: "yes", False: "no"}),
        "some missing": truth.astype(float).where(table.index != 7),
    }
    return table.assign(is_fraud=labels[kind])


def told_by_report(folder, data, *options):
    result = run("report", folder / "m.skops", data, "-o", folder / "r.html", "--json", *options)
    figures = json.loads(result.stdout)
    return result.exit_code, {name: figures[name] for name in figures if name not in ("page", "model")}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("kind", ["bool", "float", "nullable", "text", "blanks", "points", "words", "categories"])
def test_a_report_reads_labels_in_every_spelling(folder, tmp_path, kind, ending):
    table = pd.read_parquet(folder / "new.parquet").head(2000)
    table.to_parquet(tmp_path / "plain.parquet")
    data = tmp_path / f"spelled.{ending}"
    other = spelled(table, kind)
    other.to_csv(data, index=False) if ending == "csv" else other.to_parquet(data)
    code, expected = told_by_report(folder, tmp_path / "plain.parquet")
    assert code == 0
    assert expected["n_positive"] == (table["is_fraud"] == 1).sum() > 0
    code, figures = told_by_report(folder, data, "--positive", "true")
    assert code == 0
    assert figures == expected


@pytest.mark.parametrize("kind", ["bool", "text", "blanks", "words", "categories"])
def test_a_model_fitted_on_labels_in_any_spelling_is_the_same(folder, tmp_path, kind):
    spelled(pd.read_parquet(folder / "past.parquet"), kind).to_parquet(tmp_path / "past.parquet")
    result = run(
        "fit", tmp_path / "past.parquet", "-t", "is_fraud", "-m", "moment", "--tolerance", 0.02,
        "-o", tmp_path / "m.skops", "--json",
    )  # fmt: skip
    assert json.loads(result.stdout)["target"]["positive"] == "1"
    assert told_by_report(tmp_path, folder / "new.parquet") == told_by_report(folder, folder / "new.parquet")


@pytest.mark.parametrize(
    ("kind", "options", "code", "message"),
    [
        ("yes", [], 3, "'is_fraud' is 'no' in row 1, which is none of the labels of the fit, '0' and '1'"),
        ("yes", ["--positive", "yes"], 2, "knows no label 'yes'. Its labels are '0' and '1'"),
        ("float", ["--positive", "9"], 2, "knows no label '9'"),
        ("float", ["--positive", "0"], 2, "takes '0' as one of the negatives"),
        ("float", ["--target", "merchant"], 3, "none of the labels of the fit"),
        ("float", ["--target", "amount"], 3, "none of the labels of the fit"),
        ("some missing", [], 3, "missing or NaN in row 8"),
    ],
)
def test_a_report_refuses_labels_it_does_not_know(folder, tmp_path, kind, options, code, message):
    spelled(pd.read_parquet(folder / "new.parquet").head(500), kind).to_parquet(tmp_path / "new.parquet")
    got, told = told_by_report(folder, tmp_path / "new.parquet", *options)
    assert got == code
    assert message in told["error"]


def test_a_report_on_a_detector_of_normal_rows_needs_an_event_that_occurs(folder, tmp_path):
    past = pd.read_parquet(folder / "past.parquet")
    past[past["is_fraud"] == 0].drop(columns="is_fraud").to_parquet(tmp_path / "normal.parquet")
    result = run("fit", tmp_path / "normal.parquet", "--one-class", "-m", "covariance", "--tolerance", 0.05,
                 "-o", tmp_path / "m.skops")  # fmt: skip
    assert result.exit_code == 0, result.output
    new = pd.read_parquet(folder / "new.parquet")
    spelled(new, "words").to_parquet(tmp_path / "words.parquet")
    new[new["is_fraud"] == 0].to_parquet(tmp_path / "quiet.parquet")
    expected = told_by_report(tmp_path, folder / "new.parquet", "-t", "is_fraud", "--positive", "1")
    assert expected[0] == 0
    assert expected[1]["n_positive"] == new["is_fraud"].sum()
    assert told_by_report(tmp_path, tmp_path / "words.parquet", "-t", "is_fraud", "--positive", "1.0") == expected
    code, quiet = told_by_report(tmp_path, tmp_path / "quiet.parquet", "-t", "is_fraud", "--positive", "1")
    assert (code, quiet["n_positive"]) == (0, 0)
    for options in (["-t", "is_fraud", "--positive", "9"], ["-t", "merchant", "--positive", "1"]):
        code, told = told_by_report(tmp_path, folder / "new.parquet", *options)
        assert code == 2
        assert "never takes the value" in told["error"]


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
