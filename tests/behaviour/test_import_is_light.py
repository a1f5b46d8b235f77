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


def test_the_first_fit_loads_the_compiler():
    program = "from askew import SVC\nSVC().fit([[0.0], [1.0]], [0, 1])"
    assert "numba" in loaded_after(program)
