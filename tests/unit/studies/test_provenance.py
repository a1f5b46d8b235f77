"""Cells say what they were computed with; a summary reports that and not what the page was made with."""

import json
import subprocess

import pytest

from studies.protocol import cells
from studies.protocol.cells import Ledger
from studies.protocol.provenance import commit, gathered, provenance


def made(commit="abc1234", numpy="2.0.0", cores=2):
    return {"versions": {"numpy": numpy}, "commit": commit, "cores": cores}


def test_a_finished_cell_says_what_it_was_computed_with_and_nothing_of_the_place(tmp_path):
    ledger = Ledger(tmp_path, {})
    ledger.write({"n": 0}, {"square": 0}, 0.0)
    line = json.loads(ledger.path.read_text())
    assert line["made"] == provenance()
    assert set(line["made"]) == {"versions", "commit", "cores"}
    assert "/" not in json.dumps(line["made"])
    assert ledger.rows([{"n": 0}]) == [{"n": 0, "square": 0, "cpu": 0.0}]  # beside the result, not in it


def test_what_cells_were_computed_with_is_gathered(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path, {"seed": 0})
    for n, its in enumerate([made(), made("def5678+", "2.1.0", 4), made(None)]):
        monkeypatch.setattr(cells, "provenance", lambda its=its: its)
        ledger.write({"n": n}, {}, 0.0)
    Ledger(tmp_path, {"seed": 1}).write({"n": 0}, {}, 0.0)  # of other settings
    found = gathered(ledger.provenances([{"n": n} for n in range(3)]))
    assert found["versions"] == {"numpy": ["2.0.0", "2.1.0"]}
    assert found["commits"] == ["abc1234", "def5678+", None]
    assert found["cores"] == [2, 4]
    assert gathered(ledger.provenances([{"n": 1}, {"n": 9}]))["commits"] == ["def5678+"]


def test_a_line_that_says_nothing_stays_valid(tmp_path):
    ledger = Ledger(tmp_path, {})
    old = {"cell": {"n": 0}, "result": {"square": 0}, "cpu": 0.1, "settings": ledger.digest}
    ledger.path.write_text(json.dumps(old) + "\n")
    assert ledger.rows([{"n": 0}]) == [{"n": 0, "square": 0, "cpu": 0.1}]
    assert gathered(ledger.provenances([{"n": 0}]))["cells_without"] == 1


def test_a_commit_is_marked_where_code_differs_from_it_and_results_do_not_count(tmp_path):
    def git(*words):
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    assert commit(tmp_path) is None
    git("init")
    assert commit(tmp_path) is None  # nothing committed yet
    code, results = tmp_path / "src" / "a.py", tmp_path / "studies" / "one" / "results" / "cells.jsonl"
    for path in (code, results):
        path.parent.mkdir(parents=True)
        path.write_text("1\n")
    (tmp_path / "pyproject.toml").write_text("")
    git("add", ".")
    git("commit", "-m", "all")
    clean = commit(tmp_path)
    assert clean
    assert not clean.endswith("+")
    results.write_text("2\n")
    assert commit(tmp_path) == clean
    code.write_text("2\n")
    assert commit(tmp_path) == clean + "+"


@pytest.mark.parametrize("found", [[], [None]])
def test_nothing_known_is_reported_as_such(found):
    assert gathered(found) == {"versions": {}, "commits": [], "cores": [], "cells_without": len(found)}
