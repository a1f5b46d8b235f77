"""``python -m askew.warm`` compiles all there is, says so, and leaves nothing to compile."""

import os
import re
import subprocess
import sys

PROGRAM = """
import sys
from numba.core.dispatcher import Dispatcher
from askew.warm import main
main()
for name, module in list(sys.modules.items()):
    for function in vars(module).values() if name.startswith("askew") else ():
        if isinstance(function, Dispatcher) and function.__module__ == name and not function.signatures:
            if function.targetoptions.get("inline") != "always":
                print("left out:", name, function.__name__)
"""


def test_everything_is_compiled_and_then_found(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    assert "left out" not in first.stdout
    assert int(re.search(r"(\d+) functions compiled", first.stdout).group(1)) > 30
    assert f"kept in {tmp_path}" in first.stdout
    again = subprocess.run([sys.executable, "-m", "askew.warm"], env=environment, capture_output=True, text=True)
    assert "\n0 functions compiled" in again.stdout


def test_where_nothing_can_be_kept_it_says_so(tmp_path):
    (tmp_path / "file").write_text("no folder")
    program = "import askew.warm, numpy as np\naskew.warm._fits = lambda: [('one', fit)]\naskew.warm.main()"
    fit = "from askew import SVC\nfit = lambda: SVC().fit([[0.0], [1.0]], [0, 1])\n"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache")}
    done = subprocess.run([sys.executable, "-c", fit + program], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in done.stderr
