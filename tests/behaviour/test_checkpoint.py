"""A stream that is killed and restarted from its last checkpoint ends with the same model."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from behaviour.rare_rows import FEATURES, table
from scipy import sparse

from askew import MomentSVC
from askew.exceptions import DataError, ParameterError
from askew.moments import DiagonalMoments, LowRankMoments, Moments

BATCH, BATCHES = 100, 30

STREAM = f"""
import sys, time
from pathlib import Path
from behaviour.rare_rows import FEATURES, table
from askew import MomentSVC

checkpoint, pause = Path(sys.argv[1]), float(sys.argv[2])
rows = table(n_negative={BATCH * BATCHES - 200}, n_positive=200)
model = MomentSVC()
if checkpoint.exists():
    model.load_stream(checkpoint)
    print("resumed at", model.n_samples_seen_, flush=True)
for start in range(getattr(model, "n_samples_seen_", 0), len(rows), {BATCH}):
    batch = rows.iloc[start : start + {BATCH}]
    model.partial_fit(batch[FEATURES], batch["fraud"], classes=[0, 1])
    if start // {BATCH} % 3 == 2:
        model.save_stream(checkpoint)
    time.sleep(pause)
print(model.n_samples_seen_, model.coef_.tobytes().hex(), model.intercept_.tobytes().hex(), flush=True)
"""


def start(checkpoint, pause):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", STREAM, str(checkpoint), str(pause)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def ending(process):
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return said.splitlines()


def test_a_stream_killed_and_restarted_ends_with_the_same_model(tmp_path):
    calm = start(tmp_path / "calm.npz", 0.0)
    checkpoint = tmp_path / "stream.npz"
    killed = start(checkpoint, 0.2)
    while not checkpoint.exists():
        assert killed.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert killed.returncode == -signal.SIGKILL
    resumed, last = ending(start(checkpoint, 0.0))
    assert 0 < int(resumed.split()[-1]) < BATCH * BATCHES
    assert last == ending(calm)[-1]  # to the last bit
    assert last.startswith(f"{BATCH * BATCHES} ")


@pytest.mark.parametrize("options", [{}, {"covariance": "diagonal"}, {"forgetting": 0.9}, {"kernel": "rbf"}])
@pytest.mark.parametrize("kind", ["dense", "sparse", "three classes"])
def test_a_checkpoint_holds_everything(tmp_path, options, kind):
    rows = table(900, 100)
    X, y = rows[FEATURES].to_numpy(), rows["fraud"].to_numpy().astype(str)
    if kind == "sparse":
        X = sparse.csr_array(np.maximum(X - 5.0, 0.0))
    if kind == "three classes":
        y = np.array(["a", "b", "c"])[np.arange(1000) % 3]
    straight, broken = MomentSVC(rho=0.1, **options), MomentSVC(rho=0.1, **options)
    for start in range(0, 1000, 250):
        batch = slice(start, start + 250)
        straight.partial_fit(X[batch], y[batch], classes=np.unique(y))
        broken.partial_fit(X[batch], y[batch], classes=np.unique(y)).save_stream(tmp_path / "s.npz")
        broken = MomentSVC(rho=0.1, **options).load_stream(tmp_path / "s.npz")
        assert broken.n_samples_seen_ == start + 250
        np.testing.assert_array_equal(broken.decision_function(X), straight.decision_function(X))
    assert broken.classes_.tolist() == straight.classes_.tolist()


def test_a_stream_that_waits_for_its_first_positive_resumes_waiting(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    MomentSVC().partial_fit(X, np.zeros(50), classes=[0, 1]).save_stream(tmp_path / "s.npz")
    model = MomentSVC().load_stream(tmp_path / "s.npz")
    assert not hasattr(model, "coef_")
    model.partial_fit(X[:3] + 3, np.ones(3))
    assert model.coef_.shape == (1, 2)


@pytest.mark.parametrize("kind", [Moments, DiagonalMoments, LowRankMoments])
def test_files_of_moments_are_checkpoints_of_negatives(tmp_path, kind):
    rows = table()
    negatives = rows.loc[rows["fraud"] == 0, FEATURES].to_numpy()
    kind.of(negatives[:1000]).save(tmp_path / "m.npz")
    resumed = kind.load(tmp_path / "m.npz") + kind.of(negatives[1000:])
    straight = kind.of(negatives[:1000]) + kind.of(negatives[1000:])
    np.testing.assert_array_equal(resumed.mean, straight.mean)
    np.testing.assert_array_equal(resumed.scatter, straight.scatter)


def test_wrong_checkpoints_are_refused(tmp_path):
    path = tmp_path / "s.npz"
    with pytest.raises(DataError, match="does not exist"):
        MomentSVC().load_stream(path)
    with pytest.raises(DataError, match="call partial_fit first"):
        MomentSVC().save_stream(path)
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="not a checkpoint"):
        MomentSVC().load_stream(path)
    np.savez(path, a=np.zeros(2))
    with pytest.raises(DataError, match="not a checkpoint"):
        MomentSVC().load_stream(path)
    np.savez(path, format=np.array([{"evil": 1}], dtype=object))
    with pytest.raises(DataError, match="not a checkpoint"):  # a pickle inside is never opened
        MomentSVC().load_stream(path)
    rows = table(300, 30)
    MomentSVC().partial_fit(rows[FEATURES], rows["fraud"], classes=[0, 1]).save_stream(path)
    with pytest.raises(DataError, match="was written with covariance='full'"):
        MomentSVC(covariance="diagonal").load_stream(path)
    with pytest.raises(ParameterError, match="another pos_label"):
        MomentSVC(pos_label=0).load_stream(path)
    with pytest.raises(ValueError, match="feature names should match"):
        MomentSVC().load_stream(path).partial_fit(rows[FEATURES].rename(columns=str.upper), rows["fraud"])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    model = MomentSVC()
    with pytest.raises(DataError, match="not a checkpoint"):
        model.load_stream(path)
    assert not hasattr(model, "coef_")
    assert os.listdir(tmp_path) == ["s.npz"]
