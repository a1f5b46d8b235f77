"""The tables of the page: areas, differences, ranks and times; then certificates, gaps, kernels and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy.stats import rankdata

from studies.moments import paper
from studies.moments.experiment import RIDGES_SHOWN
from studies.moments.measurements import TOLERANCES
from studies.moments.methods import COSTS, KERNEL_METHODS, SHARES_OF_RATIO
from studies.moments.sets import DENSE, DENSE_RARE, RCV1, RCV1_BINARY, REUTERS, REUTERS_RARE, TEXT, title
from studies.moments.summary import Results
from studies.protocol.statistics import PairedTest, rank
from studies.protocol.tables import markdown

GROUPS = {
    "dense": DENSE,
    "RCV1 (500 words)": RCV1,
    "RCV1 (944 words)": RCV1_BINARY,
    "Reuters-21578": REUTERS,
    "Reuters-21578 1:1000": REUTERS_RARE,
}
_COLLECTIONS = (*((name,) for name in DENSE), RCV1, RCV1_BINARY, REUTERS)
_RANKED = {
    "dense sets and collections": _COLLECTIONS,
    "every task by itself": tuple((task,) for tasks in _COLLECTIONS for task in tasks),
    "Reuters-21578 1:1000": (REUTERS_RARE,),
}
KINDS = {"dense": DENSE, "text": TEXT}
_PEERS = ("cost-sensitive", "undersampling", "fisher", "SVC, threshold moved")
_MINE = ("MIBC", "MIBC, ridge chosen")
DENSE_METHODS = (
    "MIBC",
    "MIBC, ridge auto",
    "MIBC, ridge chosen",
    "cost-sensitive",
    "undersampling",
    "fisher",
    "SVC, threshold moved",
    "liblinear",
)
TEXT_METHODS = DENSE_METHODS[:-1]
CONTROLS = ("fisher", "SVC, threshold moved")
FACTORS = ("factor", "factor, ridge auto", "factor, ridge chosen")
FACTOR_METHODS = ("MIBC", "MIBC, ridge chosen", *FACTORS, "cost-sensitive", *CONTROLS)
N_WEIGHTED = len(COSTS) * (1 + len(SHARES_OF_RATIO))
_CLOCKED = ("path", "path, ridge auto", "path, ridge chosen", "alone")
TITLES = {
    "MIBC": "MIBC",
    "fisher": "Fisher",
    "liblinear": "weights, LIBLINEAR unconverged",
    "cost-sensitive": "weights",
    "SVC, threshold moved": "SVC, no weights",
}
MODELS = (
    "MIBC",
    "MIBC, ridge auto",
    "MIBC, ridge chosen",
    "factor",
    "factor, ridge auto",
    "factor, ridge chosen",
    "hard",
    "factor, hard",
)
CONVERGED = (*MODELS[:6], "cost-sensitive", "SVC, threshold moved", "undersampling")


def numbers(results: Results) -> dict[str, Any]:
    """What the page rests on, as plain data."""
    rows = results.finished.rows
    return {
        "cpu_minutes": {
            "quality": sum(row["cpu"] for row in rows if row["method"] != "time") / 60,
            "times": sum(row["cpu"] for row in rows if row["method"] == "time") / 60,
        },
        "n_cells": len(rows),
        "areas": _areas(results),
        "tests": _tests(results),
    }


def _areas(results: Results) -> dict[str, Any]:
    """Means and intervals of AUC by task and method."""
    methods = (*DENSE_METHODS, *FACTORS)
    tasks = (*DENSE, *DENSE_RARE, *TEXT)
    return {
        task: {method: results.area(task, method) for method in methods if results.has(task, method)}
        for task in tasks
        if results.has(task, "MIBC")
    }


def _tests(results: Results) -> dict[str, Any]:
    """Every paired test of AUC, in points, by task."""
    found: dict[str, Any] = {}
    mines = ("MIBC", "MIBC, ridge auto", "MIBC, ridge chosen")
    for task in (*DENSE, *DENSE_RARE, *TEXT):
        pairs = {f"{mine} - {peer}": results.compare(task, mine, peer) for mine in mines for peer in _PEERS}
        known = {pair: asdict(test) for pair, test in pairs.items() if test is not None}
        if known:
            found[task] = known
    return found


def sets(results: Results, tasks: Sequence[str]) -> str:
    """Table 1."""
    rows = [[f"{name} (paper)", 150, p, n, f"{n / p:.1f}"] for name, (p, n) in paper.SETS.items()]
    for task in (task for task in tasks if results.has(task, "count")):
        known = results.of(task, "count")[0]
        n_positive, n_negative = known["n_positive"], known["n_negative"]
        rows.append([title(task), known["n_features"], n_positive, n_negative, f"{n_negative / n_positive:.1f}"])
    return markdown(["set", "features", "positives", "negatives", "ratio"], rows)


def areas(
    results: Results, tasks: Sequence[str], methods: Sequence[str], published: Mapping[str, Any] | None = None
) -> str:
    """Tables 2 and 4: AUC in per cent, the best of ours in bold."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if results.has(task, methods[0])):
        found = [results.area(task, method) if results.has(task, method) else None for method in methods]
        best = max(mean for mean, _ in filter(None, found))
        rows.append([title(task), *(plus_minus(each, is_bold=each is not None and each[0] == best) for each in found)])
    for name, (ours, weighted, sampled) in (published or {}).items():
        theirs = {"MIBC": ours, "cost-sensitive": weighted, "undersampling": sampled}
        rows.append([f"{name} (paper)", *(plus_minus(theirs.get(method), digits=1) for method in methods)])
    return markdown(["AUC, %", *(TITLES.get(method, method) for method in methods)], rows)


def differences(results: Results, tasks: Sequence[str], first: str, others: Sequence[str]) -> str:
    """Difference in points of AUC with both p-values."""
    rows: list[list[Any]] = []
    for task in tasks:
        compared = [results.compare(task, first, other) for other in others]
        if any(compared):
            rows.append([title(task), *(verdict(test) for test in compared)])
    return markdown([f"{first} minus", *(TITLES.get(other, other) for other in others)], rows)


def wins(results: Results, groups: Mapping[str, Sequence[str]], first: str, others: Sequence[str]) -> str:
    """How often ``first`` is better, worse or not told apart at 5 % (corrected) and 1 % (naive, as the papers)."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        for other in others:
            found = [test for task in tasks if (test := results.compare(task, first, other)) is not None]
            if found:
                mean = float(np.mean([test.difference for test in found]))
                rows.append([group, TITLES.get(other, other), f"{mean:+.2f}", *_counts(found)])
    header = ["tasks", f"{first} against", "mean difference", "corrected p < .05: better / worse", "naive p < .01"]
    return markdown([*header, "tasks in all"], rows)


def _counts(found: Sequence[PairedTest]) -> list[Any]:
    signs = [np.sign(test.difference) for test in found]
    strict = [sign * (test.p_corrected < 0.05) for sign, test in zip(signs, found, strict=True)]
    naive = [sign * (test.p_naive < 0.01) for sign, test in zip(signs, found, strict=True)]
    return [*(f"{each.count(1)} / {each.count(-1)}" for each in (strict, naive)), len(found)]


def ranks(results: Results, groups: Mapping[str, Sequence[Sequence[str]]], methods: Sequence[str]) -> str:
    """Mean rank of each method over collections of tasks, with Friedman's p and Nemenyi's critical difference.

    Topics of one collection share their documents, so the ranks of a method are averaged within each collection first
    and the methods ranked again by these averages: collections are what is counted. A single one allows no test.
    """
    rows: list[list[Any]] = []
    for group, collections in groups.items():
        full = [[t for t in tasks if all(results.has(t, method) for method in methods)] for tasks in collections]
        within = np.array([_ranks_within(results, tasks, methods) for tasks in full if tasks])
        counts = [sum(map(len, full)), len(within)]
        if len(within) > 1:
            found = rank(-within)
            tests = [_p(found.p_friedman), f"{found.critical_difference:.2f}"]
            rows.append([group, *(f"{each:.2f}" for each in found.mean_ranks), *tests, *counts])
        elif len(within) == 1:
            rows.append([group, *(f"{each:.2f}" for each in within[0]), "", "", *counts])
    header = ["mean rank, 1 is best", *(TITLES.get(method, method) for method in methods)]
    return markdown([*header, "p of all alike", "critical difference", "tasks", "counted as independent"], rows)


def _ranks_within(results: Results, tasks: Sequence[str], methods: Sequence[str]) -> Any:
    """Mean over these tasks of each method's rank by area, 1 the best; equal ones share theirs."""
    areas_here = [[results.area(task, method)[0] for method in methods] for task in tasks]
    return rankdata(-np.array(areas_here), axis=1).mean(axis=0)


def rarity(results: Results, tasks: Sequence[str], suffix: str) -> str:
    """MIBC less its peers, with all positives and with few."""
    rows: list[list[Any]] = []
    methods = ("MIBC", "MIBC, ridge chosen", "cost-sensitive", *CONTROLS)
    for task in (task for task in tasks if results.has(task + suffix, "MIBC")):
        for name in (task, task + suffix):
            areas_here = [f"{results.area(name, method)[0]:.2f}" for method in methods]
            pair = ("MIBC", "cost-sensitive"), ("MIBC, ridge chosen", "cost-sensitive")
            rows.append([title(name), *areas_here, *(verdict(results.compare(name, *each)) for each in pair)])
    header = ["AUC, %", *(TITLES.get(method, method) for method in methods)]
    return markdown([*header, "MIBC minus weights", "MIBC, ridge chosen, minus weights"], rows)


def thresholds(results: Results, tasks: Sequence[str], methods: Sequence[str]) -> str:
    """Balanced accuracy at the method's own threshold and at the one validation rows choose."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if results.has(task, methods[0])):
        pairs = [
            tuple(100 * results.values(task, method, name).mean() for name in ("natural", "moved"))
            for method in methods
        ]
        rows.append([title(task), *(f"{own:.1f} → {moved:.1f}" for own, moved in pairs)])
    return markdown(["balanced accuracy, %", *(TITLES.get(method, method) for method in methods)], rows)


def finding_all(results: Results, tasks: Sequence[str], methods: Sequence[str], judged: Sequence[str]) -> str:
    """False positive rate at which every test positive is found, mean over cuts; those judged less the weighted SVM."""
    rows: list[list[Any]] = []
    name = "false_rate_for_all"
    for task in (task for task in tasks if results.has(task, methods[0])):
        found = [100 * results.values(task, method, name).mean() for method in methods]
        tests = [verdict(results.compare(task, method, "cost-sensitive", name)) for method in judged]
        rows.append([title(task), *(f"{value:.1f}" for value in found), *tests])
    header = ["false positives for all positives, %", *(TITLES.get(method, method) for method in methods)]
    return markdown([*header, *(f"{method} minus weights" for method in judged)], rows)


def times(results: Results, tasks: Sequence[str], covariance: str, published: Mapping[str, tuple[int, int]]) -> str:
    """Tables 3 and 5: milliseconds of processor time per problem."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if results.has(task, "time")):
        found = results.of(task, "time")
        path, auto, chosen, alone = (np.mean([f[covariance][k] for f in found]) for k in _CLOCKED)
        weighted, easy, sampled, share = (
            np.mean([f[k] for f in found])
            for k in ("cost-sensitive", "converged only", "undersampling", "share converged")
        )
        whole = N_WEIGHTED * weighted / (found[0][covariance]["candidates"] * chosen)
        ratios = [weighted / path, weighted / auto, whole, weighted / alone, easy / path]
        ours = [f"{1000 * seconds:.2f}" for seconds in (path, auto, chosen, alone, weighted, sampled)]
        rows.append([title(task), *ours, f"{100 * share:.0f} %", *(f"{ratio:.1f}×" for ratio in ratios)])
    for name, (ours_ms, weighted_ms) in published.items():
        ratio = f"{weighted_ms / ours_ms:.1f}×"
        rows.append([f"{name} (paper)", ours_ms, "", "", "", weighted_ms, "", "", ratio, "", "", "", ""])
    header = ["ms per problem", "MIBC path", "ridge auto", "ridge chosen", "one fit alone", "weights, LIBLINEAR"]
    ratios_of = ["speed-up", "ridge auto", "ridge chosen, whole search", "alone", "against converged fits only"]
    return markdown([*header, "undersampling", "LIBLINEAR converged", *ratios_of], rows)


def plus_minus(each: tuple[float, float] | None, *, is_bold: bool = False, digits: int = 2) -> str:
    if each is None:
        return ""
    text = f"{each[0]:.{digits}f} ± {each[1]:.{digits}f}"
    return f"**{text}**" if is_bold else text


def verdict(test: PairedTest | None) -> str:
    """Difference, naive p / corrected p; a star where the corrected p is below .05."""
    if test is None:
        return ""
    star = "*" if test.p_corrected < 0.05 else ""
    return f"{test.difference:+.2f}{star} (p {_p(test.p_naive)} / {_p(test.p_corrected)})"


def _p(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def certificates(results: Results, tasks: Iterable[str], models: Sequence[str] = MODELS) -> list[Mapping[str, Any]]:
    """Every certificate of these models."""
    return [each["certificate"] for task in tasks for model in models for each in results.of(task, model)]


def promises(results: Results, groups: Mapping[str, Sequence[str]]) -> str:
    """Thresholds certified for a tolerance against the rates observed, and how often the promise was broken."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        found = certificates(results, tasks)
        if not found:
            continue
        at = np.array([each["at"] for each in found])
        for k, t in enumerate(TOLERANCES):
            trained, tested, true = at[:, k, 1], at[:, k, 2], at[:, k, 3]
            rates = [f"{100 * rate:.2f}" for rate in (trained.mean(), trained.max(), tested.mean(), tested.max())]
            broken = [int(np.sum(rate > t)) for rate in (trained, tested)]
            rows.append([f"{group}, {100 * t:g} %", *rates, f"{100 * true.mean():.1f}", *broken, len(found)])
    header = ["certified for", "training: mean, %", "largest, %", "test: mean, %", "largest, %", "positives found, %"]
    return markdown([*header, "training broken", "test broken", "models"], rows)


def bounds(results: Results, groups: Mapping[str, Sequence[str]]) -> str:
    """Remarks 1 and 2 at the method's own threshold."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        for model in MODELS:
            found = certificates(results, tasks, [model])
            if not found:
                continue
            bound, trained, tested = (np.array([each[k] for each in found]) for k in ("bound", "trained", "tested"))
            modelled = np.array([each["modelled"] if each["modelled"] is not None else np.nan for each in found])
            broken = "" if np.isnan(modelled).all() else int(np.sum(tested > modelled))
            medians = [f"{100 * np.median(each):.3f}" for each in (bound, trained, tested)]
            counts = [int(np.sum(trained > bound)), int(np.sum(tested > bound)), broken, len(found)]
            rows.append([f"{group}, {model}", *medians, *counts])
    header = ["own threshold", "bound, % (median)", "training, %", "test, %", "training over bound", "test over bound"]
    return markdown([*header, "test over diagonal bound", "models"], rows)


def gaps(results: Results, groups: Mapping[str, Sequence[str]]) -> str:
    """Relative duality gaps of the models that were judged, and how much of the grid converged."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        for method in CONVERGED:
            found = [each for task in tasks for each in results.of(task, method)]
            known = [each["gap"] for each in found if each.get("gap") is not None]
            if not known:
                continue
            whole = N_WEIGHTED if method == "cost-sensitive" else len(COSTS)
            fits = [each["n_converged"] / whole for each in found if "n_converged" in each]
            share = f"{100 * np.mean(fits):.0f} %" if fits else "all"
            shift = [each["auc_with_gap"] - each["auc"] for each in found if "auc_with_gap" in each]
            moved = f"{100 * np.mean(shift):+.2f}" if shift else ""
            rows.append([f"{group}, {TITLES.get(method, method)}", f"{np.median(known):.0e}", f"{max(known):.0e}"])
            rows[-1] += [share, moved]
    header = ["relative gap of the choice", "median", "largest", "share of the grid that converged"]
    return markdown([*header, "AUC solved again with a gap, points"], rows)


def kernel_areas(results: Results, tasks: Sequence[str]) -> str:
    """Kernel MIBC beside its linear form, the controls and an SVC that sees the negatives, over the same cuts."""
    rows: list[list[Any]] = []
    mine = "MIBC, ridge chosen"
    for task in (task for task in tasks if results.has(task, KERNEL_METHODS[0])):
        found = [plus_minus(results.area(task, method)) for method in KERNEL_METHODS]
        cuts = len(results.of(task, KERNEL_METHODS[0]))
        linear = [100 * results.values(task, method, "auc")[:cuts].mean() for method in (mine, *CONTROLS)]
        tests = [verdict(results.compare(task, method, mine)) for method in KERNEL_METHODS[:2]]
        rows.append([title(task), *found, *(f"{area:.2f}" for area in linear), *tests])
    header = ["AUC, %", "rbf MIBC", "poly MIBC", "rbf, no whitening", "rbf SVC", "linear MIBC, ridge chosen"]
    controls = (f"linear {TITLES[method]}" for method in CONTROLS)
    return markdown([*header, *controls, "rbf minus linear", "poly minus linear"], rows)


def unseen_words(results: Results, tasks: Sequence[str]) -> str:
    """How much of a score rests on words that no training negative holds."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if results.has(task, "words")):
        found = results.of(task, "words")
        shares = np.mean([each["shares"] for each in found], axis=0)
        tested = np.mean([each["tested"] for each in found])
        rows.append([title(task), *(f"{100 * share:.0f}" for share in (*shares, tested))])
    header = [f"ridge {ridge:g}: share of a training positive's score, %" for ridge in RIDGES_SHOWN]
    return markdown(["words no training negative holds", *header, "test positives with any, %"], rows)


TABLES = {
    "sets": lambda results: sets(results, (*DENSE, *RCV1, *RCV1_BINARY, *REUTERS)),
    "dense": lambda results: areas(results, DENSE, DENSE_METHODS, paper.AREAS_DENSE),
    "dense-tests": lambda results: differences(results, DENSE, "MIBC", _PEERS),
    "dense-tests-chosen": lambda results: differences(results, DENSE, "MIBC, ridge chosen", _PEERS),
    "rarity": lambda results: rarity(results, DENSE, "@100"),
    "times-dense": lambda results: times(results, DENSE, "full", paper.TIMES_DENSE),
    "text": lambda results: areas(results, TEXT, TEXT_METHODS, paper.AREAS_TEXT),
    "factor": lambda results: areas(results, TEXT, FACTOR_METHODS),
    "wins-factor": lambda results: wins(results, GROUPS, "factor, ridge chosen", ("MIBC, ridge chosen", *_PEERS)),
    "words": lambda results: unseen_words(results, (*REUTERS, *REUTERS_RARE)),
    "text-tests": lambda results: differences(results, TEXT, "MIBC", _PEERS),
    "text-tests-chosen": lambda results: differences(results, TEXT, "MIBC, ridge chosen", _PEERS),
    "ranks": lambda results: ranks(results, _RANKED, TEXT_METHODS),
    "wins": lambda results: wins(results, GROUPS, "MIBC", _PEERS),
    "wins-auto": lambda results: wins(results, GROUPS, "MIBC, ridge auto", ("MIBC", *_PEERS)),
    "wins-chosen": lambda results: wins(results, GROUPS, "MIBC, ridge chosen", ("MIBC", *_PEERS)),
    "times-text": lambda results: times(results, TEXT, "diagonal", paper.TIMES_TEXT),
    "times-factor": lambda results: times(results, TEXT, "factor", {}),
    "all-positives": lambda results: finding_all(results, TEXT, (*_MINE, *_PEERS), _MINE),
    "thresholds": lambda results: thresholds(results, (*DENSE, *TEXT), (*_MINE, *_PEERS)),
    "bounds": lambda results: bounds(results, KINDS),
    "promises": lambda results: promises(results, KINDS),
    "kernels": lambda results: kernel_areas(results, DENSE),
    "gaps": lambda results: gaps(results, KINDS),
}
QUICK = ("dense", "text", "times-dense", "times-text")
