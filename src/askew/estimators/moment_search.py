"""MomentSVC along paths: one pass over the negatives of a fold, one whitening per ridge, warm starts along C."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.estimators.moment_machines import KernelScore, Setting, in_order, kernel_of, resolve_ridge
from askew.estimators.moment_scale import divide_rows
from askew.estimators.searchable import Candidate, Fold, PathPoint, Stage
from askew.kernels import Gram, KernelFunction
from askew.methods import moment
from askew.methods.moment_evidence import Evidence, gather
from askew.methods.moment_score import direction
from askew.moments.structure import Structure
from askew.solvers import Prepared, prepare
from askew.tables import read_classes

RIDGES = tuple(10.0**power for power in range(-5, 2))
"""Ridges of the default search, in units of the mean variance of the features."""


@dataclass
class _Whitened:
    """The positives of a fold as one ridge and one kernel see them, and the last solution there."""

    structure: Structure
    function: KernelFunction
    prepared: Prepared
    alpha: NDArray[np.float64] | None = None


@dataclass
class _Known:
    """What a fold knows: all its rows as a score sees them, its evidence, ridges chosen and geometries made so far."""

    X: Any
    evidence: Evidence
    sign: float
    ridges: dict[Any, float] = field(default_factory=dict)
    geometries: dict[Any, _Whitened] = field(default_factory=dict)

    def ridge(self, setting: Setting) -> float:
        """The number behind ``rho``; where a fit would choose it, as that fit would."""
        key = setting.rho, setting.formulation
        if key not in self.ridges:
            self.ridges[key] = resolve_ridge([self.evidence], setting)
        return self.ridges[key]

    def geometry(self, setting: Setting) -> _Whitened:
        key = self.ridge(setting), setting.kernel
        if key not in self.geometries:
            structure = self.evidence.structure.with_ridge(key[0])
            points = structure.whiten(self.evidence.X)
            function = kernel_of(setting.kernel, points, self.evidence.weight)
            matrix = Gram(function, points)
            self.geometries[key] = _Whitened(structure, function, prepare(matrix))
        return self.geometries[key]


class MomentSearch:
    """What MomentSVC offers to a search (``askew.estimators.searchable``)."""

    def _path_parameters(self) -> frozenset[str]:
        programme = {"C", "formulation", "nu", "nu_positive", "nu_negative", "rho", "tol", "max_iter"}
        return frozenset({*programme, "kernel", "gamma", "degree", "coef0", "mean_radius", "forgetting"})

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Any) -> PathPoint:
        setting: Setting = self._setting()  # type: ignore[attr-defined]
        known = self._known(fold) if last is None or last.memory is None else last.memory
        here, evidence = known.geometry(setting), known.evidence
        matrix, solver = here.prepared.matrix, partial(here.prepared.solve, max_iter=setting.max_iter)
        tol = setting.tolerance(matrix.n)
        fit = moment.fit(matrix, setting.formulation, evidence.weight, solver, tol, here.alpha)
        here.alpha = fit.alpha
        scores = self._scores(known.X, here, evidence, fit)
        return PathPoint(known.sign * scores, fit.alpha, fit.status.has_converged, known)

    def _search_unit(self, X: Any, weight: Any) -> float:
        """The mean variance of the features: ridges are measured in it."""
        if self.scale:  # type: ignore[attr-defined]
            return 1.0
        share = np.ones(X.shape[0]) if weight is None else np.asarray(weight)
        share = share / share.sum()
        squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
        return float(np.mean(np.maximum(squares.T @ share - (X.T @ share) ** 2, 0.0))) or 1.0

    def _search_stages(self, unit: float, least_shares: NDArray[np.float64]) -> list[Stage]:
        """Cost at the ridge each fit chooses, then a line over ridges."""
        costs = [{"C": 10.0**power, "formulation": "C", "rho": "auto"} for power in range(-4, 4)]

        def ridges(best: Any) -> list[Candidate]:
            return [{**best, "rho": ridge * unit} for ridge in RIDGES]

        return [lambda _: costs, ridges]

    def _known(self, fold: Fold) -> _Known:
        """The evidence of the training rows."""
        train = fold.train
        labels, weights = fold.classes[fold.codes], np.bincount(fold.codes, fold.weight, len(fold.classes))
        targets = read_classes(labels, fold.classes, self.pos_label, weights, False)  # type: ignore[attr-defined]
        model = self._model()  # type: ignore[attr-defined]
        X, scale = self._scaled(fold.X[train], fold.weight[train])  # type: ignore[attr-defined]
        evidence = gather(X, targets.member[train], fold.weight[train], model)[0]
        return _Known(fold.X if scale is None else divide_rows(fold.X, scale), in_order(evidence), targets.sign)

    @staticmethod
    def _scores(X: Any, here: _Whitened, evidence: Evidence, fit: moment.Fit) -> NDArray[np.float64]:
        """Of all rows, up to a constant."""
        if here.function.is_bilinear:
            return np.asarray(X @ direction(here.structure, evidence.X, fit.alpha), dtype=np.float64)
        support = np.flatnonzero(fit.alpha)
        scorer = KernelScore(here.structure, here.function, evidence.X[support], fit.alpha[support], fit.intercept)
        return scorer.scores(X)
