"""Cells are computed once, survive a kill, and are forgotten when the settings change."""

import json
import os

import pytest

from studies.protocol import cells
from studies.protocol.cells import Ledger, key

CELLS = [{"n": n} for n in range(4)]


def square(cell):
    return {"square": cell["n"] ** 2, "pid": os.getpid()}


def fail_on_two(cell):
    if cell["n"] == 2:
        raise ValueError("two is refused")
    return {"square": cell["n"] ** 2}


def test_what_is_finished_is_not_computed_again(tmp_path, capsys):
    ledger = Ledger(tmp_path, {"seed": 0})
    ledger.write({"n": 1}, {"square": -1}, 0.5)
    rows = cells.run(ledger, CELLS, square, jobs=2)
    assert [row["square"] for row in rows] == [0, -1, 4, 9]
    assert "1 of 4 cells are there, 3 to compute" in capsys.readouterr().out
    assert all(row["pid"] != os.getpid() for row in rows if row["n"] != 1)


def test_other_settings_begin_anew(tmp_path):
    Ledger(tmp_path, {"seed": 0}).write({"n": 1}, {"square": 1}, 0.0)
    assert Ledger(tmp_path, {"seed": 1}).missing(CELLS) == CELLS
    assert len(Ledger(tmp_path, {"seed": 0}).missing(CELLS)) == 3


def test_a_line_cut_short_costs_that_cell_only(tmp_path):
    ledger = Ledger(tmp_path, {})
    ledger.write({"n": 0}, {"square": 0}, 0.0)
    ledger.write({"n": 1}, {"square": 1}, 0.0)
    whole = ledger.path.read_bytes()
    ledger.path.write_bytes(whole[:-9])
    assert [cell["n"] for cell in ledger.missing(CELLS)] == [1, 2, 3]
    ledger.write({"n": 2}, {"square": 4}, 0.0)
    assert [row["n"] for row in ledger.rows(CELLS)] == [0, 2]


def test_a_failing_cell_is_named_and_the_rest_is_kept(tmp_path):
    ledger = Ledger(tmp_path, {})
    with pytest.raises(RuntimeError, match=r"1 of 4 cells.*\n.*ValueError: two is refused"):
        cells.run(ledger, CELLS, fail_on_two, jobs=1)
    assert [cell["n"] for cell in ledger.missing(CELLS)] == [2]


def test_the_order_of_entries_does_not_matter():
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})


def test_arrays_become_plain_data(tmp_path):
    np = pytest.importorskip("numpy")
    ledger = Ledger(tmp_path, {})
    ledger.write({"n": np.int64(3)}, {"curve": np.array([0.5, 1.0])}, 0.0)
    assert json.loads(ledger.path.read_text())["result"] == {"curve": [0.5, 1.0]}
    assert ledger.rows([{"n": 3}])[0]["curve"] == [0.5, 1.0]
