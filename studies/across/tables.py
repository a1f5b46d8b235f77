"""The numbers of the page, from the finished cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from studies.across import sets
from studies.across.comparison import BASELINE, MEASURES, UNMOVED, Against, Results, against, compare
from studies.across.methods import METHODS, RANKED
from studies.protocol.page import markdown

KINDS: dict[str, Callable[[dict[str, float]], bool]] = {
    "≤ 30 training positives": lambda facts: facts["positives"] <= 30,
    "> 30 training positives": lambda facts: facts["positives"] > 30,
    "≥ 30 features": lambda facts: facts["features"] >= 30,
    "1:15 or rarer": lambda facts: facts["ratio"] >= 15,
    "hard (0.1-AUC of the baseline < 0.6)": lambda facts: facts["baseline"] < 0.6,
    "easy (≥ 0.6)": lambda facts: facts["baseline"] >= 0.6,
}
# what the papers claim of their methods, or a user would ask
CLAIMS = (
    ("AsymmetricSVC", "SVC", "tauc_0.1"),
    ("AsymmetricSVC", "SVC", "tauc_0.01"),
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


def summary(results: Results) -> dict[str, Any]:
    """Everything the page says, as plain data."""
    families = results.families()
    return {
        "sets": {name: facts_of(results, name) | {"splits": results.splits(name)} for name in results.sets},
        "standings": {
            measure: {
                label: _standing(results, measure, results.among(measure, of))
                for label, of in (("families", families), ("all", results.sets))
            }
            for measure in MEASURES
        },
        "against_baseline": {
            measure: {m: vars(a) for m, a in against(results, measure, results.among(measure, families)).items()}
            for measure in MEASURES
        },
        "seconds": {method: seconds(results, method) for method in METHODS},
        "convergence": {method: found for method in METHODS if (found := convergence(results, method))},
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


def facts_of(results: Results, name: str) -> dict[str, float]:
    """Size and skew of a set, and how hard it is."""
    n_train, positives, n_test, test_positives = results.first(name)["rows"]
    return {
        "rows": n_train,
        "positives": positives,
        "test_rows": n_test,
        "test_positives": test_positives,
        "features": sets.pool(name).X.shape[1],
        "ratio": round((n_train - positives) / positives, 1),
        "baseline": float(results.values(name, BASELINE, "tauc_0.1").mean()),
    }


def seconds(results: Results, method: str) -> dict[str, float]:
    """CPU seconds of a fit and of a whole search: medians over sets, and ratios to the baseline in the same splits."""
    found = {}
    for label, measure in (("fit", "fit_cpu"), ("search", "search_cpu")):
        mine, its = (
            [np.median(results.values(name, each, measure)) for name in results.sets] for each in (method, BASELINE)
        )
        found[label] = float(np.median(mine))
        found[f"{label}_ratio"] = float(np.exp(np.mean(np.log(np.maximum(mine, 1e-6)) - np.log(its))))
    return found


def convergence(results: Results, method: str) -> dict[str, Any]:
    """How the fits on whole training parts ended."""
    rows = [row for name in results.sets for row in results.rows(name, method) if "status" in row]
    if not rows:
        return {}
    gaps = [row["relative_gap"] for row in rows]
    return {
        "status": dict(Counter(row["status"] for row in rows)),
        "median_gap": float(np.median(gaps)),
        "largest_gap": float(np.max(gaps)),
    }


def all_tables(results: Results) -> dict[str, str]:
    """Name of a place in the page, and its table."""
    return {
        "ranks": ranks(results, results.families()),
        "ranks_all": ranks(results, results.sets),
        "against_tauc": versus(results, "tauc_0.1"),
        "against_auc": versus(results, "auc"),
        "claims": claims(results),
        "kinds": kinds(results),
        "defaults": defaults(results),
        "times": times(results),
        "convergence": endings(results),
        "sets": of_sets(results),
    }


def ranks(results: Results, among: Sequence[str]) -> str:
    """Mean score and mean rank by every measure, best 0.1-AUC first."""
    standings = {measure: results.standing(measure, results.among(measure, among)) for measure in MEASURES}
    header = ["method", *[f"{label} ({len(standings[m].sets)} sets)" for m, label in MEASURES.items()]]
    own = {m: np.mean([results.values(s, m, "own_balanced_accuracy").mean() for s in among]) for m in RANKED}
    header.append("balanced accuracy at its own threshold")
    lines = []
    for method in sorted(RANKED, key=standings["tauc_0.1"].ranks.__getitem__):
        cells = [f"{s.means[method]:.3f} · {s.ranks[method]:.1f}" for s in standings.values()]
        lines.append([_label(method), *cells, f"{own[method]:.3f}"])
    unmoved = standings["balanced_accuracy"]
    lines.append([UNMOVED, "", "", "", f"{unmoved.means[UNMOVED]:.3f} · {unmoved.ranks[UNMOVED]:.1f}", ""])
    limits = [f"{s.ranking.critical_difference:.1f}" for s in standings.values()]
    lines.append(["*critical difference of ranks*", *limits, ""])
    return markdown(header, lines)


def _label(method: str) -> str:
    return f"**{method}**" if METHODS[method].kind == "askew" else method


def versus(results: Results, measure: str) -> str:
    """Every method against the baseline, one set per family."""
    among = results.among(measure, results.families())
    found = against(results, measure, among)
    ordered = sorted(found.items(), key=lambda item: -item[1].difference)
    lines = [[_label(method), *_outcome(each)] for method, each in ordered]
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
    return [f"{found.difference:+.3f}", sets_won, surely, _p(found.p_holm)]


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def kinds(results: Results) -> str:
    """Mean rank by 0.1-AUC among sets of one kind, all sets."""
    facts = {name: facts_of(results, name) for name in results.sets}
    columns, header = [], ["method"]
    for label, belongs in KINDS.items():
        members = [name for name in results.sets if belongs(facts[name])]
        if len(members) >= 2:
            columns.append(results.standing("tauc_0.1", members).ranks)
            header.append(f"{label} ({len(members)})")
    order = sorted(RANKED, key=lambda method: np.mean([column[method] for column in columns]))
    return markdown(header, [[_label(m), *[f"{column[m]:.1f}" for column in columns]] for m in order])


def defaults(results: Results) -> str:
    """Estimators as they come beside the same after a search."""
    header = ["as it comes → searched", "AUC", "0.1-AUC", "balanced accuracy", "balanced accuracy at its own threshold"]
    measures, families = ("auc", "tauc_0.1", "balanced_accuracy", "own_balanced_accuracy"), results.families()
    lines = []
    for name in (name for name, method in METHODS.items() if method.kind == "default"):
        label = name.removesuffix(" as it comes").rstrip(",")
        pair = name, label.split(",")[0]
        means = [[np.mean([results.values(s, m, each).mean() for s in families]) for m in pair] for each in measures]
        lines.append([label, *[f"{before:.3f} → {after:.3f}" for before, after in means]])
    return markdown(header, lines)


def times(results: Results) -> str:
    """CPU seconds, one thread."""
    found = {method: seconds(results, method) for method in RANKED}
    lines = [
        [
            _label(method),
            f"{1e3 * t['fit']:.0f}",
            f"{t['fit_ratio']:.2f}",
            f"{1e3 * t['search']:.0f}" if METHODS[method].grid else "–",
            f"{t['search_ratio']:.2f}" if METHODS[method].grid else "–",
        ]
        for method, t in sorted(found.items(), key=lambda item: item[1]["fit_ratio"])
    ]
    return markdown(["method", "fit, ms", f"× {BASELINE}", "search, ms", f"× {BASELINE}"], lines)


def endings(results: Results) -> str:
    """Status and relative gap of the final fits."""
    lines = []
    for method in METHODS:
        found = convergence(results, method)
        if found:
            status = ", ".join(f"{word} {count}" for word, count in sorted(found["status"].items()))
            lines.append([method, status, f"{found['median_gap']:.1e}", f"{found['largest_gap']:.1e}"])
    return markdown(["method", "ended", "median relative gap", "largest"], lines)


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
