"""Words and figures of the command line."""

import json

import numpy as np
import pytest

from askew.cli.console import Console, figure


def test_rates_for_a_person():
    assert [figure(value) for value in (0.5, None, float("nan"))] == ["0.500", "–", "–"]


def test_json_is_json_whatever_is_in_it(capsys):
    console = Console(as_json=True, quiet=False)
    console.say("prose")
    console.result({"a": np.float64(1.5), "b": float("nan"), "c": [np.int64(2), (3,)], 4: None})
    assert json.loads(capsys.readouterr().out) == {"a": 1.5, "b": None, "c": [2, [3]], "4": None}


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_says_nothing(capsys, quiet):
    console = Console(as_json=False, quiet=quiet)
    console.say("result [not markup]")
    console.note("remark")
    console.table(["a", "b"], [["x", "1"]])
    out, err = capsys.readouterr()
    assert ("[not markup]" in out, "remark" in err) == (not quiet, not quiet)
    console.result({"a": 1})
    assert capsys.readouterr().out == ""


def test_progress_on_no_terminal_is_silent(capsys):
    with Console(as_json=False, quiet=False).progress() as steps:
        steps.rows("reading", 10, None)
        steps.fits("SVC", 1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading" not in err
