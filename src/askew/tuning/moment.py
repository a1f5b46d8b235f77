"""Folds of moment machines on summaries: one pass over the training rows, one geometry per ridge, warm starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.methods.moment import Fit, Geometry, Setting, fit, fit_path
from askew.metrics import tolerance_auc_score
from askew.solvers import Prepared, prepare
from askew.summaries import Evidence
from askew.tuning.protocol import Candidate, Stage

Vector = NDArray[np.float64]

RIDGES = tuple(10.0**power for power in range(-5, 2))
"""Ridges of the default search, in units of the mean variance of the features."""
COSTS = tuple(10.0**power for power in range(-4, 4))
"""Costs of the default search."""


@dataclass
class _Whitened:
    """The positives of a fold under one ridge and one kernel, and the last solution there."""

    geometry: Geometry
    prepared: Prepared
    alpha: Vector | None = None


@dataclass
class MomentFold:
    """The training part of a fold: its evidence, the ridges chosen and the geometries made so far.

    Attributes
    ----------
    evidence : Evidence
        Of the only machine.
    """

    evidence: Evidence
    _ridges: dict[Any, float] = field(default_factory=dict)
    _whitened: dict[Any, _Whitened] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.evidence = self.evidence.in_order()

    def fit(self, setting: Setting) -> tuple[Geometry, Fit]:
        """Solve for a setting, from the last solution in its geometry; the geometry, and the fit."""
        here = self._under(setting)
        geometry, solve = here.geometry, partial(here.prepared.solve, max_iter=setting.max_iter)
        tol = setting.tolerance(len(self.evidence.weight))
        found = fit(geometry.matrix, setting.formulation, self.evidence.weight, solve, tol, here.alpha)
        here.alpha = found.alpha
        return geometry, found

    def _under(self, setting: Setting) -> _Whitened:
        """The geometry of the ridge behind ``rho``; where a fit would choose the ridge, as that fit would."""
        asked = setting.rho, setting.formulation
        if asked not in self._ridges:
            self._ridges[asked] = setting.ridge([self.evidence])
        key = self._ridges[asked], setting.kernel
        if key not in self._whitened:
            geometry = Geometry.of(self.evidence, *key)
            self._whitened[key] = _Whitened(geometry, prepare(geometry.matrix))
        return self._whitened[key]


def rank_scores(geometry: Geometry, found: Fit, X: Any) -> Vector:
    """Scores of the rows of X up to a constant."""
    if not geometry.function.is_bilinear:
        return geometry.score(found).scores(X)
    w = np.empty((1, X.shape[1]))
    geometry.directions(found.alpha[:, None], w)
    return np.asarray(X @ w[0], dtype=np.float64)


def cost_areas(
    evidence: Sequence[Evidence],
    held: tuple[Any, NDArray[np.bool_], Vector],
    setting: Setting,
    Cs: Vector,
    tolerance: float,
) -> Vector:
    """t-AUC on held-out rows for every cost, by one path of linear machines on the training part of a fold.

    Parameters
    ----------
    evidence : sequence of Evidence
        Of each machine, from the training rows.
    held : (X, member, weight)
        Held-out rows, which of them are positives of each machine (n, n_machines), and their weights.
    setting : Setting
    Cs : array of shape (n_Cs,)
    tolerance : float
        The false positive rate up to which the area counts; 1 for the whole curve. The area is divided by it.

    Returns
    -------
    array of shape (n_Cs,)
        The mean over the machines whose held-out rows hold both classes; NaN where none does.
    """
    X, member, weight = held
    judged = np.flatnonzero(member.any(axis=0) & ~member.all(axis=0))
    if not len(judged):
        return np.full(len(Cs), np.nan)
    path, areas = fit_path(evidence, setting, Cs), np.empty((len(Cs), len(judged)))
    for column, k in enumerate(judged):
        scores = np.asarray(X @ path.coefs[:, k].T)
        for c in range(len(Cs)):
            areas[c, column] = tolerance_auc_score(
                member[:, k], scores[:, c], tolerance, normalize=True, sample_weight=weight
            )
    return areas.mean(axis=1)


def best_cost(Cs: Vector, areas: Vector) -> float:
    """The cost of the largest mean area over folds; of equals the largest, which brings most positives to their margin.

    Parameters
    ----------
    Cs : array of shape (n_Cs,)
    areas : array of shape (n_folds, n_Cs)
        NaN for a fold that could not be judged.
    """
    means = np.nanmean(areas, axis=0)
    return float(Cs[np.lexsort((-Cs, -means.round(12)))[0]])


def mean_variance(X: Any, weight: Vector | None) -> float:
    """The mean variance of the features, in which ridges are measured; 1 where nothing varies."""
    share = np.ones(X.shape[0]) if weight is None else np.asarray(weight)
    share = share / share.sum()
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    return float(np.mean(np.maximum(squares.T @ share - (X.T @ share) ** 2, 0.0))) or 1.0


def search_stages(unit: float) -> list[Stage]:
    """The default search: cost at the ridge each fit chooses, then a line over ridges in multiples of ``unit``."""
    costs: list[Candidate] = [{"C": C, "formulation": "C", "rho": "auto"} for C in COSTS]
    return [lambda _: costs, lambda best: [{**best, "rho": ridge * unit} for ridge in RIDGES]]
