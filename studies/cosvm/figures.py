"""Figure 2 of the paper, and how AUC and rejections move with η and with the width."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from askew import CovarianceOneClassSVM
from studies.cosvm.experiment import WIDTHS
from studies.cosvm.paper import NU
from studies.cosvm.sets import MADE, TITLES
from studies.protocol.figures import COLOURS, canvas, save

Found = Mapping[str, Any]
SHOWN = (1.0, 0.9, 0.8, 0.6, 0.4)


def draw(found: Found, folder: Path) -> None:
    """All figures of the study."""
    figure_2(folder)
    along_eta(found, folder)
    if found["width"]:
        along_width(found, folder)


def figure_2(folder: Path) -> None:
    """Boundaries on a 2-D Gaussian for falling η: Δ as in the paper, and in units of the kernel's trace."""
    X = np.random.default_rng(0).multivariate_normal([0, 0], [[1.0, 0.6], [0.6, 1.0]], size=200)
    across = np.linspace(-5, 5, 160)
    grid = np.stack(np.meshgrid(across, across), axis=-1)
    figure, axes = canvas(1, 3, width=3.9, height=3.9)
    panels = (
        ("raw", "plain", "Δ as in the paper, plain score"),
        ("trace", "plain", "Δ at the trace of Q, plain score"),
        ("trace", "modified", "Δ at the trace of Q, score of its own kernel"),
    )
    for axis, (scale, score, title) in zip(axes[0], panels, strict=True):
        axis.plot(*X.T, ".", color="#bbbbbb", markersize=3)
        for eta, colour in zip(SHOWN, COLOURS, strict=False):
            model = CovarianceOneClassSVM(eta, NU, gamma=0.5, covariance_scale=scale, score=score).fit(X)
            values = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
            outside = float(np.mean(model.predict(X) == -1))
            axis.contour(across, across, values, levels=[0.0], colors=[colour], linewidths=1.2)
            axis.plot([], [], color=colour, label=f"η = {eta:g}: {outside:.0%} outside")
        axis.set(title=title, aspect="equal", xlim=(-5, 5), ylim=(-5, 5))
        axis.legend(frameon=False, fontsize=7, loc="upper left")
    save(figure, folder, "figure_2")


def along_eta(found: Found, folder: Path) -> None:
    """Above the AUC on rows not seen, below the fraction of training targets outside, standardised features."""
    figure, axes = canvas(2, 3, width=4.0, height=3.0)
    columns = (("raw", "plain"), ("trace", "plain"), ("trace", "modified"))
    for column, (scale, score) in enumerate(columns):
        for place, (target, path) in enumerate(_problems(found)):
            points = [p for p in path if p["scale"] == scale and p["score"] == score]
            etas = [p["eta"] for p in points]
            style = {"color": COLOURS[place], "linestyle": "--" if target in MADE else "-", "linewidth": 1.2}
            title = f"made: {target}" if target in MADE else TITLES[target]
            axes[0, column].plot(etas, [100 * p["auc"] for p in points], label=title, **style)
            if score == "plain":
                axes[1, column].plot(etas, [100 * p["outside"] for p in points], **style)
                axes[1, column].set(xlabel="η", xlim=(1.03, -0.03), ylim=(-3, 103))
        axes[0, column].set(title=f"Δ {'as in the paper' if scale == 'raw' else 'at the trace of Q'}, {score} score")
        axes[0, column].set(xlabel="η", xlim=(1.03, -0.03))
    axes[0, 0].set(ylabel="AUC, per cent")
    axes[1, 0].set(ylabel="training targets outside\nby the multiplier, per cent")
    axes[1, 2].axis("off")
    axes[1, 2].legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=8)
    save(figure, folder, "eta")


def _problems(found: Found) -> list[tuple[str, Any]]:
    real, made = found["eta"].get("standard", {}), found["eta"].get("raw", {})
    return [*real.items(), *((target, path) for target, path in made.items() if target in MADE)]


def along_width(found: Found, folder: Path) -> None:
    """AUC from wide to narrow kernels; the mark is where the paper's rule goes."""
    figure, axes = canvas(2, 4, width=3.2, height=2.6)
    problems = found["width"]["standard"]
    for axis, (target, path) in zip(axes.flat, problems.items(), strict=False):
        for colour, method in zip(COLOURS, ("OSVM", "COSVM", "COSVM, trace"), strict=False):
            values = [100 * p["auc"] for p in path if p["method"] == method]
            axis.plot(WIDTHS, values, color=colour, linewidth=1.2, label=method)
        axis.axvline(found["chosen_width"]["standard"][target], color="#999999", linestyle=":", linewidth=1)
        axis.set(title=TITLES[target])
        axis.set_xscale("log", base=2)
    axes[0, 0].legend(frameon=False, fontsize=7)
    for axis in axes[:, 0]:
        axis.set_ylabel("AUC, per cent")
    for axis in axes[-1]:
        axis.set_xlabel("γ · d · variance")
    save(figure, folder, "width")
