"""The tables of the page: ranks, differences, claims; then where methods do well or badly, by set and kind of set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from studies.across import sets
from studies.across.methods import CORELESS, METHODS, RANKED, label
from studies.across.summary import (
    BASELINE,
    MEASURES,
    UNMOVED,
    Against,
    Results,
    against,
    compare,
    convergence,
    facts_of,
    refused,
    seconds,
)
from studies.protocol.tables import markdown, probability

# what the papers claim of their methods, or a user would ask
CLAIMS = (
    ("AsymmetricSVC", "SVC", "tauc_0.1"),
    ("AsymmetricSVC", "SVC", "tauc_0.01"),
    (CORELESS, "AsymmetricSVC as it comes", "tauc_0.1"),
    (CORELESS, "AsymmetricSVC as it comes", "tauc_0.01"),
    ("KernelScaledSVC", "SVC", "own_balanced_accuracy"),
    ("KernelScaledSVC balanced", "SVC balanced", "own_balanced_accuracy"),
    ("KernelScaledSVC balanced", "SVC balanced", "tauc_0.1"),
    ("MomentSVC", "undersampling + SVC", "auc"),
    ("MomentSVC", "SVC balanced", "auc"),
    ("MomentSVC", "Fisher direction", "auc"),
    ("MomentSVC", "logistic regression", "auc"),
    ("MomentSVC rbf", "MomentSVC", "auc"),
    ("CovarianceOneClassSVM", "OneClassSVM", "auc"),
    ("CovarianceOneClassSVM as it comes", "OneClassSVM, ν = 0.5, as it comes", "auc"),
    ("CovarianceOneClassSVM as it comes", "OneClassSVM, ν = 0.5, as it comes", "tauc_0.1"),
    ("CovarianceOneClassSVM as it comes", "OneClassSVM, ν = 0.5, as it comes", "own_balanced_accuracy"),
    ("CovarianceOneClassSVM as it comes", "OneClassSVM, ν = 0.2, as it comes", "tauc_0.1"),
    ("CovarianceOneClassSVM as it comes", "OneClassSVM, ν = 0.2, as it comes", "own_balanced_accuracy"),
    ("OneClassSVM as it comes", "OneClassSVM, ν = 0.5, as it comes", "tauc_0.1"),
    ("OneClassSVM as it comes", "OneClassSVM, ν = 0.5, as it comes", "own_balanced_accuracy"),
    ("MomentSVC, ν = 0.1, as it comes", "MomentSVC as it comes", "tauc_0.1"),
    ("MomentSVC, ν = 0.1, as it comes", "MomentSVC as it comes", "own_balanced_accuracy"),
    ("OneClassSVM", "OneClassSVM on positives", "auc"),
    ("OneClassSVM", "PyOD KNN", "auc"),
    ("OneClassSVM", "PyOD IForest", "auc"),
    ("SVC", "SVC balanced", "tauc_0.01"),
)
WORDS = MEASURES | {"own_balanced_accuracy": "balanced accuracy at its own threshold"}
STRAIGHT = ("MomentSVC", "Fisher direction", "logistic regression")
N_LOSSES = 6
HARD = 0.6  # 0.1-AUC of the baseline
KINDS: dict[str, Callable[[dict[str, float]], bool]] = {
    "≤ 30 training positives": lambda facts: facts["positives"] <= 30,
    "> 30 training positives": lambda facts: facts["positives"] > 30,
    "≥ 30 features": lambda facts: facts["features"] >= 30,
    "1:15 or rarer": lambda facts: facts["ratio"] >= 15,
    f"hard (0.1-AUC of the baseline < {HARD})": lambda facts: facts["baseline"] < HARD,
    f"easy (≥ {HARD})": lambda facts: facts["baseline"] >= HARD,
}


def numbers(results: Results) -> dict[str, Any]:
    """Everything the page says, as plain data."""
    families = results.families()
    return {
        "core_minutes": results.finished.minutes(1),
        "sets": {name: facts_of(results, name) | {"splits": results.splits(name)} for name in results.sets},
        "standings": {
            measure: {
                which: _standing(results, measure, results.among(measure, of))
                for which, of in (("families", families), ("all", results.sets))
            }
            for measure in MEASURES
        },
        "against_baseline": {
            measure: {m: vars(a) for m, a in against(results, measure, results.among(measure, families)).items()}
            for measure in MEASURES
        },
        "seconds": {method: seconds(results, method) for method in METHODS},
        "convergence": {method: found for method in METHODS if (found := convergence(results, method))},
        "refused": {method: found for method in METHODS if (found := refused(results, method))},
    }


def _standing(results: Results, measure: str, among: Sequence[str]) -> dict[str, Any]:
    found = results.standing(measure, among)
    return {
        "n_sets": len(among),
        "p_friedman": found.ranking.p_friedman,
        "critical_difference": found.ranking.critical_difference,
        "mean_ranks": found.ranks,
        "means": found.means,
    }


def ranks(results: Results, among: Sequence[str]) -> str:
    """Mean score and mean rank by every measure, best 0.1-AUC first."""
    standings = {measure: results.standing(measure, results.among(measure, among)) for measure in MEASURES}
    header = ["method", *[f"{word} ({len(standings[m].sets)} sets)" for m, word in MEASURES.items()]]
    own = {m: np.mean([results.own_decisions(s, m).mean() for s in among]) for m in RANKED}
    header.append("balanced accuracy at its own threshold")
    lines = []
    for method in sorted(RANKED, key=standings["tauc_0.1"].ranks.__getitem__):
        cells = [f"{s.means[method]:.3f} · {s.ranks[method]:.1f}" for s in standings.values()]
        lines.append([label(method), *cells, f"{own[method]:.3f}"])
    unmoved = standings["balanced_accuracy"]
    lines.append([UNMOVED, "", "", "", f"{unmoved.means[UNMOVED]:.3f} · {unmoved.ranks[UNMOVED]:.1f}", ""])
    limits = [f"{s.ranking.critical_difference:.1f}" for s in standings.values()]
    lines.append(["*critical difference of ranks*", *limits, ""])
    lines.append(["*p of Friedman's test*", *[_exponent(s.ranking.p_friedman) for s in standings.values()], ""])
    return markdown(header, lines)


def versus(results: Results, measure: str) -> str:
    """Every method against the baseline, one set per family."""
    among = results.among(measure, results.families())
    found = against(results, measure, among)
    ordered = sorted(found.items(), key=lambda item: -item[1].difference)
    lines = [[label(method), *_outcome(each)] for method, each in ordered]
    header = ["method", f"mean difference in {MEASURES[measure]}", "won : lost", "of these surely", "p over sets"]
    return markdown(header, lines)


def claims(results: Results) -> str:
    """Pairs that a paper claims something about."""
    families = results.families()
    found = compare(results, CLAIMS, lambda measure: results.among(measure, families))
    lines = [[a, b, WORDS[m], *_outcome(each)] for (a, b, m), each in zip(CLAIMS, found, strict=True)]
    return markdown(
        ["method", "against", "by", "mean difference", "won : lost", "of these surely", "p over sets"], lines
    )


def _outcome(found: Against) -> list[str]:
    sets_won, surely = f"{found.won} : {found.lost}", f"{found.surely_won} : {found.surely_lost}"
    return [f"{found.difference:+.3f}", sets_won, surely, probability(found.p_holm)]


def _exponent(p: float) -> str:
    """So small that only its order of magnitude says anything."""
    return f"{p:.0e}" if p < 0.001 else f"{p:.3f}"


def defaults(results: Results) -> str:
    """Estimators as they come beside the same after a search."""
    header = ["as it comes → searched", "AUC", "0.1-AUC", "balanced accuracy", "balanced accuracy at its own threshold"]
    ways = [lambda s, m, each=each: results.values(s, m, each) for each in ("auc", "tauc_0.1", "balanced_accuracy")]
    ways.append(results.own_decisions)
    lines = []
    for name in (name for name, method in METHODS.items() if method.kind == "default"):
        bare = name.removesuffix(" as it comes").rstrip(",")
        pair = name, bare.split(",")[0]
        means = [[np.mean([way(s, m).mean() for s in results.families()]) for m in pair] for way in ways]
        lines.append([bare, *[f"{before:.3f} → {after:.3f}" for before, after in means]])
    return markdown(header, lines)


def times(results: Results) -> str:
    """CPU seconds, one thread."""
    found = {method: seconds(results, method) for method in RANKED}
    lines = [
        [
            label(method),
            f"{1e3 * t['fit']:.0f}",
            f"{t['fit_ratio']:.2f}",
            f"{1e3 * t['search']:.0f}" if METHODS[method].grid else "–",
            f"{t['search_ratio']:.2f}" if METHODS[method].grid else "–",
        ]
        for method, t in sorted(found.items(), key=lambda item: item[1]["fit_ratio"])
    ]
    return markdown(["method", "fit, ms", f"× {BASELINE}", "search, ms", f"× {BASELINE}"], lines)


def endings(results: Results) -> str:
    """Status and relative gap of the final fits; no gap where a method records none."""
    lines = []
    for method in METHODS:
        found = convergence(results, method)
        if found:
            status = ", ".join(f"{word} {count}" for word, count in sorted(found["status"].items()))
            gaps = [f"{found[each]:.1e}" if each in found else "–" for each in ("median_gap", "largest_gap")]
            lines.append([method, status, *gaps])
    return markdown(["method", "ended", "median relative gap", "largest"], lines)


def refusals(results: Results) -> str:
    """Where resamplers refused the rows and the classifier was fitted on them as they were."""
    lines = []
    for method in METHODS:
        if found := refused(results, method):
            fits, folds = (f"{found[f'{each}_left']} of {found[each]}" for each in ("fits", "folds"))
            lines.append([method, fits, folds, ", ".join(found["sets"]) or "–"])
    return markdown(["method", "final fits not resampled", "folds not resampled", "sets"], lines)


def kinds(results: Results) -> str:
    """Mean rank by 0.1-AUC among sets of one kind, all sets."""
    facts = {name: facts_of(results, name) for name in results.sets}
    columns, header = [], ["method"]
    for kind, belongs in KINDS.items():
        members = [name for name in results.sets if belongs(facts[name])]
        if len(members) >= 2:
            columns.append(results.standing("tauc_0.1", members).ranks)
            header.append(f"{kind} ({len(members)})")
    order = sorted(RANKED, key=lambda method: np.mean([column[method] for column in columns]))
    return markdown(header, [[label(m), *[f"{column[m]:.1f}" for column in columns]] for m in order])


def losses(results: Results) -> str:
    """Sets on which MomentSVC is farthest behind the baseline by 0.1-AUC, and other straight boundaries there."""
    base = {name: results.values(name, BASELINE, "tauc_0.1").mean() for name in results.families()}
    behind = {
        name: [results.values(name, method, "tauc_0.1").mean() - of_baseline for method in STRAIGHT]
        for name, of_baseline in base.items()
    }
    worst = sorted(behind, key=lambda name: behind[name][0])[:N_LOSSES]
    lines = [[name, f"{base[name]:.3f}", *[f"{d:+.3f}" for d in behind[name]]] for name in worst]
    for word, members in (
        ("*mean of hard sets*", [name for name in base if base[name] < HARD]),
        ("*mean of easy sets*", [name for name in base if base[name] >= HARD]),
    ):
        means = np.mean([behind[name] for name in members], axis=0) if members else []
        lines.append([f"{word} ({len(members)})", "", *([f"{d:+.3f}" for d in means] or ["–"] * len(STRAIGHT))])
    return markdown(["set", f"0.1-AUC of {BASELINE}", *[label(method) for method in STRAIGHT]], lines)


def of_sets(results: Results) -> str:
    """The sets, and what the baseline and the best method reach on each."""
    lines = []
    for name in sorted(results.sets, key=str.lower):
        facts = facts_of(results, name)
        scores = {m: results.values(name, m, "tauc_0.1").mean() for m in RANKED}
        best = max(scores, key=scores.__getitem__)
        family = next(f for f, members in sets.FAMILIES.items() if name in members)
        lines.append(
            [
                name,
                family if name in sets.FIRST else f"({family})",
                facts["features"],
                f"{facts['positives']} of {facts['rows']}",
                f"{facts['test_positives']} of {facts['test_rows']}",
                results.splits(name),
                f"{scores[BASELINE]:.3f}",
                f"{scores[best]:.3f} {best}",
            ]
        )
    header = ["set", "family", "features", "training positives", "test positives", "splits", f"0.1-AUC of {BASELINE}"]
    return markdown([*header, "best"], lines)


TABLES: dict[str, Callable[[Results], str]] = {
    "ranks": lambda results: ranks(results, results.families()),
    "ranks_all": lambda results: ranks(results, results.sets),
    "against_tauc": lambda results: versus(results, "tauc_0.1"),
    "against_auc": lambda results: versus(results, "auc"),
    "against_tauc_001": lambda results: versus(results, "tauc_0.01"),
    "against_balanced_accuracy": lambda results: versus(results, "balanced_accuracy"),
    "claims": claims,
    "kinds": kinds,
    "losses": losses,
    "defaults": defaults,
    "times": times,
    "convergence": endings,
    "refused": refusals,
    "sets": of_sets,
}
QUICK = tuple(TABLES)
