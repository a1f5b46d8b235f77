"""The command line as a process: the demonstration, standard input, Ctrl-C, and what it does not import."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")
from askew.datasets import write_transactions

ASKEW = [sys.executable, "-m", "askew.cli"]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    place = tmp_path_factory.mktemp("demo")
    command = [*ASKEW, "demo", "--rows", "60000", "--tolerance", "0.005", "-o", str(place / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    return place, json.loads(done.stdout)


def test_the_demonstration_keeps_its_promise(demonstration):
    place, figures = demonstration
    assert figures["is_promise_kept"]
    assert figures["fpr"] <= 0.005
    assert figures["n_scored"] == 60_000
    assert 0.6 < figures["tpr"] <= figures["best_possible_tpr"] + 0.05
    assert figures["peak_gigabytes"] < 1.5
    found = {path.name for path in (place / "out").iterdir()}
    assert found == {
        "transactions.parquet", "new-transactions.parquet", "model.skops", "scores.parquet", "report.html",
    }  # fmt: skip


def test_rows_from_standard_input(demonstration):
    place, _ = demonstration
    command = [*ASKEW, "score", str(place / "out" / "model.skops"), "-", "-o", "-"]
    with (place / "out" / "new-transactions.parquet").open("rb") as rows:
        done = subprocess.run(command, stdin=rows, capture_output=True, env=ENVIRONMENT, check=True)
    assert done.stdout.count(b"\n") == 60_001


@pytest.mark.parametrize("seconds", [0, 0.02, 0.2])
def test_interrupted_work_leaves_no_output(demonstration, tmp_path, seconds):
    place, _ = demonstration
    many = place / "many.parquet"
    if not many.exists():
        write_transactions(many, 1_500_000, random_state=5)
    command = [*ASKEW, "score", str(place / "out" / "model.skops"), str(many), "-o", str(tmp_path / "scores.parquet")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    while not any(tmp_path.iterdir()) and process.poll() is None:
        time.sleep(0.001)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("everything was scored before the interrupt came")
    assert process.returncode == 130
    assert "interrupted" in err
    assert list(tmp_path.iterdir()) == []


def test_help_is_quick_to_say_and_loads_no_solver():
    code = (
        "import sys; from askew.cli.app import app\n"
        "print([name for name in ('numba', 'matplotlib', 'skops', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
