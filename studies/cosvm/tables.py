"""The tables of the page, from the summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from studies.cosvm import paper
from studies.cosvm.experiment import MADE
from studies.cosvm.targets import ARRAYS, READINGS, SCALINGS, TITLES
from studies.protocol.page import markdown
from studies.protocol.statistics import rank

Summary = Mapping[str, Any]
VARIANTS = (
    "k-NN",
    "k-NN, k = 5",
    "Parzen",
    "Gaussian",
    "SVDD",
    "SVDD, toolbox width",
    "OSVM",
    "OSVM, consistent width",
    "COSVM",
    "COSVM, trace",
    "COSVM, modified",
)
_GUIDED = ("raw: paper's Δ", "raw: Δ at trace", "standard: paper's Δ", "standard: Δ at trace")


def pages(found: Summary) -> dict[str, str]:
    """The tables of README.md."""
    return {
        "facts": _facts(found),
        "table_1": _beside_the_paper(found, "raw"),
        "table_1_standard": _beside_the_paper(found, "standard"),
        "gain": _gain(found),
        "ranks": _rank_table(found),
        "readings": _readings(found),
        "scaling": _scaling(found),
        "thresholds": _thresholds(found),
        "rule": _rule_table(found),
        "hindsight": _hindsight(found),
        "arrays": _arrays(found),
        "made": _made(found),
    }


def _facts(found: Summary) -> str:
    counts = found["models"]
    rows = [
        ["models per problem, Table 1", counts["table"]],
        ["models per problem, references, η and width", counts["eta"]],
        ["largest relative duality gap of any fit", f"{found['largest_relative_gap']:.0e}"],
        ["CPU minutes, one thread", found["cpu_minutes"]],
    ]
    return markdown(["", ""], rows)


def _beside_the_paper(found: Summary, scaling: str) -> str:
    """AUC of ours, the paper's in brackets; the references see outliers in training."""
    rows = []
    for target, title in TITLES.items():
        ours, theirs = found["descriptions"][scaling][target], paper.TABLE_1[target]
        pairs = [_per_cent(ours[m]["auc"]) + f" ({p:.1f})" for m, p in zip(paper.METHODS, theirs, strict=True)]
        references = found["references"]["standard"][target]
        rows.append([title, *pairs, *(_per_cent(references[name]["auc"]) for name in ("Fisher", "SVC"))])
    means = [np.mean([found["descriptions"][scaling][t][m]["auc"] for t in TITLES]) for m in paper.METHODS]
    of_paper = np.mean(list(paper.TABLE_1.values()), axis=0)
    both = [_per_cent(mean) + f" ({p:.1f})" for mean, p in zip(means, of_paper, strict=True)]
    two_class = [np.mean([found["references"]["standard"][t][n]["auc"] for t in TITLES]) for n in ("Fisher", "SVC")]
    rows.append(["**mean**", *both, *map(_per_cent, two_class)])
    return markdown(["target", *paper.METHODS, "*Fisher*", "*SVC*"], rows)


def _gain(found: Summary) -> str:
    """COSVM less the one-class SVM: the paper's difference, ours with its corrected interval and both p."""
    rows = []
    for target, title in TITLES.items():
        of = dict(zip(paper.METHODS, paper.TABLE_1[target], strict=True))
        line = [title, f"{of['COSVM'] - of['OSVM']:+.1f}"]
        for scaling in ("raw", "standard"):
            for method in ("COSVM", "COSVM, trace"):
                line.append(_difference(found["tests"][scaling][target][method]["OSVM"]))
        rows.append(line)
    return markdown(["target", "paper", *_GUIDED], rows)


def _difference(test: Mapping[str, float]) -> str:
    text = f"{100 * test['difference']:+.1f} ± {100 * test['half_width']:.1f}"
    return f"**{text}**" if test["p_corrected"] < 0.05 else text


def _rank_table(found: Summary) -> str:
    of_paper = rank(list(paper.TABLE_1.values()))
    rows = [["paper", *(f"{r:.2f}" for r in of_paper.mean_ranks), _probability(of_paper.p_friedman)]]
    for scaling, ranking in found["ranks"].items():
        ranks = [f"{ranking['mean_ranks'][method]:.2f}" for method in paper.METHODS]
        rows.append([f"ours, {scaling}", *ranks, _probability(ranking["p_friedman"])])
    return markdown(["mean rank, 1 is best", *paper.METHODS, "p (Friedman)"], rows)


def _readings(found: Summary) -> str:
    """Mean distance to the paper's AUC under every reading: which one did the paper mean?"""
    rows = []
    for scaling in SCALINGS:
        for reading in READINGS:
            line = [f"{scaling}, {reading}"]
            for j, method in enumerate(paper.METHODS):
                problems = found["descriptions"][scaling]
                ours = [100 * problems[t][method]["readings"][reading] for t in TITLES]
                line.append(f"{np.mean(np.abs(np.array(ours) - [paper.TABLE_1[t][j] for t in TITLES])):.1f}")
            rows.append([*line, f"{np.mean([float(value) for value in line[1:]]):.1f}"])
    return markdown(["mean distance to the paper", *paper.METHODS, "all"], rows)


def _scaling(found: Summary) -> str:
    """Mean AUC over the eight problems of all variants, for every scaling of the features."""
    rows = []
    for method in VARIANTS:
        means = [np.mean([found["descriptions"][s][t][method]["auc"] for t in TITLES]) for s in SCALINGS]
        rows.append([method, *map(_per_cent, means)])
    return markdown(["mean AUC over the eight", *SCALINGS], rows)


def _thresholds(found: Summary) -> str:
    """Unseen targets accepted, outliers rejected, and the mean of both, on standardised features."""
    methods = [*paper.METHODS, "COSVM, trace", "COSVM, modified"]
    sources = [(m, found["descriptions"]["standard"]) for m in methods]
    sources += [(m, found["references"]["standard"]) for m in ("Fisher", "SVC")]
    rows = []
    for method, problems in sources:
        rates = [[problems[t][method][key] for t in TITLES] for key in ("accepted", "rejected")]
        accepted, rejected = np.mean(rates, axis=1)
        name = f"*{method}, threshold moved*" if method in ("Fisher", "SVC") else method
        rows.append([name, _per_cent(accepted), _per_cent(rejected), _per_cent((accepted + rejected) / 2)])
    return markdown(["mean over the eight", "targets accepted", "outliers rejected", "balanced accuracy"], rows)


def _rule_table(found: Summary) -> str:
    rows = []
    for target, title in TITLES.items():
        line = [title]
        for scaling in ("raw", "standard"):
            for method in ("COSVM", "COSVM, trace"):
                rule = found["rule"][scaling][target][method]
                line.append(f"{rule['eta']:.2f}, {100 * rule['stays']:.0f} %, {100 * rule['reached']:.0f} %")
        rows.append(line)
    header = [
        "η, stays at 1, reaches",
        "raw: paper's Δ",
        "raw: Δ at trace",
        "standard: paper's Δ",
        "standard: Δ at trace",
    ]
    return markdown(header, rows)


def _hindsight(found: Summary) -> str:
    """The best AUC over all widths and over all η, chosen with the test rows in sight: no rule can do better."""
    rows = []
    for target, title in TITLES.items():
        widths, etas = found["width"]["standard"][target], found["eta"]["standard"][target]
        of = dict(zip(paper.METHODS, paper.TABLE_1[target], strict=True))
        by_method = [
            max((p for p in widths if p["method"] == method), key=lambda p: p["auc"]) for method in ("OSVM", "COSVM")
        ]
        eta = max((p for p in etas if p["score"] == "plain"), key=lambda p: p["auc"])
        best = [f"{100 * p['auc']:.1f} ({p['width']:g})" for p in by_method]
        plain = next(p for p in etas if p["eta"] == 1 and p["score"] == "plain")
        line = [title, f"{of['OSVM']:.1f}", f"{of['COSVM']:.1f}", _per_cent(plain["auc"])]
        rows.append([*line, f"{100 * eta['auc']:.1f} ({eta['eta']:g}, {eta['scale']})", *best])
    header = ["target", "paper OSVM", "paper COSVM", "OSVM", "best η (η, Δ)", "OSVM, best width", "COSVM, best width"]
    return markdown(header, rows)


def _arrays(found: Summary) -> str:
    rows = []
    for target in ("colon+", "colon-"):
        for scaling in ("raw", "standard", ARRAYS):
            problem = found["descriptions"][scaling][target]
            rows.append([f"{TITLES[target]}, {scaling}", *(_per_cent(problem[m]["auc"]) for m in paper.METHODS)])
        rows.append([f"{TITLES[target]}, paper", *(f"{value:.1f}" for value in paper.TABLE_1[target])])
    return markdown(["AUC", *paper.METHODS], rows)


def _made(found: Summary) -> str:
    methods = [*paper.METHODS, "COSVM, trace", "COSVM, modified"]
    problems = found["descriptions"]["raw"]
    rows = [[f"outliers {side}", *(_per_cent(problems[side][m]["auc"]) for m in methods)] for side in MADE]
    return markdown(["AUC", *methods], rows)


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2f}"
