"""Figures 1 and 2 of the paper, with the measures and the folds it does not have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from studies.kernel_scaling.experiment import STRENGTHS
from studies.kernel_scaling.paper import N_MINORITY
from studies.protocol.figures import COLOURS, canvas, save

Found = Mapping[str, Any]
NAMES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "auc": "AUC"}
LINES = {
    "SVC": "--",
    "KS, by accuracy": "-.",
    "AKS, by accuracy": "-",
    "AKS": "-",
    "SVC, moved": "--",
    "Fisher": ":",
    "always majority": ":",
}


def draw(found: Found, folder: Path) -> None:
    """All figures of the study."""
    for deal in found["surfaces"]["paper"]:
        figure_1(found, folder, deal)
    figure_2(found, folder)


def figure_1(found: Found, folder: Path, deal: str) -> None:
    """Accuracy and balanced accuracy on test folds over the two strengths, one column per size of the minority."""
    surfaces = found["surfaces"]["paper"][deal]
    figure, axes = canvas(2, len(surfaces), width=3.3, height=3.0)
    for column, (removed, surface) in enumerate(surfaces.items()):
        for axis, measure in zip(axes[:, column], ("accuracy", "balanced_accuracy"), strict=True):
            values = 100 * np.asarray(surface[measure])
            image = axis.imshow(values, origin="lower", cmap="viridis", aspect="auto")
            figure.colorbar(image, ax=axis, fraction=0.05, pad=0.02)
            best = np.unravel_index(np.argmax(values), values.shape)
            axis.plot(best[1], best[0], "o", markerfacecolor="none", markeredgecolor="#d1495b", markersize=9)
            axis.set_title(f"{NAMES[measure]}, {N_MINORITY - int(removed)} minority rows")
            axis.set_xticks(range(len(STRENGTHS)), [f"{k:g}" for k in STRENGTHS], rotation=60, fontsize=7)
            axis.set_yticks(range(len(STRENGTHS)), [f"{k:g}" for k in STRENGTHS], fontsize=7)
            axis.set_xlabel("k of the minority's side")
            axis.spines[:].set_visible(False)
        axes[0, 0].set_ylabel("k of the majority's side")
        axes[1, 0].set_ylabel("k of the majority's side")
    save(figure, folder, f"figure_1_{deal}")


def figure_2(found: Found, folder: Path) -> None:
    """Accuracy, balanced accuracy and AUC against the number of minority rows, folds by rows and by speakers."""
    compared, surfaces = found["compared"]["paper"], found["surfaces"]["paper"]
    figure, axes = canvas(len(compared), 3, width=4.0, height=3.1)
    for line, (deal, sizes) in enumerate(compared.items()):
        places = range(len(sizes))
        for axis, measure in zip(axes[line], NAMES, strict=True):
            for colour, (method, style) in zip(COLOURS, LINES.items(), strict=False):
                means = [100 * size[method][measure]["mean"] for size in sizes.values()]
                axis.plot(places, means, linestyle=style, marker=".", color=colour, label=method, linewidth=1.2)
            if measure != "auc":
                best = [100 * surfaces[deal][removed]["best"][measure] for removed in sizes]
                label = "AKS, chosen on the test folds, as the paper chooses"
                axis.plot(places, best, "x", color=COLOURS[2], label=label)
            axis.set(title=f"{NAMES[measure]}, folds by {deal}", xlabel="minority rows")
            axis.set_xticks(places, [str(N_MINORITY - int(removed)) for removed in sizes])
    axes[0, -1].legend(*axes[0, 0].get_legend_handles_labels(), frameon=False, fontsize=7, bbox_to_anchor=(1.02, 1.0))
    save(figure, folder, "figure_2")
