"""From finished cells to the summary: means, corrected intervals and tests, by scaling and target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.cosvm import paper
from studies.cosvm.sets import ARRAYS, MADE, READINGS, SCALINGS, TITLES
from studies.protocol.cells import Finished
from studies.protocol.statistics import interval, paired_test, rank

Row = Mapping[str, Any]
Summary = dict[str, Any]

TEST_SHARE = paper.REMOVED_SHARE / (1 - paper.REMOVED_SHARE)
"""Of the targets, the part that is drawn anew for every model; the outliers are the same each time."""


def summarise(finished: Finished) -> Summary:
    """Everything the tables and figures need, by target and scaling."""
    tables, references = finished.of_kind("table"), finished.of_kind("reference")
    return {
        "cpu_minutes": finished.minutes(2),
        "models": {kind: _count(finished.of_kind(kind)) for kind in ("table", "reference", "eta", "width")},
        "largest_relative_gap": max(_gaps(finished.rows)),
        "descriptions": _by_problem(tables, _description),
        "references": _by_problem(references, _reference),
        "tests": _by_problem(tables, _tests),
        "ranks": {s: _ranks(tables, s) for s in SCALINGS if _complete(tables, s)},
        "rule": _by_problem(tables, _rule),
        "eta": _by_problem(finished.of_kind("eta"), _along_eta),
        "width": _by_problem(finished.of_kind("width"), _along_width),
        "chosen_width": _by_problem(tables, lambda own: float(np.median([row["width"] for row in own]))),
    }


def _count(rows: Sequence[Row]) -> int:
    return len({row["repeat"] for row in rows})


def _gaps(rows: Iterable[Row]) -> Iterable[float]:
    for row in rows:
        yield from (each.get("gap", 0.0) for each in row.get("path", row.get("methods", {}).values()))


def _by_problem(rows: Sequence[Row], summary: Any) -> dict[str, dict[str, Any]]:
    """``{scaling: {target: summary of its rows}}``, rows in the order of repeats."""
    found: dict[str, dict[str, Any]] = {}
    for scaling in (*SCALINGS, ARRAYS):
        for target in (*TITLES, *MADE):
            own = [row for row in rows if row["scaling"] == scaling and row["target"] == target]
            if own:
                found.setdefault(scaling, {})[target] = summary(sorted(own, key=lambda row: row["repeat"]))
    return found


def _scores(own: Sequence[Row], method: str, reading: str = "held out") -> Any:
    return np.array([row["methods"][method]["auc"][reading] for row in own])


def _description(own: Sequence[Row]) -> dict[str, Any]:
    found = {}
    for method in own[0]["methods"]:
        mean, half = interval(_scores(own, method), test_share=TEST_SHARE)
        found[method] = {
            "auc": mean,
            "half_width": half,
            "readings": {reading: float(_scores(own, method, reading).mean()) for reading in READINGS},
            **_rates([row["methods"][method] for row in own]),
        }
    return found


def _reference(own: Sequence[Row]) -> dict[str, Any]:
    methods = {name: [row["methods"][name] for row in own] for name in own[0]["methods"]}
    return {name: {"auc": float(np.mean([r["auc"] for r in rs])), **_rates(rs)} for name, rs in methods.items()}


def _rates(found: Sequence[Row]) -> dict[str, float]:
    return {key: float(np.mean([each[key] for each in found])) for key in ("accepted", "rejected")}


def _tests(own: Sequence[Row]) -> dict[str, Any]:
    """COSVM as the paper writes it, and as askew does, against all others."""
    if len(own) < 2:
        return {}
    return {
        first: {
            second: vars(paired_test(_scores(own, first), _scores(own, second), test_share=TEST_SHARE))
            for second in own[0]["methods"]
            if second != first
        }
        for first in ("COSVM", "COSVM, trace", "COSVM, modified")
    }


def _complete(tables: Sequence[Row], scaling: str) -> bool:
    return len({row["target"] for row in tables if row["scaling"] == scaling} & set(TITLES)) > 1


def _ranks(tables: Sequence[Row], scaling: str) -> dict[str, Any]:
    problems = _by_problem([row for row in tables if row["target"] in TITLES], _description)[scaling]
    means = [[found[method]["auc"] for method in paper.METHODS] for found in problems.values()]
    ranking = rank(means)
    return {
        "mean_ranks": dict(zip(paper.METHODS, ranking.mean_ranks.tolist(), strict=True)),
        "p_friedman": ranking.p_friedman,
        "critical_difference": ranking.critical_difference,
    }


def _rule(own: Sequence[Row]) -> dict[str, Any]:
    """How the search for η ended: stayed at 1, moved, or never reached the fraction."""
    found = {}
    for method in ("COSVM", "COSVM, trace"):
        ends = [row["methods"][method] for row in own]
        found[method] = {
            "stays": float(np.mean([end["eta"] == 1 for end in ends])),
            "reached": float(np.mean([end["rule"] == "reached" for end in ends])),
            "eta": float(np.median([end["eta"] for end in ends])),
        }
    return found


def _along_eta(own: Sequence[Row]) -> list[dict[str, Any]]:
    return _along(own, ("scale", "score", "eta"), ("auc", "outside"))


def _along_width(own: Sequence[Row]) -> list[dict[str, Any]]:
    return _along(own, ("method", "width"), ("auc",))


def _along(own: Sequence[Row], names: Sequence[str], values: Sequence[str]) -> list[dict[str, Any]]:
    """Means over repeats at every point of the path."""
    found = []
    for points in zip(*(row["path"] for row in own), strict=True):
        means = {value: float(np.mean([point[value] for point in points])) for value in values}
        found.append({**{name: points[0][name] for name in names}, **means})
    return found
