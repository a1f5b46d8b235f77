"""The comparison as tables: Tables 1 and 2 of the paper beside ours, all methods, the core, the hulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from askew.estimators.asymmetric_svc import MU_SHARES
from askew.metrics import RocHull
from studies.asvm import paper
from studies.asvm.outcomes import TEST_TO_TRAIN, Outcomes, entries
from studies.asvm.sets import LARGE, NEGATIVES_PER_POSITIVE, TITLES
from studies.protocol.page import markdown
from studies.protocol.statistics import PairedTest, holm, interval, rank

MODELS = {
    "Fisher": "Fisher",
    "balls": "two balls",
    "TH": "TH",
    "PT": "PT",
    "nu": "ν-SVC (τ = 0)",
    "ASVM": "ASVM",
    "nu 9:1": "ν-SVC 9:1",
    "ASVM 9:1": "ASVM 9:1",
}


def against(outcomes: Outcomes, other: str, names: Sequence[str], part: str) -> str:
    """ASVM and one other method at every tolerance, with the paper's pair beside ours."""
    every = [(t, name) for t in (1.0, 0.1, 0.05) for name in names if outcomes.has(name, t, other, "ASVM")]
    tests = [outcomes.contest(name, t, "ASVM", other, part) for t, name in every]
    rows = []
    for (t, name), test, adjusted in zip(every, tests, adjusted_of(tests), strict=True):
        printed = [f"{paper.AREAS[m, t][name]:.4f}" if name in paper.AREAS[m, t] else "" for m in (other, "ASVM")]
        theirs = _signed(paper.improvement(t, name, other)) if name in paper.AREAS[other, t] else ""
        ours = [_mean(outcomes, name, t, model, part) for model in (other, "ASVM")]
        gain = _signed(outcomes.improvement(name, t, other, part))
        p = [f"{value:.2g}" for value in (test.p_naive, test.p_corrected, adjusted)]
        n_splits = len(outcomes.repeats(name, t, other, "ASVM"))
        control = _mean(outcomes, name, t, "Fisher", part) if outcomes.has(name, t, "Fisher") else "–"
        rows.append([f"{t:g}", TITLES[name], *printed, theirs, *ours, gain, *p, n_splits, control])
    header = ["t", "set", f"{other}, paper", "ASVM, paper", "gain %, paper", other, "ASVM", "gain %"]
    return markdown([*header, "p naive", "p corrected", _holm_of(tests), "splits", "Fisher"], rows)


def adjusted_of(tests: Sequence[PairedTest]) -> list[float]:
    """The corrected p of every test of a table, corrected once more for how many there are."""
    return holm([test.p_corrected for test in tests])


def _holm_of(tests: Sequence[PairedTest]) -> str:
    return f"p Holm, of {len(tests)}"


def _signed(percent: float) -> str:
    return f"{round(percent, 1) + 0.0:+.1f}"  # + 0.0: no negative zero


def _mean(outcomes: Outcomes, name: str, t: float, model: str, part: str) -> str:
    common = outcomes.repeats(name, t, model)
    mean, half = interval(outcomes.areas(name, t, model, part=part, repeats=common), test_share=TEST_TO_TRAIN)
    return f"{mean:.4f} ± {half:.4f}"


def luck(outcomes: Outcomes) -> str:
    """The paper's differences, from one split each, beside how far one split's difference strays in ours."""
    rows = []
    for name, t in entries():
        if not outcomes.has(name, t, "ASVM", "TH"):
            continue
        common = outcomes.repeats(name, t, "ASVM", "TH")
        each = [outcomes.areas(name, t, model, repeats=common) for model in ("ASVM", "TH")]
        difference = each[0] - each[1]
        printed = paper.AREAS["ASVM", t][name] - paper.AREAS["TH", t][name]
        spread = float(difference.std(ddof=1))
        reached = int(np.sum(np.abs(difference) >= abs(printed)))
        line = [f"{printed:+.4f}", f"{difference.mean():+.4f}", f"{spread:.4f}", f"{reached} of {len(common)}"]
        rows.append([TITLES[name], f"{t:g}", *line])
    header = ["set", "t", "ASVM − TH, paper", "ASVM − TH, mean", "standard deviation of one split"]
    return markdown([*header, "splits with as large a difference either way"], rows)


def everyone(outcomes: Outcomes, t: float = 0.1, part: str = "test") -> str:
    """All methods on all sets, as a share of the largest possible area, with mean ranks."""
    shown = [m for m in MODELS if any(outcomes.has(name, t, m) for name in TITLES)]
    rows, scores = [], []
    for name in TITLES:
        means = [outcomes.areas(name, t, m, part=part).mean() / t if outcomes.has(name, t, m) else None for m in shown]
        best = max((mean for mean in means if mean is not None), default=None)
        rows.append([TITLES[name], *[_bold(mean, best) for mean in means]])
        scores.append(means)
    everywhere = [j for j in range(len(shown)) if all(line[j] is not None for line in scores)]
    if len(everywhere) > 2:
        ranking = rank(np.array([[line[j] for j in everywhere] for line in scores], dtype=float))
        ranks = dict(zip(everywhere, ranking.mean_ranks, strict=True))
        rows.append(["mean rank", *[f"{ranks[j]:.2f}" if j in ranks else "–" for j in range(len(shown))]])
        note = f"Friedman p = {ranking.p_friedman:.2g}; critical difference of ranks {ranking.critical_difference:.2f}"
    else:
        note = "too few methods are on every set to be ranked"
    return markdown(["set", *[MODELS[m] for m in shown]], rows) + f"\n\n{note} ({len(everywhere)} methods)."


def _bold(value: float | None, best: float | None) -> str:
    if value is None:
        return "–"
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def overall(outcomes: Outcomes) -> dict[str, dict[str, float]]:
    """Mean gain in per cent over the entries with t ≤ 0.1, with its 95 % interval over these entries."""
    found = {}
    pairs = (("ASVM", "TH"), ("ASVM", "nu"), ("ASVM 9:1", "TH"), ("ASVM 9:1", "ASVM"), ("TH", "Fisher"))
    for model, over in (*pairs, ("ASVM", "PT"), ("ASVM", "balls")):
        gains = np.array(
            [outcomes.improvement(n, t, over, model=model) for n, t in entries() if outcomes.has(n, t, model, over)]
        )
        if len(gains) < 2:
            continue
        half = stats.t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
        found[f"{model} over {over}"] = {
            "entries": len(gains),
            "mean": float(gains.mean()),
            "half_width": float(half),
            "median": float(np.median(gains)),
            "better": int(np.sum(gains > 0)),
        }
    return found


def overall_table(outcomes: Outcomes) -> str:
    """The paper's one number, 6.4 %, and ours."""
    rows = [["ASVM over TH, paper", 9, f"+{paper.MEAN_IMPROVEMENT:.1f}", "", "7 of 9"]]
    rows += [
        [
            f"{name.replace('nu', 'ν-SVC').replace('balls', 'two balls')}, ours",
            gain["entries"],
            f"{gain['mean']:+.1f} ± {gain['half_width']:.1f}",
            f"{gain['median']:+.1f}",
            f"{gain['better']} of {gain['entries']}",
        ]
        for name, gain in overall(outcomes).items()
    ]
    return markdown(["t ≤ 0.1", "entries", "mean gain %", "median %", "better on"], rows)


def core(outcomes: Outcomes, t: float = 0.1) -> str:
    """What the line over τ adds to the ν-SVC that the search had found before it."""
    names = [name for name in TITLES if outcomes.has(name, t, "ASVM", "nu")]
    tests = [outcomes.contest(name, t, "ASVM", "nu") for name in names]
    rows = []
    for name, test, adjusted in zip(names, tests, adjusted_of(tests), strict=True):
        chosen = [search["chosen"] for search in outcomes.searches[name, t, "ASVM"].values()]
        parts = [each["tau"] / each["mu"] for each in chosen if each["tau"] > 0]
        median = f"{np.median(parts):.2f}" if parts else "–"
        plain = f"{outcomes.areas(name, t, 'nu').mean() / t:.3f}"
        rows.append([TITLES[name], f"{len(parts)} of {len(chosen)}", median, plain, *_change(test, t, adjusted)])
    header = ["set", "searches with τ > 0", "median τ/μ there", "τ = 0", "change by τ"]
    return markdown([*header, "p naive", "p corrected", _holm_of(tests)], rows)


def _change(test: PairedTest, t: float, adjusted: float) -> list[str]:
    """Difference of t-AUC / t with its interval, and the three p."""
    p = [f"{value:.2g}" for value in (test.p_naive, test.p_corrected, adjusted)]
    return [f"{test.difference / t:+.4f} ± {test.half_width / t:.4f}", *p]


def tops(outcomes: Outcomes, t: float = 0.1) -> str:
    """How often μ ends at the top of its grid, without weights and with the positives weighted nine times."""
    rows = []
    for name in TITLES:
        if outcomes.has(name, t, "ASVM", "ASVM 9:1"):
            found = [_at_top(outcomes, name, t, model) for model in ("ASVM", "ASVM 9:1")]
            rows.append([TITLES[name], *[f"{sum(each)} of {len(each)}" for each in found]])
    return markdown(["set", "μ at the top, ASVM", "μ at the top, 9:1"], rows)


def weights(outcomes: Outcomes, t: float = 0.1) -> str:
    """What weighing the positives nine times changes in ASVM."""
    return _pairs(
        outcomes,
        [
            (name, t, "ASVM 9:1", over, "fresh" if name in LARGE else "test")
            for name in TITLES
            for over in ("ASVM", "TH", "Fisher")
        ],
    )


def fresh_pairs(outcomes: Outcomes) -> str:
    """Differences on fresh rows between methods that share a weighting and methods that do not."""
    pairs = (("ASVM", "nu"), ("nu", "TH"), ("PT", "TH"), ("nu", "PT"), ("Fisher", "TH"))
    return _pairs(outcomes, [(name, t, *pair, "fresh") for name in LARGE for t in (0.1, 0.05) for pair in pairs])


def _pairs(outcomes: Outcomes, wanted: Sequence[tuple[str, float, str, str, str]]) -> str:
    """Contests of set, tolerance, first, second and part, one line each."""
    every = [each for each in wanted if outcomes.has(*each[:4])]
    tests = [outcomes.contest(*each) for each in every]
    rows = [
        [TITLES[name], f"{t:g}", part, f"{MODELS[first]} − {MODELS[second]}", *_change(test, t, adjusted)]
        for (name, t, first, second, part), test, adjusted in zip(every, tests, adjusted_of(tests), strict=True)
    ]
    return markdown(["set", "t", "rows", "pair", "difference", "p naive", "p corrected", _holm_of(tests)], rows)


def _at_top(outcomes: Outcomes, name: str, t: float, method: str) -> list[bool]:
    """For every search, whether it chose the largest μ it tried."""
    share = 1 / (1 + NEGATIVES_PER_POSITIVE) if method == "ASVM" else 1 / 2
    largest = MU_SHARES[-1] * share
    return [s["chosen"]["mu"] > 0.95 * largest for s in outcomes.searches[name, t, method].values()]


def hulls(outcomes: Outcomes) -> str:
    """Who owns the hull from its first vertex on, and how far, against TH and against PT."""
    rows = []
    for other in ("TH", "PT"):
        every: dict[str, list[dict[str, Any]]] = {"test": [], "fresh": []}
        for name in TITLES:
            for t in (0.1, 0.05):
                if not outcomes.has(name, t, other, "ASVM"):
                    continue
                for part in ("test", "fresh") if name in LARGE else ("test",):
                    found = [first_owner(hull) for hull in outcomes.hulls(name, t, ("ASVM", other), part)]
                    rows.append([f"ASVM, {other}", TITLES[name], f"{t:g}", part, *_owners(found)])
                    every[part] += found
        rows += [[f"ASVM, {other}", "**all**", "", part, *_owners(found)] for part, found in every.items() if found]
    header = ["hull of", "set", "t", "rows", "ASVM first", "shared", "other first"]
    return markdown([*header, "up to FPR", "TPR there", "flattest slope"], rows)


def first_owner(hull: RocHull) -> dict[str, Any]:
    """Of the vertices after (0, 0), the first run with one owner, or a vertex that all share."""
    vertices = hull.points[1:-1]
    if not vertices:
        return {"owner": "shared"}
    first = vertices[0].names
    if len(first) > 1:
        return {"owner": "shared"}
    mine = next(each for each in hull.ranges if each.name == first[0])
    end = max((v for v in vertices if v.fpr <= mine.fpr_high), key=lambda v: v.fpr)
    return {"owner": first[0], "fpr": mine.fpr_high, "tpr": end.tpr, "slope": mine.slope_low}


def _owners(found: list[dict[str, Any]]) -> list[str]:
    """Counts of owners, and medians where ASVM is first."""
    mine = [each for each in found if each["owner"] == "ASVM"]
    shared = sum(each["owner"] == "shared" for each in found)
    medians = [f"{np.median([each[k] for each in mine]):.3f}" if mine else "–" for k in ("fpr", "tpr")]
    slope = f"{np.median([each['slope'] for each in mine]):.1f}" if mine else "–"
    return [str(len(mine)), str(shared), str(len(found) - len(mine) - shared), *medians, slope]


def convergence(outcomes: Outcomes) -> str:
    """How fits ended: nothing here may be a stopping artefact."""
    rows = []
    for model, fits in outcomes.endings().items():
        values = [fit.get("relative_violation", fit.get("relative_gap")) for fit in fits]
        known = [value for value in values if value is not None]
        settled = sum(fit["status"] not in ("max_iter", "stalled") for fit in fits)
        what = "violation / spread of scores" if "relative_violation" in fits[0] else "duality gap / objective"
        worst = f"{max(known):.1e} ({what})" if known else "–"
        rows.append([MODELS[model], len(fits), settled, worst])
    order = list(MODELS.values())
    return markdown(["model", "fits", "settled", "worst"], sorted(rows, key=lambda row: order.index(row[0])))


def unresolved(outcomes: Outcomes) -> str:
    """Settings of the searches that the solver could not settle, which the search ranks last."""
    rows = []
    for name in TITLES:
        for method in ("ASVM", "ASVM 9:1"):
            found = [s for t in (1.0, 0.1, 0.05) for s in outcomes.searches.get((name, t, method), {}).values()]
            if found:
                settings, open_ = (sum(s[k] for s in found) for k in ("candidates", "unresolved"))
                lucky = sum(s["best_is_unresolved"] for s in found)
                rows.append([TITLES[name], method, len(found), settings, open_, lucky])
    return markdown(["set", "method", "searches", "settings", "not settled", "would have been chosen"], rows)
