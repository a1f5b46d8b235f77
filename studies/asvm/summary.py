"""Finished cells of the comparison, by set, tolerance and model, one value per repeat; gains and bounds over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from askew.metrics import RocCurve, RocHull, hull_of_curves
from studies.asvm.measurements import ASYMPTOTICS
from studies.asvm.sets import LARGE, TITLES
from studies.protocol.cells import Finished
from studies.protocol.statistics import PairedTest, paired_test

TEST_TO_TRAIN = 1 / 5


class Results:
    """What each model reached on each repeat.

    Parameters
    ----------
    finished : Finished
        Of all kinds; the methods below are about the cells of kind "compare".
    """

    def __init__(self, finished: Finished) -> None:
        self.finished = finished
        self._found: dict[tuple[str, float, str], dict[int, dict[str, Any]]] = defaultdict(dict)
        self.searches: dict[tuple[str, float, str], dict[int, dict[str, Any]]] = defaultdict(dict)
        self.cpu: dict[tuple[str, float, str], list[float]] = defaultdict(list)
        for row in finished.of_kind("compare"):
            where = row["set"], row["t"], row["method"]
            self.searches[where][row["repeat"]] = row["search"]
            self.cpu[where].append(row["cpu"])
            for model, judged in row["models"].items():
                self._found[row["set"], row["t"], model][row["repeat"]] = judged

    def has(self, name: str, t: float, *models: str) -> bool:
        """Whether at least two repeats have all of the models."""
        return len(self.repeats(name, t, *models)) > 1

    def repeats(self, name: str, t: float, *models: str) -> list[int]:
        """Repeats that have all of the models."""
        each = [set(self.judged(name, t, model)) for model in models]
        return sorted(set.intersection(*each)) if each else []

    def judged(self, name: str, t: float, model: str) -> dict[int, dict[str, Any]]:
        """By repeat. Fisher's direction does not depend on the tolerance of a search."""
        return self._found.get((name, 0.1 if model == "Fisher" else t, model), {})

    def areas(
        self, name: str, t: float, model: str, *, part: str = "test", repeats: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Raw t-AUC at the tolerance of the search, one value per repeat."""
        judged = self.judged(name, t, model)
        wanted = sorted(judged) if repeats is None else repeats
        return np.array([judged[repeat][part]["areas"][f"{t:g}"] for repeat in wanted])

    def contest(self, name: str, t: float, first: str, second: str, part: str = "test") -> PairedTest:
        """First minus second over the repeats that have both."""
        common = self.repeats(name, t, first, second)
        return paired_test(
            self.areas(name, t, first, part=part, repeats=common),
            self.areas(name, t, second, part=part, repeats=common),
            test_share=TEST_TO_TRAIN,
        )

    def improvement(self, name: str, t: float, over: str, part: str = "test", model: str = "ASVM") -> float:
        """How much larger the model's mean area is, in per cent."""
        common = self.repeats(name, t, model, over)
        mine, theirs = (self.areas(name, t, each, part=part, repeats=common).mean() for each in (model, over))
        return float(100.0 * (mine / theirs - 1.0))

    def hulls(self, name: str, t: float, models: Sequence[str], part: str = "test") -> list[RocHull]:
        """The common hull of the models, one per repeat."""
        return [
            hull_of_curves({model: _curve(self.judged(name, t, model)[repeat][part]) for model in models})
            for repeat in self.repeats(name, t, *models)
        ]

    def curves(self, name: str, t: float, model: str, part: str) -> NDArray[np.float64]:
        """True positive rates at 0, 0.001, …, 0.1 false positives, one row per repeat."""
        judged = self.judged(name, t, model)
        return np.array([judged[repeat][part]["curve"] for repeat in sorted(judged)])

    def endings(self) -> dict[str, list[dict[str, Any]]]:
        """How every fit of a model ended."""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for (_, _, model), by_repeat in self._found.items():
            found[model] += [judged["fit"] for judged in by_repeat.values()]
        return found


def _curve(judged: dict[str, Any]) -> RocCurve:
    """A curve through the vertices of its hull: the common hull of several models needs no more."""
    false, true = np.array(judged["hull"], dtype=float).T
    thresholds = -np.arange(len(false), dtype=float)
    return RocCurve(false / judged["negatives"], true / judged["positives"], thresholds)


def entries() -> list[tuple[str, float]]:
    """Sets and tolerances of the paper's mean improvement: t ≤ 0.1."""
    return [(name, 0.1) for name in TITLES] + [(name, 0.05) for name in LARGE]


def overall(results: Results) -> dict[str, dict[str, float]]:
    """Mean gain in per cent over the entries with t ≤ 0.1, with its 95 % interval over these entries."""
    found = {}
    pairs = (("ASVM", "TH"), ("ASVM", "nu"), ("ASVM 9:1", "TH"), ("ASVM 9:1", "ASVM"), ("TH", "Fisher"))
    for model, over in (*pairs, ("ASVM", "PT"), ("ASVM", "balls")):
        gains = np.array(
            [results.improvement(n, t, over, model=model) for n, t in entries() if results.has(n, t, model, over)]
        )
        if len(gains) < 2:
            continue
        half = stats.t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
        found[f"{model} over {over}"] = {
            "entries": len(gains),
            "mean": float(gains.mean()),
            "half_width": float(half),
            "median": float(np.median(gains)),
            "better": int(np.sum(gains > 0)),
        }
    return found


def bounds(rows: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Figure 8: per m and τ the difference of outliers, its two bounds, and how often it lay within them."""
    found = []
    for m in sorted({row["rows"] for row in rows}):
        for tau in ASYMPTOTICS["tau"]:
            each = [row[f"{tau:g}"] for row in rows if row["rows"] == m]
            gap = np.array([s["o_plus"] - s["o_minus"] for s in each])
            low = tau - np.array([s["s_plus"] for s in each])
            high = tau + np.array([s["s_minus"] for s in each])
            holds = np.array([s["class_margin"] > 1e-9 and s["core_margin"] > 0 for s in each])
            within = (gap >= low - 1e-9) & (gap <= high + 1e-9)
            found.append(
                {
                    "rows": m,
                    "tau": tau,
                    "difference": float(gap.mean()),
                    "low": float(low.mean()),
                    "high": float(high.mean()),
                    "fits": len(each),
                    "assumed": int(holds.sum()),
                    "within": int((within & holds).sum()),
                    "off": float(np.abs(gap - tau)[holds].mean()) if holds.any() else float("nan"),
                }
            )
    return found


summarise = Results
