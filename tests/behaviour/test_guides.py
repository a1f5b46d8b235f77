"""The programs of the guides are run as they stand there."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import typer

from askew.cli.app import app

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


def test_the_five_minutes_keep_their_promise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (GUIDES.parent / "index.md").read_text(encoding="utf-8")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(compile(program, "index.md", "exec"), {})
    caught, false_alarms = re.search(r"(\d+)% of the frauds caught, ([\d.]+)% false alarms", said.getvalue()).groups()
    assert int(caught) > 80
    assert float(false_alarms) < 1.2


def test_the_commands_of_the_five_minutes_are_commands_with_these_options():
    page = (GUIDES.parent / "index.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ askew (\w+) (.*)$", page, re.MULTILINE)
    assert [name for name, _ in commands] == ["fit", "score", "report"]
    group = typer.main.get_command(app)
    for name, words in commands:
        group.commands[name].make_context(name, shlex.split(words))  # an unknown option or a missing one is an error
