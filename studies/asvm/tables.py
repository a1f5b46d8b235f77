"""The tables of the page: Tables 1 and 2 beside the paper's, all methods, the core, the hulls; then the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from askew.metrics import RocHull
from studies.asvm import paper
from studies.asvm.measurements import CORE, PLANES
from studies.asvm.methods import SEARCHED
from studies.asvm.sets import LARGE, NEGATIVES_PER_POSITIVE, TITLES
from studies.asvm.summary import TEST_TO_TRAIN, Results, bounds, entries, overall
from studies.protocol.statistics import PairedTest, holm, interval, paired_test, rank
from studies.protocol.tables import markdown

Rows = list[dict[str, Any]]
MOVED = 1e-3  # of 0.1-AUC / 0.1: more than this between two tolerances is an artefact of stopping
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


def against(results: Results, other: str, names: Sequence[str], part: str) -> str:
    """ASVM and one other method at every tolerance, with the paper's pair beside ours."""
    every = [(t, name) for t in (1.0, 0.1, 0.05) for name in names if results.has(name, t, other, "ASVM")]
    tests = [results.contest(name, t, "ASVM", other, part) for t, name in every]
    rows = []
    for (t, name), test, adjusted in zip(every, tests, adjusted_of(tests), strict=True):
        printed = [f"{paper.AREAS[m, t][name]:.4f}" if name in paper.AREAS[m, t] else "" for m in (other, "ASVM")]
        theirs = _signed(paper.improvement(t, name, other)) if name in paper.AREAS[other, t] else ""
        ours = [_mean(results, name, t, model, part) for model in (other, "ASVM")]
        gain = _signed(results.improvement(name, t, other, part))
        p = [f"{value:.2g}" for value in (test.p_naive, test.p_corrected, adjusted)]
        n_splits = len(results.repeats(name, t, other, "ASVM"))
        control = _mean(results, name, t, "Fisher", part) if results.has(name, t, "Fisher") else "–"
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


def _mean(results: Results, name: str, t: float, model: str, part: str) -> str:
    common = results.repeats(name, t, model)
    mean, half = interval(results.areas(name, t, model, part=part, repeats=common), test_share=TEST_TO_TRAIN)
    return f"{mean:.4f} ± {half:.4f}"


def luck(results: Results) -> str:
    """The paper's differences, from one split each, beside how far one split's difference strays in ours."""
    rows = []
    for name, t in entries():
        if not results.has(name, t, "ASVM", "TH"):
            continue
        common = results.repeats(name, t, "ASVM", "TH")
        each = [results.areas(name, t, model, repeats=common) for model in ("ASVM", "TH")]
        difference = each[0] - each[1]
        printed = paper.AREAS["ASVM", t][name] - paper.AREAS["TH", t][name]
        spread = float(difference.std(ddof=1))
        reached = int(np.sum(np.abs(difference) >= abs(printed)))
        line = [f"{printed:+.4f}", f"{difference.mean():+.4f}", f"{spread:.4f}", f"{reached} of {len(common)}"]
        rows.append([TITLES[name], f"{t:g}", *line])
    header = ["set", "t", "ASVM − TH, paper", "ASVM − TH, mean", "standard deviation of one split"]
    return markdown([*header, "splits with as large a difference either way"], rows)


def everyone(results: Results, t: float = 0.1, part: str = "test") -> str:
    """All methods on all sets, as a share of the largest possible area, with mean ranks."""
    shown = [m for m in MODELS if any(results.has(name, t, m) for name in TITLES)]
    rows, scores = [], []
    for name in TITLES:
        means = [results.areas(name, t, m, part=part).mean() / t if results.has(name, t, m) else None for m in shown]
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


def overall_table(results: Results) -> str:
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
        for name, gain in overall(results).items()
    ]
    return markdown(["t ≤ 0.1", "entries", "mean gain %", "median %", "better on"], rows)


def core(results: Results, t: float = 0.1) -> str:
    """What the line over τ adds to the ν-SVC that the search had found before it."""
    names = [name for name in TITLES if results.has(name, t, "ASVM", "nu")]
    tests = [results.contest(name, t, "ASVM", "nu") for name in names]
    rows = []
    for name, test, adjusted in zip(names, tests, adjusted_of(tests), strict=True):
        chosen = [search["chosen"] for search in results.searches[name, t, "ASVM"].values()]
        parts = [each["tau"] / each["mu"] for each in chosen if each["tau"] > 0]
        median = f"{np.median(parts):.2f}" if parts else "–"
        plain = f"{results.areas(name, t, 'nu').mean() / t:.3f}"
        rows.append([TITLES[name], f"{len(parts)} of {len(chosen)}", median, plain, *_change(test, t, adjusted)])
    header = ["set", "searches with τ > 0", "median τ/μ there", "τ = 0", "change by τ"]
    return markdown([*header, "p naive", "p corrected", _holm_of(tests)], rows)


def _change(test: PairedTest, t: float, adjusted: float) -> list[str]:
    """Difference of t-AUC / t with its interval, and the three p."""
    p = [f"{value:.2g}" for value in (test.p_naive, test.p_corrected, adjusted)]
    return [f"{test.difference / t:+.4f} ± {test.half_width / t:.4f}", *p]


def tops(results: Results, t: float = 0.1) -> str:
    """How often μ ends at the top of its grid, without weights and with the positives weighted nine times."""
    rows = []
    for name in TITLES:
        if results.has(name, t, "ASVM", "ASVM 9:1"):
            found = [_at_top(results, name, t, model) for model in ("ASVM", "ASVM 9:1")]
            rows.append([TITLES[name], *[f"{sum(each)} of {len(each)}" for each in found]])
    return markdown(["set", "μ at the top, ASVM", "μ at the top, 9:1"], rows)


def weights(results: Results, t: float = 0.1) -> str:
    """What weighing the positives nine times changes in ASVM."""
    return _pairs(
        results,
        [
            (name, t, "ASVM 9:1", over, "fresh" if name in LARGE else "test")
            for name in TITLES
            for over in ("ASVM", "TH", "Fisher")
        ],
    )


def fresh_pairs(results: Results) -> str:
    """Differences on fresh rows between methods that share a weighting and methods that do not."""
    pairs = (("ASVM", "nu"), ("nu", "TH"), ("PT", "TH"), ("nu", "PT"), ("Fisher", "TH"))
    return _pairs(results, [(name, t, *pair, "fresh") for name in LARGE for t in (0.1, 0.05) for pair in pairs])


def _pairs(results: Results, wanted: Sequence[tuple[str, float, str, str, str]]) -> str:
    """Contests of set, tolerance, first, second and part, one line each."""
    every = [each for each in wanted if results.has(*each[:4])]
    tests = [results.contest(*each) for each in every]
    rows = [
        [TITLES[name], f"{t:g}", part, f"{MODELS[first]} − {MODELS[second]}", *_change(test, t, adjusted)]
        for (name, t, first, second, part), test, adjusted in zip(every, tests, adjusted_of(tests), strict=True)
    ]
    return markdown(["set", "t", "rows", "pair", "difference", "p naive", "p corrected", _holm_of(tests)], rows)


def _at_top(results: Results, name: str, t: float, method: str) -> list[bool]:
    """For every search, whether it chose the largest μ it tried."""
    share = 1 / (1 + NEGATIVES_PER_POSITIVE) if method == "ASVM" else 1 / 2
    largest = SEARCHED["mu"][-1] * share
    return [s["chosen"]["mu"] > 0.95 * largest for s in results.searches[name, t, method].values()]


def hulls(results: Results) -> str:
    """Who owns the hull from its first vertex on, and how far, against TH and against PT."""
    rows = []
    for other in ("TH", "PT"):
        every: dict[str, list[dict[str, Any]]] = {"test": [], "fresh": []}
        for name in TITLES:
            for t in (0.1, 0.05):
                if not results.has(name, t, other, "ASVM"):
                    continue
                for part in ("test", "fresh") if name in LARGE else ("test",):
                    found = [first_owner(hull) for hull in results.hulls(name, t, ("ASVM", other), part)]
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


def convergence(results: Results) -> str:
    """How fits ended: nothing here may be a stopping artefact."""
    rows = []
    for model, fits in results.endings().items():
        values = [fit.get("relative_violation", fit.get("relative_gap")) for fit in fits]
        known = [value for value in values if value is not None]
        settled = sum(fit["status"] not in ("max_iter", "stalled") for fit in fits)
        what = "violation / spread of scores" if "relative_violation" in fits[0] else "duality gap / objective"
        worst = f"{max(known):.1e} ({what})" if known else "–"
        rows.append([MODELS[model], len(fits), settled, worst])
    order = list(MODELS.values())
    return markdown(["model", "fits", "settled", "worst"], sorted(rows, key=lambda row: order.index(row[0])))


def unresolved(results: Results) -> str:
    """Settings of the searches that the solver could not settle, which the search ranks last."""
    rows = []
    for name in TITLES:
        for method in ("ASVM", "ASVM 9:1"):
            found = [s for t in (1.0, 0.1, 0.05) for s in results.searches.get((name, t, method), {}).values()]
            if found:
                settings, open_ = (sum(s[k] for s in found) for k in ("candidates", "unresolved"))
                lucky = sum(s["best_is_unresolved"] for s in found)
                rows.append([TITLES[name], method, len(found), settings, open_, lucky])
    return markdown(["set", "method", "searches", "settings", "not settled", "would have been chosen"], rows)


def _toy(rows: Rows) -> str:
    """Figure 2 (i, j) over many draws."""
    lines = []
    for name in ("SVC", "ASVM, tau = 0", "ASVM", "Fisher"):
        found = rows[0][name]
        printed = paper.TOY.get(name, {})
        cells = []
        for t in ("1", "0.1"):
            mean, half = interval(found[t])
            cells += [printed.get(t, "–"), f"{mean:.3f} ± {half:.3f}"]
        wins = np.mean(np.array(found["0.1"]) > np.array(rows[0]["SVC"]["0.1"]))
        lines.append([name.replace("tau", "τ"), *cells, "–" if name == "SVC" else f"{100 * wins:.0f} %"])
    header = ["model", "AUC, paper", "AUC", "0.1-AUC / 0.1, paper", "0.1-AUC / 0.1"]
    return markdown([*header, "draws above SVC at 0.1"], lines)


def _scale(rows: Rows) -> str:
    """Figure 3: CPU seconds and the exponent they grow with."""
    found = {(row["machine"], row["rows"]): row for row in rows}
    sizes = sorted({row["rows"] for row in rows})
    lines = []
    for n in sizes:
        mine, theirs = found.get(("ASVM", n)), found.get(("LIBSVM", n))
        lines.append(
            [
                f"{n:,}",
                f"{mine['seconds']:.2f}" if mine else "–",
                mine["support"] if mine else "–",
                f"{theirs['seconds']:.2f}" if theirs else "–",
            ]
        )
    header = ["rows", "ASVM, CPU s", "support vectors", "LIBSVM's ν-SVC, CPU s"]
    return markdown(header, lines) + f"\n\nCPU seconds of ASVM grow like rows^{_exponent(rows):.2f}."


def _exponent(rows: Rows, machine: str = "ASVM") -> float:
    """Slope of log seconds over log rows."""
    points = [(np.log(row["rows"]), np.log(row["seconds"])) for row in rows if row["machine"] == machine]
    return float(np.polyfit(*np.array(points).T, 1)[0]) if len(points) > 1 else float("nan")


def _planes(rows: Rows) -> str:
    """Figure 5: means over the draws along both paths."""
    lines = []
    for mu in sorted({row["mu"] for row in rows}):
        lines += _along([row["ASVM"] for row in rows if row["mu"] == mu], f"ASVM, μ = {mu:g}, τ", PLANES["tau"])
    lines += _along([row["PT"] for row in rows if row["mu"] == rows[0]["mu"]], "PT, C⁻ = 1, C⁺", PLANES["costs"])
    return markdown(["path", "angle to the first w", "class margin", "predicted positive", "TPR", "FPR"], lines)


def _along(paths: list[Any], title: str, values: tuple[float, ...]) -> list[list[str]]:
    lines = []
    for step, value in enumerate(values):
        mean = {key: np.mean([path[step][key] for path in paths]) for key in paths[0][step]}
        rates = [f"{mean[k]:.3f}" for k in ("predicted_positive", "true_positive_rate", "false_positive_rate")]
        lines.append([f"{title} = {value:g}", f"{mean['angle']:.0f}°", f"{mean['class_margin']:.3f}", *rates])
    return lines


def _effort(rows: Rows) -> str:
    """Figure 7: fits and CPU seconds."""
    found = {(row["method"], row["granularity"]): row for row in rows}
    lines = []
    for g in sorted({row["granularity"] for row in rows}):
        tuned, ours = found["PT", g], found["ASVM", g]
        fits, seconds = tuned["fits"] / ours["fits"], tuned["cpu_search"] / ours["cpu_search"]
        pair = [f"{tuned['cpu_search']:.2f}", f"{ours['cpu_search']:.2f}", f"{seconds:.1f}"]
        lines.append([g, tuned["fits"], ours["fits"], f"{fits:.1f}", *pair])
    return markdown(["g", "fits PT", "fits ASVM", "ratio", "CPU s PT", "CPU s ASVM", "ratio"], lines)


def _asymptotics(rows: Rows) -> str:
    """Figure 8 in one line per m."""
    found, lines = bounds(rows), []
    for m in sorted({each["rows"] for each in found}):
        mine = [each for each in found if each["rows"] == m]
        width = np.mean([each["high"] - each["low"] for each in mine])
        within = f"{sum(each['within'] for each in mine)} of {sum(each['assumed'] for each in mine)}"
        off = np.nanmean([each["off"] for each in mine])
        lines.append([f"{m:,}", sum(each["fits"] for each in mine), within, f"{width:.4f}", f"{off:.4f}"])
    header = ["m", "fits", "within the bounds (of fits with γ > 0)", "mean width of the bounds"]
    return markdown([*header, "mean distance from τ"], lines)


def _core_path(rows: Rows, t: float = 0.1) -> str:
    """Change of t-AUC / t from τ = 0 on, means over splits; **bold** where it stands after Holm's correction."""
    lines, tests = [], []
    at = CORE["tolerances"].index(t)
    for name in TITLES:
        widths = sorted({row.get("width", 1.0) for row in rows if row["set"] == name})
        for width, part in product(widths, CORE["mu"]):
            mine = [row for row in rows if (row["set"], row.get("width", 1.0)) == (name, width)]
            areas = np.array([row[f"{part:g}"] for row in mine])[:, :, at]
            lines.append([TITLES[name], f"{width:g}", f"{part:g}", f"{areas[:, 0].mean():.3f}"])
            tests.append([paired_test(after, areas[:, 0], test_share=TEST_TO_TRAIN) for after in areas[:, 1:].T])
    adjusted = iter(holm([test.p_corrected for line in tests for test in line]))
    for line, of in zip(lines, tests, strict=True):
        for test, p in zip(of, adjusted, strict=False):
            text = f"{test.difference:+.3f} ± {test.half_width:.3f}"
            line.append(f"**{text}**" if p < 0.05 else text)
    header = ["set", "width", "μ", "τ = 0", *[f"τ at {step:g}" for step in CORE["tau"][1:]]]
    return markdown(header, lines)


def _audit(rows: Rows) -> str:
    """How much of the grid moves when the tolerance is a hundred times finer."""
    lines = []
    for name in TITLES:
        mine = [row for row in rows if row["set"] == name]
        if not mine:
            continue
        ours, peers = (np.concatenate([row[key] for row in mine]) for key in ("ours", "libsvm"))
        norms, spread = (np.concatenate([row[key] for row in mine]) for key in ("norm", "spread"))
        moved = [np.abs(each[:, 0] - each[:, 1]) for each in (ours, peers)]
        lines.append(
            [
                TITLES[name],
                len(ours),
                f"{100 * np.mean(spread < 0.1):.0f} %",
                f"{norms.min():.1e}",
                *[f"{100 * np.mean(m > MOVED):.0f} % (up to {m.max():.2f})" for m in moved],
            ]
        )
    header = ["set", "grid points", "scores' spread < 0.1", "least ‖w‖, box [0, 1]"]
    return markdown([*header, "ours move", "LIBSVM's move"], lines)


def numbers(results: Results) -> dict[str, Any]:
    """What the page rests on, as plain data; the tables too."""
    finished = results.finished
    done = {"finished": len(finished.rows), "planned": finished.planned, "cpu_minutes": finished.minutes(1)}
    tables = {name: make(results) for name, make in TABLES.items() if name != "run"}
    gained, bounded = overall(results), bounds(finished.of_kind("asymptotics"))
    return {"cells": done, "gains": gained, "bounds": bounded, "tables": tables}


def _run(results: Results) -> str:
    finished = results.finished
    return f"{len(finished.rows)} of {finished.planned} cells, {finished.minutes(1)} CPU minutes."


def _of(kind: str, make: Callable[[Rows], str]) -> Callable[[Results], str]:
    """The table of one kind of cell."""

    def table(results: Results) -> str:
        rows = results.finished.of_kind(kind)
        return make(rows) if rows else "(not computed yet)"

    return table


TABLES: dict[str, Callable[[Results], str]] = {
    "table1": lambda results: against(results, "TH", list(TITLES), "test"),
    "table1-fresh": lambda results: against(results, "TH", LARGE, "fresh"),
    "table2": lambda results: against(results, "PT", list(TITLES), "test"),
    "table2-fresh": lambda results: against(results, "PT", LARGE, "fresh"),
    "everyone": everyone,
    "overall": overall_table,
    "luck": luck,
    "core": core,
    "tops": tops,
    "weights": weights,
    "fresh-pairs": fresh_pairs,
    "hulls": hulls,
    "convergence": convergence,
    "unresolved": unresolved,
    "core-path": lambda results: _core_path(results.finished.of_kind("core")),
    "toy": _of("toy", _toy),
    "scale": _of("scale", _scale),
    "planes": _of("planes", _planes),
    "effort": _of("effort", _effort),
    "asymptotics": _of("asymptotics", _asymptotics),
    "audit": _of("audit", _audit),
    "run": _run,
}
QUICK = tuple(TABLES)
