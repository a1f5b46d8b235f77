"""A container's life: another user, no home, nothing in the environment, an installation that cannot be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import askew

if not sys.platform.startswith("linux"):
    pytest.skip("users are changed by Linux calls", allow_module_level=True)
if os.getuid() != 0:
    pytest.skip("only root can become another user", allow_module_level=True)

# An interpreter below /root must stay readable, so the right to read everything is kept, and no other.
BECOME_NOBODY = """
import ctypes, os, pathlib, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
header, only_reading = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(4, 4, 0, 0, 0, 0)
if libc.capset(header, only_reading):
    raise OSError(ctypes.get_errno(), "capset")
sys.path.insert(0, sys.argv[1])
import askew
assert askew.__file__.startswith(sys.argv[1])
for folder in (pathlib.Path(askew.__file__).parent, pathlib.Path(askew.__file__).parent / "solvers" / "__pycache__"):
    try:
        (folder / "probe").touch()
    except (PermissionError, FileNotFoundError):
        continue
    raise AssertionError(f"{folder} can be written")
"""

FIT_ALL = """
import warnings
import numpy as np
from sklearn.base import is_classifier
from askew.estimators import MomentSVCCV
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(240, 3)), rng.normal(2.0, 1.0, size=(60, 3))])
y = np.repeat([0, 1], [240, 60])
table = {**{f"x{j}": X[:, j] for j in range(3)}, "event": y}
classes = [cls for name in askew.__all__ if isinstance(cls := getattr(askew, name), type) and hasattr(cls, "fit")]
for cls in [*classes, MomentSVCCV]:
    if cls is askew.TablePreparation:
        assert cls().fit_transform(table).shape[0] == len(y)
        continue
    if cls is askew.Detector:
        model, rows = cls("moment", tolerance=0.1).fit(table, target="event"), table
    else:
        model, rows = cls(askew.SVC(), tolerance=0.1) if cls is askew.ToleranceClassifier else cls(), X
        model.fit(X, y) if is_classifier(model) else model.fit(X[:240])
    assert np.isin(model.predict(rows), [-1, 0, 1]).all()
    print(cls.__name__)
"""

FIT_ONE = """
import logging
logging.basicConfig(level=logging.INFO)
askew.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
"""


@pytest.fixture
def site(tmp_path):
    """A copy of the package, in a folder of its own."""
    copy = tmp_path / "site"
    shutil.copytree(Path(askew.__file__).parent, copy / "askew", ignore=shutil.ignore_patterns("*.nb[ci]", "*.pyc"))
    return copy


def forbid_writing(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def run_as_nobody(site, program):
    command = [sys.executable, "-c", BECOME_NOBODY + program, str(site)]
    done = subprocess.run(command, env={"HOME": "/nonexistent"}, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    return done


def test_every_estimator_fits_and_predicts(site):
    forbid_writing(site)
    fitted = run_as_nobody(site, FIT_ALL).stdout.split()
    assert fitted == [name for name in askew.__all__ if name[0].isupper() and name != "TablePreparation"] + [
        "MomentSVCCV"
    ]


def test_what_was_compiled_while_the_image_was_built_is_found(site):
    built = "import sys; sys.path.insert(0, sys.argv[1]); import askew" + FIT_ONE
    done = subprocess.run([sys.executable, "-c", built, str(site)], capture_output=True, text=True, check=True)
    assert "Compiling" in done.stderr
    forbid_writing(site)
    assert "Compiling" not in run_as_nobody(site, FIT_ONE).stderr
