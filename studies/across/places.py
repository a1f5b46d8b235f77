"""Where methods do well or badly: tables of single sets and of kinds of sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from studies.across import sets
from studies.across.comparison import BASELINE, Results
from studies.across.methods import RANKED, label
from studies.protocol.page import markdown

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
