"""The programs of the guides are run as they stand there."""

import contextlib
import io
import re
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "guide"


def test_the_program_for_a_gpu_says_what_it_promises():
    pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")
    (program,) = re.findall(r"```python\n(.*?)```", (GUIDES / "on_a_gpu.md").read_text(encoding="utf-8"), re.DOTALL)
    said, names = io.StringIO(), {}
    with contextlib.redirect_stdout(said):
        exec(compile(program, "on_a_gpu.md", "exec"), names)
    where, status, right, gap = re.match(r"(\w+), (\w+), (\d+)% right, gap (\S+)", said.getvalue()).groups()
    assert where == names["device"]
    assert status == "optimal"
    assert int(right) > 90
    assert float(gap) >= 0.0
    assert names["scores"].device.type == names["X"].device.type
    assert abs(names["on_the_host"] - names["scores"].cpu().numpy()).max() < 1e-9
    assert len(program.strip().splitlines()) <= 11
