"""Figure 2, whose sets and panels are those of ``examples/plot_asymmetric_toy.py``, and its claim over many draws.

The paper reads one draw: AUC 0.96 for SVC and 0.95 for ASVM, but 0.1-AUC / 0.1 of 0.55 and 0.86.
"""

from __future__ import annotations

import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from askew import SVC, AsymmetricSVC
from askew.metrics import tolerance_auc_score
from studies.protocol.cells import Cell
from studies.protocol.controls import FisherDirection

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_asymmetric_toy.py"
NEW_ROWS, NEW_SEED = 20_000, 1000
C, MU, TAU, GAMMA = 1.0, 0.15, 0.05, 0.5


def toy(cell: Cell) -> dict[str, Any]:
    """AUC and 0.1-AUC / 0.1 of each model on new rows, for every draw of the first toy set."""
    draw = side_by_side()
    machines = {
        "SVC": lambda: SVC(C=C, gamma=GAMMA),
        "ASVM, tau = 0": lambda: AsymmetricSVC(MU, 0.0, gamma=GAMMA),
        "ASVM": lambda: AsymmetricSVC(MU, TAU, gamma=GAMMA),
        "Fisher": FisherDirection,
    }
    X_new, y_new = draw(NEW_ROWS, NEW_SEED)
    found: dict[str, dict[str, list[float]]] = {name: {"1": [], "0.1": []} for name in machines}
    for seed in range(cell["draws"]):
        X, y = draw(cell["rows"], seed)
        for name, make in machines.items():
            scores = make().fit(X, y).decision_function(X_new)
            for t in (1.0, 0.1):
                found[name][f"{t:g}"].append(tolerance_auc_score(y_new, scores, t, normalize=True))
    return found


def side_by_side() -> Any:
    """The generator of the example's first set."""
    with TemporaryDirectory() as folder:
        return run_example(Path(folder) / "unused.png")["side_by_side"]


def run_example(picture: Path) -> dict[str, Any]:
    """Run the example, which draws into ``picture``; its names."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    before, sys.argv = sys.argv, [str(EXAMPLE), str(picture)]
    try:
        with redirect_stdout(io.StringIO()):
            return runpy.run_path(str(EXAMPLE))
    finally:
        sys.argv = before
        plt.close("all")
