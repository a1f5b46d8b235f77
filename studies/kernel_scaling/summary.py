"""From finished cells to the summary: means over folds, corrected intervals, tests against the plain SVC, surfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.kernel_scaling.experiment import STRENGTHS
from studies.kernel_scaling.paper import N_FOLDS
from studies.protocol.cells import Finished
from studies.protocol.statistics import interval, paired_test

Row = Mapping[str, Any]
Summary = dict[str, Any]

MEASURES = ("accuracy", "balanced_accuracy", "auc")
TEST_SHARE = 1 / (N_FOLDS - 1)


def summarise(finished: Finished) -> Summary:
    """Comparisons and surfaces as ``{setting: {folds: {removed: …}}}``; JSON makes text of ``removed``, so we do."""
    rows = finished.rows
    return {
        "cpu_minutes": finished.minutes(2),
        "repeats": _repeats(rows),
        "largest_relative_gap": max(_gaps(rows)),
        "compared": _nested(rows, "compare", _compared),
        "surfaces": _nested(rows, "surface", _surface),
    }


def _repeats(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = found.setdefault(row["kind"], {})
        counts[row["setting"]] = max(counts.get(row["setting"], 0), row["repeat"] + 1)
    return found


def _gaps(rows: Iterable[Row]) -> Iterable[float]:
    for row in rows:
        if row["kind"] == "compare":
            yield from (each.get("gap", 0.0) for fold in row["parts"] for each in fold.values())


def _nested(rows: Iterable[Row], kind: str, summary: Any) -> dict[str, Any]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["repeat"]):
        if row["kind"] == kind:
            groups.setdefault((row["setting"], row["folds"], str(row["removed"])), []).extend(row["parts"])
    found: dict[str, Any] = {}
    for (setting, deal, removed), folds in groups.items():
        found.setdefault(setting, {}).setdefault(deal, {})[removed] = summary(folds)
    return found


def _compared(folds: Sequence[Row]) -> dict[str, Any]:
    """Of every method: means, tests against SVC, and what a scaling did."""
    return {method: _method(folds, method) for method in folds[0]}


def _method(folds: Sequence[Row], method: str) -> dict[str, Any]:
    own = [fold[method] for fold in folds]
    found: dict[str, Any] = {"n_folds": len(own)}
    for measure in MEASURES:
        pairs = [(fold[method][measure], fold["SVC"][measure]) for fold in folds if fold["SVC"][measure] is not None]
        mine, plain = np.array(pairs, dtype=float).reshape(-1, 2).T
        if len(mine) > 1:
            mean, half = interval(mine, test_share=TEST_SHARE)
            test = vars(paired_test(mine, plain, test_share=TEST_SHARE))
            found[measure] = {"mean": mean, "half_width": half, "n_folds": len(mine), "against_svc": test}
    if "k" in own[0]:
        found["bent_share"] = float(np.mean([any(each["k"]) for each in own]))
        found["k"] = np.median([each["k"] for each in own], axis=0)
    if "change" in own[0]:
        found["predictions_changed"] = sum(each["moved"] for each in own)
        found["largest_change_of_score"] = max(each["change"] for each in own)
    return found


def _surface(folds: Sequence[Row]) -> dict[str, Any]:
    """Means over folds at every pair of strengths and of the controls; the best pair by accuracy, against plain SVC."""
    accuracy = np.array([fold["accuracy"] for fold in folds])
    balanced = np.array([fold["balanced_accuracy"] for fold in folds if fold["balanced_accuracy"] is not None])
    mean = accuracy.mean(axis=0)
    best = np.unravel_index(np.argmax(mean), mean.shape)
    test = paired_test(accuracy[:, *best], accuracy[:, 0, 0], test_share=TEST_SHARE)
    return {
        "accuracy": mean,
        "balanced_accuracy": balanced.mean(axis=0),
        "n_folds": len(accuracy),
        "controls": {n: float(np.mean([fold["controls"][n] for fold in folds])) for n in folds[0]["controls"]},
        "best": {
            "k_majority": STRENGTHS[best[0]],
            "k_minority": STRENGTHS[best[1]],
            "accuracy": float(mean[best]),
            "balanced_accuracy": float(balanced.mean(axis=0)[best]),
            "against_svc": vars(test),
        },
    }
