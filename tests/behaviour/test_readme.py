"""The README's example is run as it stands there."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_example_keeps_its_promise():
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "README.md", "exec"), {})
    caught, false_alarms = re.match(r"(\d+)% of the events caught, ([\d.]+)% false alarms", said.getvalue()).groups()
    assert int(caught) > 50
    assert float(false_alarms) < 1.5
    assert len(program.strip().splitlines()) <= 12


def test_the_commands_of_the_readme_are_make_targets():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make (\w+)", README.read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
