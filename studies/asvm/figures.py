"""Figures 2 to 8 from the finished cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from askew import SVC, AsymmetricSVC
from studies.asvm.measurements import PLANES, run_example, side_by_side
from studies.asvm.sets import TITLES
from studies.asvm.summary import Results, bounds
from studies.asvm.tables import MODELS
from studies.protocol.figures import COLOURS, canvas, save

Rows = list[dict[str, Any]]


def draw(results: Results, folder: Path) -> None:
    """Every figure whose cells are there."""
    run_example(folder / "figure2.png")
    drawn = {"figure3": "scale", "figure7": "effort", "figure8": "asymptotics"}
    makers = {"figure3": scalability, "figure7": effort, "figure8": asymptotics}
    for name, kind in drawn.items():
        if rows := results.finished.of_kind(kind):
            save(makers[name](rows), folder, name)
    save(planes(), folder, "figure5")
    if results.has("covtype", 0.1, "ASVM", "TH"):
        save(curves(results, "TH"), folder, "figure4")
    if results.has("covtype", 0.1, "ASVM", "PT"):
        save(curves(results, "PT"), folder, "figure6")
    save(gains(results), folder, "gains")


def scalability(rows: Rows) -> Any:
    figure, axes = canvas()
    for machine, label in (("ASVM", "AsymmetricSVC"), ("LIBSVM", "LIBSVM's ν-SVC")):
        mine = sorted((row["rows"], row["seconds"]) for row in rows if row["machine"] == machine)
        axes[0, 0].loglog(*zip(*mine, strict=True), "o-", label=label)
    axes[0, 0].axhline(60, color=COLOURS[5], linewidth=0.8, linestyle=":")
    axes[0, 0].plot(20_000, 60, "x", color=COLOURS[5], label="the paper: 20,000 within a minute")
    axes[0, 0].set(xlabel="rows of IJCNN", ylabel="CPU seconds, one thread", title="Figure 3: time of one fit")
    axes[0, 0].legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.93))
    return figure


def curves(results: Results, other: str) -> Any:
    """Figures 4 and 6: mean ROC curves on Covertype and IJCNN where false positives are few, on fresh rows."""
    sets = [name for name in ("covtype", "ijcnn1") if results.has(name, 0.1, "ASVM", other)]
    figure, axes = canvas(len(sets), 2)
    rates = np.linspace(0.0, 0.1, 101)
    for line, name in zip(axes, sets, strict=True):
        for axis, t in zip(line, (0.1, 0.05), strict=True):
            for model, colour in (("ASVM", COLOURS[0]), (other, COLOURS[1]), ("Fisher", COLOURS[9])):
                if not results.has(name, t, model):
                    continue
                each = results.curves(name, t, model, "fresh")[:, rates <= t + 1e-9]
                shown = rates[rates <= t + 1e-9]
                axis.plot(shown, each.mean(axis=0), color=colour, label=f"{model}, {len(each)} splits")
                axis.fill_between(shown, each.min(axis=0), each.max(axis=0), color=colour, alpha=0.13, linewidth=0)
            axis.set(title=f"{TITLES[name]}, searched for {t:g}-AUC", xlabel="false positive rate", ylim=(0, 1.02))
            axis.set_ylabel("true positive rate")
            axis.legend(fontsize=7, frameon=False, loc="lower right")
    return figure


def planes() -> Any:
    """Figure 5 on the first toy set: decisions as C⁺ and as τ grows."""
    X, y = side_by_side()(PLANES["rows"], 0)
    figure, axes = canvas(1, 2)
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 120).T), axis=-1)
    tuned = [(f"C⁺ = {c:g}", SVC(class_weight={-1: 1.0, 1: c}, gamma=PLANES["gamma"])) for c in PLANES["costs"][::2]]
    shifted = [(f"τ = {tau:g}", AsymmetricSVC(0.25, tau, gamma=PLANES["gamma"])) for tau in PLANES["tau"][::2]]
    titles = ("(a) PT: C⁺ grows, C⁻ = 1", "(b) ASVM: τ grows, μ = 0.25")
    for axis, title, machines in zip(axes[0], titles, (tuned, shifted), strict=True):
        axis.scatter(*X[y < 0].T, s=5, color="#bbbbbb")
        axis.scatter(*X[y > 0].T, s=5, color="#e6a6ae")
        for (label, machine), colour in zip(machines, COLOURS, strict=False):
            scores = machine.fit(X, y).decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
            axis.contour(grid[..., 0], grid[..., 1], scores, levels=[0.0], colors=[colour])
            axis.plot([], [], color=colour, label=label)
        axis.set(title=title, xticks=[], yticks=[])
        axis.legend(fontsize=7, loc="upper left")
    return figure


def effort(rows: Rows) -> Any:
    figure, axes = canvas(1, 2)
    for axis, key, title in zip(axes[0], ("fits", "cpu_search"), ("fits", "CPU seconds"), strict=True):
        for method in ("PT", "ASVM"):
            mine = sorted((row["granularity"], row[key]) for row in rows if row["method"] == method)
            axis.semilogy(*zip(*mine, strict=True), "o-", label=method)
        axis.set(xlabel="values per parameter, g", title=f"Figure 7: {title} of one search")
        axis.legend(frameon=False)
    return figure


def asymptotics(rows: Rows) -> Any:
    sizes = sorted({row["rows"] for row in rows})
    found = bounds(rows)
    figure, axes = canvas(1, len(sizes), width=3.6)
    for axis, m in zip(axes[0], sizes, strict=True):
        mine = [each for each in found if each["rows"] == m]
        tau = [each["tau"] for each in mine]
        axis.plot(tau, [each["high"] for each in mine], color=COLOURS[1], label="τ + Pr(s⁻)")
        axis.plot(tau, [each["difference"] for each in mine], "o", markersize=3, label="Pr(o⁺) − Pr(o⁻)")
        axis.plot(tau, [each["low"] for each in mine], color=COLOURS[2], label="τ − Pr(s⁺)")
        axis.plot(tau, tau, ":", color=COLOURS[5], label="τ")
        axis.set(xlabel="τ", title=f"Figure 8: m = {m:,}")
        axis.legend(fontsize=7, frameon=False)
    return figure


def gains(results: Results) -> Any:
    """Corrected 95 % intervals of the difference to TH at t = 0.1, one panel per model, all on one scale."""
    models = ("Fisher", "PT", "nu", "ASVM", "ASVM 9:1")
    figure, axes = canvas(1, len(models), width=2.4, height=3.2)
    names = list(TITLES)
    for axis, model in zip(axes[0], models, strict=True):
        axis.sharex(axes[0, 0])
        for height, name in enumerate(reversed(names)):
            if results.has(name, 0.1, model, "TH"):
                test = results.contest(name, 0.1, model, "TH")
                axis.errorbar(10 * test.difference, height, xerr=10 * test.half_width, fmt="o", color=COLOURS[0], ms=4)
        axis.axvline(0.0, color=COLOURS[5], linewidth=0.8)
        axis.set_yticks(range(len(names)), [TITLES[n] for n in reversed(names)] if axis is axes[0, 0] else [])
        axis.set_title(f"{MODELS[model]} − TH", fontsize=9)
    figure.supxlabel("difference of 0.1-AUC / 0.1, corrected 95 % interval", fontsize=9)
    return figure
