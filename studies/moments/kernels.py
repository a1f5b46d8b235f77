"""Kernel MIBC (paper 000, section 3.3), which the papers propose and do not evaluate.

``whitened`` is theirs: a kernel on Σ^{-½}(x − x̄). ``unwhitened`` has Σ = I, so it shows what whitening is worth;
``svc`` sees the negatives themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from askew import SVC, MomentSVC
from studies.moments import machines, mibc
from studies.moments.grids import KERNEL_COSTS, KERNEL_RIDGES, KERNEL_WIDTHS
from studies.moments.judgement import areas, judge
from studies.moments.sets import Cut

METHODS = ("rbf whitened", "poly whitened", "rbf unwhitened", "rbf svc")


def measure(cut: Cut, method: str) -> dict[str, Any]:
    """The best model of a small grid by validation AUC, judged."""
    kernel, kind = method.split()
    models = _svcs(cut) if kind == "svc" else _moment_models(cut, kernel, kind)
    best, best_area = None, -np.inf
    for model in models:
        model.fit(cut.train.X, cut.train.y)
        area = float(areas(cut.validation.y, model.decision_function(cut.validation.X)[:, None])[0])
        if area > best_area:
            best, best_area = model, area
    assert best is not None
    return {
        **judge(cut, best.decision_function(cut.validation.X), best.decision_function(cut.test.X)),
        "C": best.C,
        "gamma": float(np.ravel(best.gamma_)[0]),
        "ridge": best.rho_ / cut.unit if isinstance(best, MomentSVC) else None,
        "gap": (mibc if isinstance(best, MomentSVC) else machines).relative_gap(best, cut.train),
    }


def _moment_models(cut: Cut, kernel: str, kind: str) -> Iterator[Any]:
    ridges = KERNEL_RIDGES if kind == "whitened" else (0.0,)
    shape = {"degree": 2, "coef0": 1.0} if kernel == "poly" else {}
    for ridge in ridges:
        fixed: dict[str, Any] = {
            "kernel": kernel,
            "covariance": "full" if kind == "whitened" else "identity",
            "rho": ridge * cut.unit,
            **shape,
        }
        width = MomentSVC(**fixed).fit(cut.train.X, cut.train.y).gamma_
        for times, C in product(KERNEL_WIDTHS, KERNEL_COSTS):
            yield MomentSVC(C=C, gamma=times * width, **fixed)


def _svcs(cut: Cut) -> Iterator[Any]:
    """Weights 1 and r; the usual width and a third and three times it."""
    width = 1.0 / (cut.train.X.shape[1] * cut.train.X.var())
    for times, C, weight in product((0.3, 1.0, 3.0), (1.0, 10.0), (1.0, cut.ratio)):
        yield SVC(C=C, gamma=times * width, class_weight={1: weight})
