"""From cells to summary, figures and page: what is missing is named, left out of a quick run, and stops a whole one."""

import json
import sys
from types import SimpleNamespace

import pytest

from studies.protocol import pipeline
from studies.protocol.cells import TooFewCells
from studies.protocol.pipeline import Order, conduct
from studies.protocol.tables import markdown

PAGE = "<!-- table: means -->\nold\n<!-- end -->\n<!-- table: whole -->\nold\n<!-- end -->\n"


def sets_of(cell):
    return () if cell["set"] == "made" else (cell["set"],)


def work(cell):
    return {"score": cell["n"] + 0.5}


def summarise(finished):
    if len(finished.rows) < 2:
        raise TooFewCells("too few for a mean")
    return {"mean": sum(row["score"] for row in finished.rows) / len(finished.rows), "planned": finished.planned}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study with two cells on made rows, one on a set, and a timed one."""
    cells = [{"set": "made", "n": 0}, {"set": "made", "n": 1}, {"set": "pima", "n": 2}]
    experiment = SimpleNamespace(
        SETTINGS={"folds": 3}, SEEDS={"cuts": "their number"}, cells=lambda quick: cells, sets_of=sets_of, work=work
    )
    experiment.timed_cells = lambda quick: [{"set": "made", "n": 10}]
    tables = SimpleNamespace(
        TABLES={"means": lambda found: markdown(["mean"], [[found["mean"]]]), "whole": lambda found: "all of it"},
        QUICK=("means",),
    )
    drawn = []
    figures = SimpleNamespace(draw=lambda found, folder: drawn.append(folder))
    parts = {"experiment": experiment, "summary": SimpleNamespace(summarise=summarise)}
    for name, part in {**parts, "tables": tables, "figures": figures}.items():
        monkeypatch.setitem(sys.modules, f"studies.toy.{name}", part)
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "README.md").write_text(PAGE)
    return SimpleNamespace(folder=folder, drawn=drawn, experiment=experiment)


@pytest.fixture
def no_pima(monkeypatch):
    monkeypatch.setattr(pipeline, "missing", lambda names: {n: f"fetch {n}" for n in dict.fromkeys(names)})


@pytest.fixture
def here(monkeypatch):
    """Cells are computed in this process."""

    def run(ledger, cells, work, jobs):
        for cell in ledger.missing(cells):
            ledger.write(cell, work(cell), 30.0)

    monkeypatch.setattr(pipeline, "run", run)


@pytest.mark.usefixtures("no_pima", "here")
def test_a_quick_run_leaves_out_what_is_not_there_and_touches_no_page(study, capsys):
    assert conduct(Order(study.folder, quick=True, jobs=1, only_pages=False)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "toy: the set pima is not there and left out; to have it, fetch pima",
        "toy: 3 of 4 cells are there, 1.5 CPU minutes",
    ]
    quick = study.folder / "results" / "quick"
    found = json.loads((quick / "summary.json").read_text())
    assert (found["mean"], found["planned"], found["settings"]) == (12.5 / 3, 4, {"folds": 3})
    assert (found["seeds"], found["cells_without"]) == ({"cuts": "their number"}, 0)
    assert f"| {12.5 / 3} |" in (quick / "tables.md").read_text()
    assert "all of it" not in (quick / "tables.md").read_text()
    assert study.drawn == [quick]
    assert (study.folder / "README.md").read_text() == PAGE


@pytest.mark.usefixtures("no_pima", "here")
def test_a_whole_run_does_not_begin_without_its_sets(study, capsys):
    assert conduct(Order(study.folder, quick=False, jobs=1, only_pages=False)) == 2
    assert "pima is not there" in capsys.readouterr().out
    assert not (study.folder / "results" / "cells.jsonl").exists()
    assert (study.folder / "README.md").read_text() == PAGE


@pytest.mark.usefixtures("here")
def test_a_whole_run_fills_the_page_and_needs_no_data_once_its_cells_are_there(study, monkeypatch):
    whole = Order(study.folder, quick=False, jobs=1, only_pages=False)
    monkeypatch.setattr(pipeline, "missing", lambda names: {})
    assert conduct(whole) == 0
    page = (study.folder / "README.md").read_text()
    assert "all of it" in page
    assert "| 3.75 |" in page
    assert len((study.folder / "results" / "times" / "cells.jsonl").read_text().splitlines()) == 1
    monkeypatch.setattr(pipeline, "missing", lambda names: dict.fromkeys(names, ""))
    (study.folder / "README.md").write_text(PAGE)
    assert conduct(whole) == 0
    assert (study.folder / "README.md").read_text() == page


def test_pages_without_cells_are_not_made(study, capsys):
    for quick, status in ((True, 0), (False, 1)):
        assert conduct(Order(study.folder, quick=quick, jobs=1, only_pages=True)) == status
        assert "0 of 4 cells are there, so nothing is made of them" in capsys.readouterr().out
    assert (study.folder / "README.md").read_text() == PAGE


@pytest.mark.usefixtures("no_pima", "here")
def test_too_few_cells_are_said_in_one_line(study, capsys):
    study.experiment.timed_cells = lambda quick: []
    study.experiment.cells = lambda quick: [{"set": "made", "n": 0}, {"set": "pima", "n": 2}]
    assert conduct(Order(study.folder, quick=True, jobs=1, only_pages=False)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "toy: 1 of 2 cells are there, too few for a mean"
