"""The tables of the page, from the outcome of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from studies.moments import paper
from studies.moments.grids import COSTS, SHARES_OF_RATIO
from studies.moments.outcome import Outcome
from studies.moments.sets import title
from studies.protocol.page import markdown
from studies.protocol.statistics import PairedTest, rank

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


def sets(outcome: Outcome, tasks: Sequence[str]) -> str:
    """Table 1."""
    rows = [[f"{name} (paper)", 150, p, n, f"{n / p:.1f}"] for name, (p, n) in paper.SETS.items()]
    for task in (task for task in tasks if outcome.has(task, "count")):
        known = outcome.results(task, "count")[0]
        n_positive, n_negative = known["n_positive"], known["n_negative"]
        rows.append([title(task), known["n_features"], n_positive, n_negative, f"{n_negative / n_positive:.1f}"])
    return markdown(["set", "features", "positives", "negatives", "ratio"], rows)


def areas(
    outcome: Outcome, tasks: Sequence[str], methods: Sequence[str], published: Mapping[str, Any] | None = None
) -> str:
    """Tables 2 and 4: AUC in per cent, the best of ours in bold."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if outcome.has(task, methods[0])):
        found = [outcome.area(task, method) if outcome.has(task, method) else None for method in methods]
        best = max(mean for mean, _ in filter(None, found))
        rows.append([title(task), *(plus_minus(each, is_bold=each is not None and each[0] == best) for each in found)])
    for name, (ours, weighted, sampled) in (published or {}).items():
        theirs = {"MIBC": ours, "cost-sensitive": weighted, "undersampling": sampled}
        rows.append([f"{name} (paper)", *(plus_minus(theirs.get(method), digits=1) for method in methods)])
    return markdown(["AUC, %", *(TITLES.get(method, method) for method in methods)], rows)


def differences(outcome: Outcome, tasks: Sequence[str], first: str, others: Sequence[str]) -> str:
    """Difference in points of AUC with both p-values."""
    rows: list[list[Any]] = []
    for task in tasks:
        compared = [outcome.compare(task, first, other) for other in others]
        if any(compared):
            rows.append([title(task), *(verdict(test) for test in compared)])
    return markdown([f"{first} minus", *(TITLES.get(other, other) for other in others)], rows)


def wins(outcome: Outcome, groups: Mapping[str, Sequence[str]], first: str, others: Sequence[str]) -> str:
    """How often ``first`` is better, worse or not told apart at 5 % (corrected) and 1 % (naive, as the papers)."""
    rows: list[list[Any]] = []
    for group, tasks in groups.items():
        for other in others:
            found = [test for task in tasks if (test := outcome.compare(task, first, other)) is not None]
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


def ranks(outcome: Outcome, groups: Mapping[str, Sequence[Sequence[str]]], methods: Sequence[str]) -> str:
    """Mean rank of each method over collections of tasks, with Friedman's p and Nemenyi's critical difference.

    Topics of one collection share their documents, so the ranks of a method are averaged within each collection first
    and the methods ranked again by these averages: collections are what is counted. A single one allows no test.
    """
    rows: list[list[Any]] = []
    for group, collections in groups.items():
        full = [[t for t in tasks if all(outcome.has(t, method) for method in methods)] for tasks in collections]
        within = np.array([_ranks_within(outcome, tasks, methods) for tasks in full if tasks])
        counts = [sum(map(len, full)), len(within)]
        if len(within) > 1:
            found = rank(-within)
            tests = [_p(found.p_friedman), f"{found.critical_difference:.2f}"]
            rows.append([group, *(f"{each:.2f}" for each in found.mean_ranks), *tests, *counts])
        elif len(within) == 1:
            rows.append([group, *(f"{each:.2f}" for each in within[0]), "", "", *counts])
    header = ["mean rank, 1 is best", *(TITLES.get(method, method) for method in methods)]
    return markdown([*header, "p of all alike", "critical difference", "tasks", "counted as independent"], rows)


def _ranks_within(outcome: Outcome, tasks: Sequence[str], methods: Sequence[str]) -> Any:
    """Mean over these tasks of each method's rank by area, 1 the best; equal ones share theirs."""
    areas_here = [[outcome.area(task, method)[0] for method in methods] for task in tasks]
    return rankdata(-np.array(areas_here), axis=1).mean(axis=0)


def rarity(outcome: Outcome, tasks: Sequence[str], suffix: str) -> str:
    """MIBC less its peers, with all positives and with few."""
    rows: list[list[Any]] = []
    methods = ("MIBC", "MIBC, ridge chosen", "cost-sensitive", *CONTROLS)
    for task in (task for task in tasks if outcome.has(task + suffix, "MIBC")):
        for name in (task, task + suffix):
            areas_here = [f"{outcome.area(name, method)[0]:.2f}" for method in methods]
            pair = ("MIBC", "cost-sensitive"), ("MIBC, ridge chosen", "cost-sensitive")
            rows.append([title(name), *areas_here, *(verdict(outcome.compare(name, *each)) for each in pair)])
    header = ["AUC, %", *(TITLES.get(method, method) for method in methods)]
    return markdown([*header, "MIBC minus weights", "MIBC, ridge chosen, minus weights"], rows)


def thresholds(outcome: Outcome, tasks: Sequence[str], methods: Sequence[str]) -> str:
    """Balanced accuracy at the method's own threshold and at the one validation rows choose."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if outcome.has(task, methods[0])):
        pairs = [
            tuple(100 * outcome.values(task, method, name).mean() for name in ("natural", "moved"))
            for method in methods
        ]
        rows.append([title(task), *(f"{own:.1f} → {moved:.1f}" for own, moved in pairs)])
    return markdown(["balanced accuracy, %", *(TITLES.get(method, method) for method in methods)], rows)


def finding_all(outcome: Outcome, tasks: Sequence[str], methods: Sequence[str], judged: Sequence[str]) -> str:
    """False positive rate at which every test positive is found, mean over cuts; those judged less the weighted SVM."""
    rows: list[list[Any]] = []
    name = "false_rate_for_all"
    for task in (task for task in tasks if outcome.has(task, methods[0])):
        found = [100 * outcome.values(task, method, name).mean() for method in methods]
        tests = [verdict(outcome.compare(task, method, "cost-sensitive", name)) for method in judged]
        rows.append([title(task), *(f"{value:.1f}" for value in found), *tests])
    header = ["false positives for all positives, %", *(TITLES.get(method, method) for method in methods)]
    return markdown([*header, *(f"{method} minus weights" for method in judged)], rows)


def times(outcome: Outcome, tasks: Sequence[str], covariance: str, published: Mapping[str, tuple[int, int]]) -> str:
    """Tables 3 and 5: milliseconds of processor time per problem."""
    rows: list[list[Any]] = []
    for task in (task for task in tasks if outcome.has(task, "time")):
        found = outcome.results(task, "time")
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
