"""``import askew`` loads neither the compiler nor the extras; the first fit does."""

import subprocess
import sys

import pytest

HEAVY = ["numba", "matplotlib", "typer", "jinja2", "skops", "cvxpy"]


def loaded_after(program: str) -> set[str]:
    listing = f"{program}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", listing], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module", ["askew", "askew.selection", "askew.metrics", "askew.moments", "askew.datasets", "askew.displays"]
)
def test_nothing_heavy_is_loaded(module):
    assert not loaded_after(f"import {module}").intersection(HEAVY)


@pytest.mark.parametrize("program", ["import askew", "from askew.cli.app import app"])
def test_the_package_and_the_help_of_the_command_load_no_numerics(program):
    if "cli" in program:
        pytest.importorskip("typer")
    assert not loaded_after(program).intersection([*HEAVY, "numpy", "scipy", "sklearn", "pandas"]) - {"typer"}


def test_public_names_are_found_when_they_are_asked_for():
    program = """
import askew
assert set(askew.__all__) < set(dir(askew)) and "Any" not in dir(askew)
from askew import *
assert SVC is askew.SVC is askew.estimators.SVC and ToleranceClassifier is askew.tolerance.ToleranceClassifier
import pickle
assert pickle.loads(pickle.dumps(SVC(C=2.0))).C == 2.0
try:
    askew.SVM
except AttributeError as error:
    assert "no attribute 'SVM'" in str(error)
else:
    raise AssertionError("a name that is not there was found")
"""
    loaded_after(program)


def test_the_first_fit_loads_the_compiler():
    program = "from askew import SVC\nSVC().fit([[0.0], [1.0]], [0, 1])"
    assert "numba" in loaded_after(program)
