"""The numbers of the page, from the finished cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.across.comparison import BASELINE, MEASURES, UNMOVED, Against, Results, against, compare
from studies.across.experiment import FOLDS
from studies.across.methods import CORELESS, METHODS, RANKED, label
from studies.across.places import facts_of, kinds, losses, of_sets
from studies.protocol.page import markdown

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


def summary(results: Results) -> dict[str, Any]:
    """Everything the page says, as plain data."""
    families = results.families()
    return {
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


def seconds(results: Results, method: str) -> dict[str, float]:
    """CPU seconds of a fit and of a whole search: medians over sets, and ratios to the baseline in the same splits."""
    found = {}
    for part, measure in (("fit", "fit_cpu"), ("search", "search_cpu")):
        mine, its = (
            [np.median(results.values(name, each, measure)) for name in results.sets] for each in (method, BASELINE)
        )
        found[part] = float(np.median(mine))
        found[f"{part}_ratio"] = float(np.exp(np.mean(np.log(np.maximum(mine, 1e-6)) - np.log(its))))
    return found


def convergence(results: Results, method: str) -> dict[str, Any]:
    """How the fits on whole training parts ended."""
    rows = [row for name in results.sets for row in results.rows(name, method) if "status" in row]
    if not rows:
        return {}
    found: dict[str, Any] = {"status": dict(Counter(row["status"] for row in rows))}
    gaps = [row["relative_gap"] for row in rows if "relative_gap" in row]
    return found | ({"median_gap": float(np.median(gaps)), "largest_gap": float(np.max(gaps))} if gaps else {})


def refused(results: Results, method: str) -> dict[str, Any]:
    """How often a resampler left the rows as they were: final fits, folds, and the sets where it did."""
    places = [(name, row) for name in results.sets for row in results.rows(name, method) if "resampled" in row]
    if not places:
        return {}
    left = [(name, row) for name, row in places if not row["resampled"] or row["resampled_folds"] < FOLDS]
    return {
        "fits": len(places),
        "fits_left": sum(not row["resampled"] for _, row in places),
        "folds": FOLDS * len(places),
        "folds_left": sum(FOLDS - row["resampled_folds"] for _, row in places),
        "sets": sorted({name for name, _ in left}),
    }


def all_tables(results: Results) -> dict[str, str]:
    """Name of a place in the page, and its table."""
    return {
        "ranks": ranks(results, results.families()),
        "ranks_all": ranks(results, results.sets),
        "against_tauc": versus(results, "tauc_0.1"),
        "against_auc": versus(results, "auc"),
        "against_tauc_001": versus(results, "tauc_0.01"),
        "against_balanced_accuracy": versus(results, "balanced_accuracy"),
        "claims": claims(results),
        "kinds": kinds(results),
        "losses": losses(results),
        "defaults": defaults(results),
        "times": times(results),
        "convergence": endings(results),
        "refused": refusals(results),
        "sets": of_sets(results),
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
    return [f"{found.difference:+.3f}", sets_won, surely, _p(found.p_holm)]


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


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
