"""The cells of this study, most wanted first, and what is done for each kind of them."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from studies.asvm import measurements, methods, sets
from studies.protocol.cells import Cell

REPEATS = 10
QUICK = ("breast_wisconsin", "ionosphere")
SMALL = tuple(name for name in sets.TITLES if name not in sets.LARGE)
SETTINGS = {
    "negatives per positive": sets.NEGATIVES_PER_POSITIVE,
    "test share": sets.TEST_SHARE,
    "most rows": sets.MOST_ROWS,
    "most fresh rows": sets.MOST_FRESH,
    "folds": methods.FOLDS,
    "widths": methods.WIDTHS,
    "costs": methods.COSTS,
    "ratios": methods.RATIOS,
    "nu": methods.NU,
    "weight of positives in 9:1": methods.POSITIVE_WEIGHT,
    "mu of the search, of the largest feasible": methods.SEARCHED["mu"],
    "tau of the search, of what mu leaves": methods.SEARCHED["tau"],
    "areas": measurements.AREAS,
    "audit": measurements.AUDIT,
    "core": measurements.CORE,
    "toy": measurements.TOY,
    "planes": measurements.PLANES,
    "asymptotics": measurements.ASYMPTOTICS,
    "scale": measurements.SCALE,
    "effort": measurements.EFFORT,
    "seeds": {
        "rows, splits and folds of the comparison": "the number of the repeat",
        "toy": f"training rows the number of the draw, new rows {measurements.SEED_OF_NEW_ROWS}",
        "planes and asymptotics": "the seed of the cell",
        "scale, order of the rows": measurements.SEED,
        "effort, split and folds": measurements.SEED,
    },
}


def cells(quick: bool) -> list[Cell]:
    """All cells, the quick ones on two sets."""
    return [*pictures(quick), *(comparisons(QUICK, 2) if quick else comparisons())]


def sets_of(cell: Cell) -> tuple[str, ...]:
    """The data set of a cell; none for the toys."""
    return (cell["set"],) if "set" in cell else _READ_BY.get(cell["kind"], ())


def work(cell: Cell) -> dict[str, Any]:
    """Compute one cell of any kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how fits ended is recorded in the cell
        return _KINDS[cell["kind"]](cell)


_READ_BY = {"scale": ("ijcnn1",), "effort": ("covtype",)}
_KINDS = {
    "compare": measurements.compare,
    "toy": measurements.toy,
    "planes": measurements.planes,
    "effort": measurements.effort,
    "scale": measurements.scale,
    "asymptotics": measurements.asymptotics,
    "audit": measurements.audit,
    "core": measurements.core_path,
}


def comparisons(names: tuple[str, ...] = tuple(sets.TITLES), repeats: int = REPEATS) -> list[Cell]:
    """Tables 1 and 2, and beyond them, at t = 0.1: PT on small sets, ASVM with weights 9:1, two balls.

    All sets in turn, repeat after repeat, so that a run that is stopped leaves few repeats rather than few sets.
    """
    small = tuple(name for name in names if name not in sets.LARGE)
    large = tuple(name for name in names if name in sets.LARGE)
    plan = [
        (
            (0.1, small, ("TH", "ASVM", "ASVM 9:1", "PT", "Fisher", "balls")),
            (0.1, large, ("TH", "ASVM", "PT", "Fisher")),
        ),
        ((0.05, large, ("TH", "ASVM", "PT")), (0.1, large, ("ASVM 9:1",))),
        ((1.0, small, ("TH", "ASVM")), (1.0, large, ("TH", "ASVM", "PT"))),
    ]
    return [
        {"kind": "compare", "set": name, "t": t, "method": method, "repeat": repeat}
        for group in plan
        for repeat in range(repeats)
        for t, members, wanted in group
        for name in members
        for method in wanted
    ]


def pictures(quick: bool = False) -> list[Cell]:
    """Figures 2, 3, 5, 7 and 8, the audit of the stopping rule, and paths in τ without a search."""
    rows = (1000, 2000) if quick else (1000, 2000, 5000, 10_000, 20_000, 50_000)
    sizes = ((100, 1),) if quick else ((100, 5), (1000, 5), (5000, 3))
    return [
        {"kind": "toy", "rows": 200, "draws": 3 if quick else 30},
        *[{"kind": "planes", "mu": mu, "seed": s} for mu in (0.15, 0.25) for s in range(1 if quick else 5)],
        *[{"kind": "asymptotics", "rows": m, "seed": s} for m, seeds in sizes for s in range(seeds)],
        *[{"kind": "scale", "rows": n, "machine": "ASVM", "fits": 2} for n in rows],
        *[{"kind": "scale", "rows": n, "machine": "LIBSVM", "fits": 2} for n in rows if n <= 20_000],
        *[
            {"kind": "effort", "granularity": g, "method": method}
            for g in ((3,) if quick else (3, 4, 6, 8))
            for method in ("PT", "ASVM")
        ],
        *[
            {"kind": "audit", "set": name, "repeat": r}
            for name in (("ionosphere",) if quick else SMALL)
            for r in range(1 if quick else 2)
        ],
        *[
            {"kind": "core", "set": name, "repeat": r}
            for name in (("ionosphere",) if quick else sets.TITLES)
            for r in range(2 if quick else 5)
        ],
        *[
            {"kind": "core", "set": name, "repeat": r, "width": width}
            for name in (() if quick else sets.LARGE)
            for width in (0.25, 4.0)
            for r in range(5)
        ],
    ]
