"""Finished cells as columns: for each task and method, its results in the order of the cuts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.moments.sets import SHARES
from studies.protocol.cells import Finished
from studies.protocol.statistics import PairedTest, interval, paired_test

TEST_SHARE = SHARES[2] / SHARES[0]
_RULES = {"small": "MIBC", "auto": "MIBC, ridge auto", "chosen": "MIBC, ridge chosen"}
_FACTOR = {"small": "factor", "auto": "factor, ridge auto", "chosen": "factor, ridge chosen"}
_MACHINES = {"weighted": "cost-sensitive", "plain": "SVC, threshold moved"}


class Results:
    """What each method reached, by task, method and cut.

    Parameters
    ----------
    finished : Finished
        A cell of several variants becomes several methods.
    """

    def __init__(self, finished: Finished) -> None:
        self.finished = finished
        self._found: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
        for row in finished.rows:
            for method, result in _variants(row):
                self._found.setdefault((row["set"], method), {})[row["repeat"]] = result

    def has(self, task: str, method: str) -> bool:
        return (task, method) in self._found

    def of(self, task: str, method: str) -> list[Mapping[str, Any]]:
        """One per cut, by the number of the cut."""
        found = self._found.get((task, method), {})
        return [found[repeat] for repeat in sorted(found)]

    def values(self, task: str, method: str, name: str) -> NDArray[np.float64]:
        return np.array([result[name] for result in self.of(task, method)], dtype=float)

    def area(self, task: str, method: str, name: str = "auc") -> tuple[float, float]:
        """Mean and half of its 95 % interval, in per cent; the interval is the usual one, as in the papers."""
        mean, half = interval(100 * self.values(task, method, name))
        return mean, half

    def compare(self, task: str, first: str, second: str, name: str = "auc") -> PairedTest | None:
        """First minus second over the cuts that both have, in per cent; None for fewer than two cuts."""
        a, b = self._found.get((task, first), {}), self._found.get((task, second), {})
        both = sorted(a.keys() & b.keys())
        if len(both) < 2:
            return None
        scores = ([100 * found[repeat][name] for repeat in both] for found in (a, b))
        return paired_test(*scores, test_share=TEST_SHARE)


def _variants(row: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    if row["method"] == "cost-sensitive":
        return [(name, row[key]) for key, name in _MACHINES.items()]
    if row["method"].startswith("MIBC"):
        names = _FACTOR if row["method"] == "MIBC factor" else _RULES
        hard = [("hard" if names is _RULES else "factor, hard", row["hard"])] if row["hard"] else []
        return [*((name, row[key]) for key, name in names.items()), *hard]
    return [(row["method"], row)]


summarise = Results
