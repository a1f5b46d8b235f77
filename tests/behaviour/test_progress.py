"""scikit-learn's callbacks see the rounds of a fit and may end it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from askew import SVC, OneClassSVM

pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")
HERE = str(Path(__file__).parent)


class Recorder:
    """Counts the hooks; stops the fit after ``limit`` rounds."""

    def __init__(self, limit=np.inf):
        self.limit, self.rounds, self.compilations, self.events = limit, 0, 0, []

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.rounds += context.task_name == "working set"
        self.compilations += context.task_name == "compilation"
        return context.task_name == "working set" and self.rounds >= self.limit

    def teardown(self, estimator, context):
        self.events.append("teardown")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=3000) > 0).astype(int)


def test_a_callback_sees_every_round(data):
    recorder = Recorder()
    model = SVC().set_callbacks(recorder).fit(*data)
    assert recorder.events == ["setup", "teardown"]
    assert recorder.rounds > 2
    np.testing.assert_array_equal(model.decision_function(data[0]), SVC().fit(*data).decision_function(data[0]))


def test_a_callback_is_told_once_of_a_fit_that_compiles(tmp_path):
    """In a process of its own, with an empty cache; the second fit finds everything compiled."""
    program = """
import logging
from test_progress import Recorder
from askew import SVC
logging.basicConfig(level=logging.INFO)
for _ in range(2):
    recorder = Recorder()
    SVC().set_callbacks(recorder).fit([[0.0], [1.0]], [0, 1])
    print(recorder.compilations)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join([HERE, *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["1", "0"]
    assert done.stderr.count("INFO:askew:Compiling for this machine") == 1
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["0", "0"]
    assert "Compiling" not in done.stderr


def test_a_callback_may_end_the_fit(data):
    with pytest.warns(ConvergenceWarning, match="because a callback asked it to, at a KKT violation of") as told:
        model = SVC().set_callbacks(Recorder(limit=2)).fit(*data)
    assert model.status_ == "stopped"
    assert told[0].filename == __file__  # also with scikit-learn's own frames in between
    assert np.isfinite(model.decision_function(data[0])).all()


def test_callbacks_are_torn_down_when_a_fit_fails(data):
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        OneClassSVM().set_callbacks(recorder).fit(np.full((4, 2), np.nan))
    assert recorder.events.count("setup") == recorder.events.count("teardown")


def test_the_progress_bar_of_scikit_learn_runs(data):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    assert OneClassSVM(nu=0.2).set_callbacks(ProgressBar()).fit(data[0]).status_ == "optimal"
