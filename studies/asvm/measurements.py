"""Figures 2, 3, 5, 7 and 8 and the audit of the stopping rule, as tables."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from studies.across.comparison import holm
from studies.asvm import asymptotics, core_path, paper
from studies.asvm.outcomes import TEST_TO_TRAIN
from studies.asvm.planes import COSTS, TAUS
from studies.asvm.sets import TITLES
from studies.protocol.page import markdown
from studies.protocol.statistics import interval, paired_test

Rows = list[dict[str, Any]]
MOVED = 1e-3  # of 0.1-AUC / 0.1: more than this between two tolerances is an artefact of stopping


def toy(rows: Rows) -> str:
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


def scale(rows: Rows) -> str:
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
    return markdown(header, lines) + f"\n\nCPU seconds of ASVM grow like rows^{exponent(rows):.2f}."


def exponent(rows: Rows, machine: str = "ASVM") -> float:
    """Slope of log seconds over log rows."""
    points = [(np.log(row["rows"]), np.log(row["seconds"])) for row in rows if row["machine"] == machine]
    return float(np.polyfit(*np.array(points).T, 1)[0]) if len(points) > 1 else float("nan")


def planes(rows: Rows) -> str:
    """Figure 5: means over the draws along both paths."""
    lines = []
    for mu in sorted({row["mu"] for row in rows}):
        lines += _path([row["ASVM"] for row in rows if row["mu"] == mu], f"ASVM, μ = {mu:g}, τ", TAUS)
    lines += _path([row["PT"] for row in rows if row["mu"] == rows[0]["mu"]], "PT, C⁻ = 1, C⁺", COSTS)
    return markdown(["path", "angle to the first w", "class margin", "predicted positive", "TPR", "FPR"], lines)


def _path(paths: list[Any], title: str, values: tuple[float, ...]) -> list[list[str]]:
    lines = []
    for step, value in enumerate(values):
        mean = {key: np.mean([path[step][key] for path in paths]) for key in paths[0][step]}
        rates = [f"{mean[k]:.3f}" for k in ("predicted_positive", "true_positive_rate", "false_positive_rate")]
        lines.append([f"{title} = {value:g}", f"{mean['angle']:.0f}°", f"{mean['class_margin']:.3f}", *rates])
    return lines


def effort(rows: Rows) -> str:
    """Figure 7: fits and CPU seconds."""
    found = {(row["method"], row["granularity"]): row for row in rows}
    lines = []
    for g in sorted({row["granularity"] for row in rows}):
        tuned, ours = found["PT", g], found["ASVM", g]
        fits, seconds = tuned["fits"] / ours["fits"], tuned["cpu_search"] / ours["cpu_search"]
        pair = [f"{tuned['cpu_search']:.2f}", f"{ours['cpu_search']:.2f}", f"{seconds:.1f}"]
        lines.append([g, tuned["fits"], ours["fits"], f"{fits:.1f}", *pair])
    return markdown(["g", "fits PT", "fits ASVM", "ratio", "CPU s PT", "CPU s ASVM", "ratio"], lines)


def bounds(rows: Rows) -> list[dict[str, float]]:
    """Figure 8: per m and τ the difference of outliers, its two bounds, and how often it lay within them."""
    found = []
    for m in sorted({row["rows"] for row in rows}):
        for tau in asymptotics.TAUS:
            each = [row[f"{tau:g}"] for row in rows if row["rows"] == m]
            gap = np.array([s["o_plus"] - s["o_minus"] for s in each])
            low = tau - np.array([s["s_plus"] for s in each])
            high = tau + np.array([s["s_minus"] for s in each])
            holds = np.array([s["class_margin"] > 1e-9 and s["core_margin"] > 0 for s in each])
            within = (gap >= low - 1e-9) & (gap <= high + 1e-9)
            found.append(
                {
                    "rows": m,
                    "tau": tau,
                    "difference": float(gap.mean()),
                    "low": float(low.mean()),
                    "high": float(high.mean()),
                    "fits": len(each),
                    "assumed": int(holds.sum()),
                    "within": int((within & holds).sum()),
                    "off": float(np.abs(gap - tau)[holds].mean()) if holds.any() else float("nan"),
                }
            )
    return found


def asymptotic(rows: Rows) -> str:
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


def core(rows: Rows, t: float = 0.1) -> str:
    """Change of t-AUC / t from τ = 0 on, means over splits; **bold** where it stands after Holm's correction."""
    lines, tests = [], []
    at = core_path.TOLERANCES.index(t)
    for name in TITLES:
        widths = sorted({row.get("width", 1.0) for row in rows if row["set"] == name})
        for width, part in product(widths, core_path.PARTS):
            mine = [row for row in rows if (row["set"], row.get("width", 1.0)) == (name, width)]
            areas = np.array([row[f"{part:g}"] for row in mine])[:, :, at]
            lines.append([TITLES[name], f"{width:g}", f"{part:g}", f"{areas[:, 0].mean():.3f}"])
            tests.append([paired_test(after, areas[:, 0], test_share=TEST_TO_TRAIN) for after in areas[:, 1:].T])
    adjusted = iter(holm([test.p_corrected for line in tests for test in line]))
    for line, of in zip(lines, tests, strict=True):
        for test, p in zip(of, adjusted, strict=False):
            text = f"{test.difference:+.3f} ± {test.half_width:.3f}"
            line.append(f"**{text}**" if p < 0.05 else text)
    header = ["set", "width", "μ", "τ = 0", *[f"τ at {step:g}" for step in core_path.STEPS[1:]]]
    return markdown(header, lines)


def audit(rows: Rows) -> str:
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
