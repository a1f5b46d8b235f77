"""The guard for speed: turns alternate, cells are kept, slow peers are ended, what got slower is named."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import askew
from askew.datasets import make_ring, make_skewed
from benchmarks import contest, judge, versus
from benchmarks.contest import Took, race, ratio_with_spread

# stands where a cell's process stands: it gets the cell's words, writes lines and ends as a cell does
CELL = """
import json, signal, sys, time
cell, ended = sys.argv[sys.argv.index("--cell") + 1], json.loads(sys.argv[-1])
open(sys.argv[1], "a").write(cell + "\\n")
if cell == "broken":
    raise ValueError("broken by design")
if cell in ("endless", "slow peer") and "peer" not in ended:
    print(json.dumps({"running": "peer", "limit": 0.2, "is_ours": cell == "endless"}), flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    time.sleep(60)
ratios = {"peer": {"ratio": 2.0, "low": 1.9, "high": 2.1, "goal": 3.0 if cell == "loses" else 1.0}}
print(json.dumps({"n": 1, "d": 1, "ratios": ratios, "judged in float64": {}, "rounds": {}, "ended": ended,
                  "made": {"commit": "abc"}}))
"""


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    monkeypatch.setattr(contest, "RESULTS", tmp_path / "results")
    (tmp_path / "cell.py").write_text(CELL)
    return [sys.executable, str(tmp_path / "cell.py"), str(tmp_path / "log")]


def options(prefix, *words):
    return versus.parse([*words, "--prefix", " ".join(prefix)])


def test_contestants_take_turns_and_the_first_turn_does_not_count():
    log = []
    runs = {name: lambda name=name: log.append(name) or Took(len(log), name) for name in ("askew", "peer")}
    seconds, last = race(runs, rounds=4, budget=60.0)
    assert log == ["askew", "peer"] * 5
    assert seconds == {"askew": [3, 5, 7, 9], "peer": [4, 6, 8, 10]}
    assert last == {"askew": "askew", "peer": "peer"}


def test_a_slow_contestant_is_asked_once_and_a_budget_leaves_three_rounds():
    log = []
    runs = {"askew": lambda: log.append("askew"), "peer": lambda: log.append("peer") or Took(contest.SLOW + 1.0)}
    seconds, _ = race(runs, rounds=9, budget=-1.0)
    assert log.count("peer") == 1
    assert seconds["peer"] == [contest.SLOW + 1.0]
    assert len(seconds["askew"]) == 3


def test_ratios_are_formed_within_a_round():
    assert ratio_with_spread([2.0, 20.0, 3.0], [1.0, 10.0, 1.0])["ratio"] == 2.0
    assert ratio_with_spread([6.0], [1.0, 2.0, 3.0]) == {"ratio": 3.0, "low": 2.5, "high": 4.5}


def test_cells_that_are_there_are_not_computed_again(prefix, tmp_path):
    asked = tmp_path / "log"
    versus.run("versus", ["a", "b"], options(prefix))
    known = versus.run("versus", ["a", "b", "c"], options(prefix))
    assert asked.read_text().split() == ["a", "b", "c"]
    assert versus.read(contest.RESULTS / "versus.json") == known
    versus.run("versus", ["b"], options(prefix, "--again"))
    assert asked.read_text().split() == ["a", "b", "c", "b"]


def test_a_peer_that_takes_too_long_is_ended_and_the_cell_begun_again(prefix):
    assert versus.run_apart("slow peer", 1, prefix)["ended"] == {"peer": 0.2}


def test_a_failing_cell_says_why_and_loses(prefix, capsys):
    known = versus.run("versus", ["broken", "endless", "loses", "wins"], options(prefix))
    assert known["broken"] == {"failed": "reading the data: ValueError: broken by design"}
    assert known["endless"]["failed"].startswith("peer: over")
    assert [cell for cell in known if versus.losing(known[cell])] == ["broken", "endless", "loses"]
    assert versus.summarise(known) == 3
    assert "*peer 2" in capsys.readouterr().out


def test_the_alarm_ends_a_peer_inside_compiled_code():
    code = (
        "from benchmarks import versus; versus.TOO_SLOW = versus.AT_LEAST = 1e-3; "
        "versus.compute('svc/ijcnn1/3000/C1', 1, {})"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=versus.ROOT, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGALRM
    assert json.loads(ended.stdout.splitlines()[-1])["running"] == "scikit-learn"


def test_a_real_cell_says_everything():
    record = versus.run_apart("svc/ijcnn1/100/C1", 2)
    assert record["n"] == 100
    assert record["rounds"]["askew"] == 2
    assert record["ratios"]["scikit-learn"]["goal"] == 1.0
    assert all(said["kkt"] <= 1.1e-3 for said in record["judged in float64"].values())
    assert abs(record["objective above ours"]["scikit-learn"]) < 1e-5
    assert {"commit", "processor", "cores", "versions"} <= record["made"].keys()


def record(rounds=5, **ratios):
    spread = {name: {"ratio": r, "low": 0.97 * r, "high": 1.03 * r} for name, r in ratios.items()}
    return {"ratios": spread, "rounds": dict.fromkeys(("askew", *ratios), rounds)}


def test_slower_is_what_fell_by_more_than_its_spread():
    assert versus.slower(record(a=2.0, b=3.0), record(a=1.6, b=2.4)) == "a 2 → 1.6, b 3 → 2.4"
    assert versus.slower(record(a=2.0, b=3.0), record(a=2.6, b=3.0)) is None
    assert versus.slower(record(a=2.0), record(a=1.95)) is None
    assert versus.slower(record(1, a=2.0), record(1, a=1.75)) is None
    assert versus.slower(record(a=2.0, b=3.0, c=1.0), record(a=1.6, b=3.0, c=1.0)) is None  # one peer's noise
    assert "failed" in versus.slower(record(a=2.0), {"failed": "askew: over 150 s"})


def test_comparing_files_names_the_cells(tmp_path, capsys):
    for name, cells in {"x": {"one": record(a=2.0), "two": record(a=2.0)}, "y": {"one": record(a=1.0)}}.items():
        (tmp_path / name).write_text(json.dumps({"cells": cells}))
    assert versus.main(["--compare", str(tmp_path / "x"), str(tmp_path / "y")]) == 1
    assert capsys.readouterr().out.split("\n")[:2] == ["one: a 2 → 1", "two: not in the later file"]
    assert versus.main(["--compare", str(tmp_path / "x"), str(tmp_path / "x")]) == 0


def test_the_judge_agrees_with_certificates_and_refuses_a_broken_answer():
    data = make_skewed(400, rare=0.2, n_features=5, random_state=0)
    X, y = data.X, np.where(data.y > 0, 1.0, -1.0)
    model = askew.SVC(gamma=0.1).fit(X, y)
    programme = judge.c_svc(X, y, np.ones(len(y)), 0.1)
    assert programme.judge(model)["kkt"] == pytest.approx(model.kkt_violation_[0], abs=1e-6)
    assert programme.judge(model, 0.9)["kkt"] > 0.01
    assert judge.kernel_sums(X, np.ones(400), 0.1) == pytest.approx(
        judge.differences(X, np.arange(400), np.ones(400), 0.1), rel=1e-10
    )
    ball = askew.CovarianceOneClassSVM(0.5, 0.2, gamma=0.1).fit(X)
    assert judge.judge_covariance(ball, X, 0.1, 0.5)["kkt"] == pytest.approx(ball.kkt_violation_, abs=1e-6)
    moment = askew.MomentSVC().fit(X, y)
    assert judge.judge_moment(moment, X, y, 1.0, "full")["kkt"] <= 1e-3
    moment.dual_coef_ = 0.9 * moment.dual_coef_
    assert judge.judge_moment(moment, X, y, 1.0, "full")["kkt"] > 0.01


def test_the_judge_sees_through_a_bent_kernel():
    data = make_ring(300, rare=0.1, random_state=0)
    y = np.where(data.y > 0, 1.0, -1.0)
    model = askew.KernelScaledSVC(C=10.0, gamma=1.0, k_majority=1.0, k_minority=0.5).fit(data.X, y)
    assert judge.judge_scaled(model, data.X, y, 10.0, 1.0)["kkt"] == pytest.approx(model.kkt_violation_[0], abs=1e-5)
