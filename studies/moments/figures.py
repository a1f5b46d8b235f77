"""Figures: ROC curves averaged upright over the cuts, certificates against what was observed, ridges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studies.moments.measurements import RATES
from studies.moments.methods import COSTS
from studies.moments.sets import DENSE, RCV1, REUTERS_RARE, title
from studies.moments.summary import Results
from studies.moments.tables import KINDS, TITLES, certificates
from studies.protocol.figures import canvas, save

_CURVES = ("MIBC", "MIBC, ridge chosen", "cost-sensitive", "undersampling", "fisher", "SVC, threshold moved")
_STYLES = dict(zip(_CURVES, ("-", "--", "-", "-", ":", ":"), strict=True))


def draw(results: Results, folder: Path) -> None:
    """All figures of the study."""
    roc(results, DENSE, folder, "roc_dense", columns=2)
    roc(results, RCV1, folder, "roc_rcv1", columns=3, zoom=0.5)
    roc(results, REUTERS_RARE, folder, "roc_reuters_1000", columns=3, zoom=0.2)
    certificate(results, KINDS, folder)
    times(results, (*DENSE, REUTERS_RARE[1], RCV1[0]), folder)


def roc(results: Results, tasks: Sequence[str], folder: Path, name: str, *, columns: int, zoom: float = 1.0) -> None:
    """One panel per task."""
    tasks = [task for task in tasks if results.has(task, "MIBC")]
    if not tasks:
        return
    figure, axes = canvas(-(-len(tasks) // columns), columns, width=3.6, height=3.1)
    for axis, task in zip(axes.ravel(), tasks, strict=False):
        for method in _CURVES:
            curves = np.array([each["roc"] for each in results.of(task, method)])
            axis.plot(RATES, curves.mean(axis=0), _STYLES[method], label=TITLES.get(method, method), linewidth=1.4)
        axis.set(
            title=title(task), xlabel="false positive rate", ylabel="true positive rate", xlim=(0, zoom), ylim=(0, 1.01)
        )
    axes.ravel()[0].legend(frameon=False, fontsize=7, loc="lower right")
    for axis in axes.ravel()[len(tasks) :]:
        axis.set_visible(False)
    save(figure, folder, name)


def certificate(results: Results, groups: Mapping[str, Sequence[str]], folder: Path) -> None:
    """Certified rate against observed rate, on training and on test negatives; what stands above the line is ringed."""
    figure, axes = canvas(1, 2, width=4.6, height=4.0)
    for axis, column, part in zip(axes.ravel(), (1, 2), ("training", "test"), strict=True):
        for k, (group, tasks) in enumerate(groups.items()):
            found = certificates(results, tasks)
            if not found:
                continue
            at = np.array([each["at"] for each in found])
            jitter = 10 ** np.random.default_rng(k).uniform(-0.06, 0.06, at.shape[:2])
            x, y = (at[:, :, 0] * jitter).ravel(), at[:, :, column].ravel()
            where = f"{group}, threshold for a tolerance"
            axis.plot(x, _above_zero(y), ".", ms=2.5, alpha=0.3, color=f"C{k}", label=where)
            own = np.array([[each["bound"], each["trained" if column == 1 else "tested"]] for each in found])
            where = f"{group}, own threshold"
            axis.plot(own[:, 0], _above_zero(own[:, 1]), "x", ms=3, alpha=0.5, color=f"C{k}", label=where)
            over, broken = own[:, 1] > own[:, 0], y > at[:, :, 0].ravel()
            ringed = np.vstack([own[over], np.column_stack([x, y])[broken]])
            axis.plot(*ringed.T, "o", ms=5, mfc="none", mew=0.7, color="black", label="_over its bound")
        axis.plot([5e-5, 1], [5e-5, 1], color="black", linewidth=0.8)
        axis.plot([], [], "o", ms=5, mfc="none", mew=0.7, color="black", label="over its bound")
        axis.set(xscale="log", yscale="log", xlim=(5e-8, 1.5), ylim=(3e-5, 1.5))
        axis.set(xlabel="certified false positive rate", ylabel=f"rate on {part} negatives (0 drawn at 5e-5)")
    legend = axes[0, 0].legend(frameon=False, fontsize=8, loc="upper left", markerscale=2)
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
    save(figure, folder, "certificate")


def times(results: Results, tasks: Sequence[str], folder: Path) -> None:
    """Seconds of one LIBLINEAR fit by cost, beside one problem of MIBC's path, which shares its work among them."""
    tasks = [task for task in tasks if results.has(task, "time")]
    if not tasks:
        return
    figure, axes = canvas(1, 1, width=6.6, height=3.6)
    axis = axes[0, 0]
    for k, task in enumerate(tasks):
        found = results.of(task, "time")
        path = np.mean([each["full" if "full" in each else "diagonal"]["path"] for each in found])
        by_cost = np.mean([each["by cost"] for each in found], axis=0)
        axis.plot(COSTS, by_cost, "o-", ms=3, color=f"C{k}", label=title(task))
        axis.axhline(path, linestyle=":", color=f"C{k}", linewidth=1.2)
    axis.set(xscale="log", yscale="log", xlabel="C", ylabel="CPU seconds of one fit")
    axis.set_title("LIBLINEAR by cost (lines) and MIBC's path per cost (dotted)")
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, folder, "times")


def _above_zero(rates: Any) -> Any:
    return np.maximum(np.ravel(rates), 5e-5)
