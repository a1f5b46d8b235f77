"""The tables of the page, from the summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from studies.cosvm import paper
from studies.cosvm.sets import ARRAYS, MADE, READINGS, SCALINGS, TITLES
from studies.protocol.statistics import rank
from studies.protocol.tables import Test, adjusted, difference, markdown, probability

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
REFERENCES = ("Fisher", "SVC")
"""No one-class methods: they see outliers in training. Slanted in every table."""
_GUIDED = ("raw: paper's Δ", "raw: Δ at trace", "standard: paper's Δ", "standard: Δ at trace")


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
        rows.append([title, *pairs, *_references(found, scaling, target)])
    means = [np.mean([found["descriptions"][scaling][t][m]["auc"] for t in TITLES]) for m in paper.METHODS]
    of_paper = np.mean(list(paper.TABLE_1.values()), axis=0)
    both = [_per_cent(mean) + f" ({p:.1f})" for mean, p in zip(means, of_paper, strict=True)]
    rows.append(["**mean**", *both, *(_mean_reference(found, scaling, name) for name in REFERENCES)])
    return markdown(["target", *paper.METHODS, *_slanted(REFERENCES)], rows)


def _references(found: Summary, scaling: str, target: str) -> list[str]:
    return [_per_cent(found["references"][scaling][target][name]["auc"]) for name in REFERENCES]


def _mean_reference(found: Summary, scaling: str, name: str) -> str:
    return _per_cent(np.mean([found["references"][scaling][target][name]["auc"] for target in TITLES]))


def _slanted(names: Iterable[str]) -> list[str]:
    return [f"*{name}*" for name in names]


def _gain(found: Summary) -> str:
    """COSVM less the one-class SVM: the paper's difference, and ours with its corrected interval."""
    tests = _gains(found)
    by_test, rows = adjusted(tests), []
    for target, title in TITLES.items():
        of = dict(zip(paper.METHODS, paper.TABLE_1[target], strict=True))
        ours = [difference(tests[title, column], by_test[title, column]) for column in _GUIDED]
        rows.append([title, f"{of['COSVM'] - of['OSVM']:+.1f}", *ours])
    return markdown(["target", "paper", *_GUIDED], rows)


def _gains(found: Summary) -> dict[tuple[str, str], Test]:
    """The tests of that table, by line and column."""
    each = [(scaling, method) for scaling in ("raw", "standard") for method in ("COSVM", "COSVM, trace")]
    return {
        (title, column): found["tests"][scaling][target][method]["OSVM"]
        for target, title in TITLES.items()
        for column, (scaling, method) in zip(_GUIDED, each, strict=True)
    }


def _single_tests(found: Summary) -> str:
    """What would be below 0.05 if it were the only test made, with all three p."""
    tests = _gains(found)
    by_test, rows = adjusted(tests), []
    for (title, column), test in tests.items():
        if test["p_corrected"] < 0.05:
            p = [test["p_naive"], test["p_corrected"], by_test[title, column]]
            shown = [probability(each, 2) for each in p]
            rows.append([title, column, difference(test, by_test[title, column]), *shown])
    header = ["target", "features and Δ", "COSVM − OSVM", "p naive", "p corrected"]
    return markdown([*header, f"p Holm, of {len(tests)}"], rows)


def _rank_table(found: Summary) -> str:
    """Ranks among the six; of a reference the mean rank it would have if it alone joined them."""
    of_paper = rank(list(paper.TABLE_1.values()))
    rows = [["paper", *(f"{r:.2f}" for r in of_paper.mean_ranks), probability(of_paper.p_friedman, 2), "–", "–"]]
    for scaling, ranking in found["ranks"].items():
        ranks = [f"{ranking['mean_ranks'][method]:.2f}" for method in paper.METHODS]
        joined = [f"{_rank_if_joined(found, scaling, name):.2f}" for name in REFERENCES]
        rows.append([f"ours, {scaling}", *ranks, probability(ranking["p_friedman"], 2), *joined])
    return markdown(["mean rank, 1 is best", *paper.METHODS, "p (Friedman)", *_slanted(REFERENCES)], rows)


def _rank_if_joined(found: Summary, scaling: str, name: str) -> float:
    ranks = []
    for target in TITLES:
        own = found["references"][scaling][target][name]["auc"]
        others = np.array([found["descriptions"][scaling][target][method]["auc"] for method in paper.METHODS])
        ranks.append(1 + np.sum(others > own) + np.sum(others == own) / 2)
    return float(np.mean(ranks))


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
    rows += [[f"*{name}*", *(_mean_reference(found, s, name) for s in SCALINGS)] for name in REFERENCES]
    return markdown(["mean AUC over the eight", *SCALINGS], rows)


def _thresholds(found: Summary) -> str:
    """Unseen targets accepted, outliers rejected, and the mean of both, on standardised features."""
    methods = [*paper.METHODS, "COSVM, trace", "COSVM, modified"]
    sources = [(m, found["descriptions"]["standard"]) for m in methods]
    sources += [(m, found["references"]["standard"]) for m in REFERENCES]
    rows = []
    for method, problems in sources:
        rates = [[problems[t][method][key] for t in TITLES] for key in ("accepted", "rejected")]
        accepted, rejected = np.mean(rates, axis=1)
        name = f"*{method}, threshold moved*" if method in REFERENCES else method
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
    return markdown(["η, stays at 1, reaches", *_GUIDED], rows)


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
            ours = [_per_cent(problem[m]["auc"]) for m in paper.METHODS]
            rows.append([f"{TITLES[target]}, {scaling}", *ours, *_references(found, scaling, target)])
        rows.append([f"{TITLES[target]}, paper", *(f"{value:.1f}" for value in paper.TABLE_1[target]), "–", "–"])
    return markdown(["AUC", *paper.METHODS, *_slanted(REFERENCES)], rows)


def _made(found: Summary) -> str:
    methods = [*paper.METHODS, "COSVM, trace", "COSVM, modified"]
    problems = found["descriptions"]["raw"]
    rows = []
    for side in MADE:
        ours = [_per_cent(problems[side][m]["auc"]) for m in methods]
        rows.append([f"outliers {side}", *ours, *_references(found, "raw", side)])
    return markdown(["AUC", *methods, *_slanted(REFERENCES)], rows)


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


TABLES = {
    "facts": _facts,
    "table_1": lambda found: _beside_the_paper(found, "raw"),
    "table_1_standard": lambda found: _beside_the_paper(found, "standard"),
    "gain": _gain,
    "single_tests": _single_tests,
    "ranks": _rank_table,
    "readings": _readings,
    "scaling": _scaling,
    "thresholds": _thresholds,
    "rule": _rule_table,
    "hindsight": _hindsight,
    "arrays": _arrays,
    "made": _made,
}
QUICK = ("facts", "made")
