"""The peers: SVMs with weights, SVMs on as many negatives as positives, and the controls.

Dense rows are solved by ``askew.SVC``, whose duality gap is known, and by LIBLINEAR as the papers did; along a path of
rising costs the first fit that does not converge within the steps allowed ends the path, and only converged fits can
be chosen. Sparse rows are solved by LIBLINEAR, and the choice is solved again by ``askew.SVC`` for its gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from askew import SVC
from studies.moments.grids import (
    COSTS,
    MOST_STEPS,
    MOST_SWEEPS,
    PUBLISHED_SWEEPS,
    SEED_OF_DRAW,
    SEED_OF_LIBLINEAR,
    weights,
)
from studies.moments.judgement import areas, judge
from studies.moments.sets import Cut, Part
from studies.protocol.controls import FisherDirection


@dataclass(frozen=True)
class Candidate:
    """One fit of a grid."""

    C: float
    weight: float
    model: Any
    has_converged: bool
    area: float


Fit = Callable[[Part, float, float], tuple[Any, bool]]


def with_gap(train: Part, C: float, weight: float) -> tuple[Any, bool]:
    """A linear ``askew.SVC``."""
    model = SVC(kernel="linear", C=C, class_weight={1: weight}, max_iter=MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train.X, train.y)
    return model, model.status_ in ("optimal", "stationary")


def liblinear(train: Part, C: float, weight: float, sweeps: int = MOST_SWEEPS) -> tuple[Any, bool]:
    """A linear SVM by LIBLINEAR, hinge loss."""
    model = LinearSVC(loss="hinge", C=C, class_weight={1: weight}, max_iter=sweeps, random_state=SEED_OF_LIBLINEAR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train.X, train.y)
    return model, bool(model.n_iter_ < sweeps)


def grid(cut: Cut, train: Part, fit: Fit, tried: tuple[float, ...], *, to_the_end: bool) -> Iterator[Candidate]:
    """Fits by weight, then rising cost; a path ends where a fit does not converge, unless ``to_the_end``."""
    for weight in tried:
        for C in COSTS:
            model, has_converged = fit(train, float(C), weight)
            scores = np.asarray(model.decision_function(cut.validation.X))
            area = float(areas(cut.validation.y, scores[:, None])[0])
            yield Candidate(float(C), weight, model, has_converged, area)
            if not has_converged and not to_the_end:
                break


def cost_sensitive(cut: Cut) -> dict[str, Any]:
    """Weights {1, r/4, r/2, r, 2r}; and of the same fits those of weight 1, whose threshold is moved: plain SVC."""
    is_text = sparse.issparse(cut.train.X)
    fits = list(grid(cut, cut.train, liblinear if is_text else with_gap, weights(cut.ratio), to_the_end=is_text))
    plain = [each for each in fits if each.weight == 1.0]
    return {"weighted": _judged(cut, cut.train, fits), "plain": _judged(cut, cut.train, plain)}


published = partial(liblinear, sweeps=PUBLISHED_SWEEPS)


def as_published(cut: Cut) -> dict[str, Any]:
    """LIBLINEAR over the whole grid, stopped at its own limit of sweeps and chosen all the same."""
    fits = list(grid(cut, cut.train, published, weights(cut.ratio), to_the_end=True))
    return _judged(cut, cut.train, fits, only_converged=False)


def undersampled(cut: Cut, repeat: int) -> dict[str, Any]:
    """As many negatives as positives, drawn once."""
    is_text = sparse.issparse(cut.train.X)
    train = balanced(cut.train, np.random.default_rng([repeat, SEED_OF_DRAW]))
    return _judged(cut, train, list(grid(cut, train, liblinear if is_text else with_gap, (1.0,), to_the_end=is_text)))


def balanced(train: Part, rng: np.random.Generator) -> Part:
    """All positives and as many negatives."""
    positive, negative = np.flatnonzero(train.y > 0), np.flatnonzero(train.y < 0)
    rows = np.concatenate([positive, rng.choice(negative, min(len(positive), len(negative)), replace=False)])
    return Part(train.X[rows], train.y[rows])


def fisher(cut: Cut) -> dict[str, Any]:
    """Fisher's direction, which has nothing to choose."""
    model = FisherDirection().fit(cut.train.X, cut.train.y)
    return judge(cut, model.decision_function(cut.validation.X), model.decision_function(cut.test.X))


def _judged(cut: Cut, train: Part, fits: list[Candidate], *, only_converged: bool = True) -> dict[str, Any]:
    """The choice of the validation rows; among equals the first."""
    allowed = [each for each in fits if each.has_converged or not only_converged]
    best = max(allowed, key=lambda each: each.area)
    scores = [np.asarray(best.model.decision_function(part.X)) for part in (cut.validation, cut.test)]
    return {
        **judge(cut, *scores),
        "C": best.C,
        "weight": best.weight,
        "converged": best.has_converged,
        "n_converged": sum(each.has_converged for each in fits),
        "n_fits": len(fits),
        **_gap(cut, train, best),
    }


def _gap(cut: Cut, train: Part, best: Candidate) -> dict[str, Any]:
    """Relative duality gap of the choice; LIBLINEAR keeps no dual variables, so its choice is solved again."""
    if isinstance(best.model, SVC):
        return {"gap": relative_gap(best.model, train)}
    if not sparse.issparse(train.X):
        return {"gap": None}
    model, _ = with_gap(train, best.C, best.weight)
    scores = np.asarray(model.decision_function(cut.test.X))
    return {"gap": relative_gap(model, train), "auc_with_gap": float(areas(cut.test.y, scores[:, None])[0])}


def relative_gap(model: SVC, train: Part) -> float:
    """``dual_gap_`` over the primal objective ½‖w‖² + Σ C_i ξ_i; ‖w‖² = Σ β_i (f(x_i) − b) over support vectors."""
    offset = float(np.ravel(model.intercept_)[0])
    beta = np.ravel(model.dual_coef_)
    square = float(beta @ (np.ravel(model.decision_function(model.support_vectors_)) - offset))
    slack = np.maximum(0.0, 1.0 - train.y * np.asarray(model.decision_function(train.X)))
    cost = model.C * np.where(train.y > 0, model.class_weight[1], 1.0)
    primal = 0.5 * square + float(cost @ slack)
    return float(np.sum(model.dual_gap_) / max(primal, np.finfo(float).tiny))
