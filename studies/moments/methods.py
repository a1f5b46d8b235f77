"""What is compared, and the grids each method is searched over; what is changed here makes the finished cells void.

MIBC, negatives as moments: a path over C from one factorisation, the validation rows choose. Three rules for the ridge,
which the papers leave open ("a small regularisation term"):
    small      1e-4 of the mean variance: the papers' method
    auto       what ``MomentSVC(rho="auto")`` chooses from the training rows
    chosen     on the validation rows, together with C

The peers: SVMs with weights, SVMs on as many negatives as positives, and the controls. Dense rows are solved by
``askew.SVC``, whose duality gap is known, and by LIBLINEAR as the papers did; along a path of rising costs the first
fit that does not converge within the steps allowed ends the path, and only converged fits can be chosen. Sparse rows
are solved by LIBLINEAR, and the choice is solved again by ``askew.SVC`` for its gap.

Kernel MIBC (paper 000, section 3.3), which the papers propose and do not evaluate. ``whitened`` is theirs: a kernel on
Σ^{-½}(x − x̄). ``unwhitened`` has Σ = I, so it shows what whitening is worth; ``svc`` sees the negatives themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from askew import SVC, MomentSVC
from askew.exceptions import InfeasibleError
from studies.moments.measurements import areas, certified, judge
from studies.moments.sets import Cut, Part
from studies.protocol.controls import FisherDirection

COSTS = 10.0 ** np.arange(-4, 6)
SHARES_OF_RATIO = (0.25, 0.5, 1.0, 2.0)
RIDGES = tuple(10.0**power for power in range(-4, 4))
FEW_RIDGES = (1e-4, 1.0, 100.0)
SMALL_RIDGE = RIDGES[0]
MOST_STEPS = 500_000
MOST_SWEEPS = 3000
PUBLISHED_SWEEPS = 1000  # LIBLINEAR's own limit, and so presumably the papers'
KERNEL_COSTS = (0.01, 1.0, 100.0)
KERNEL_RIDGES = (0.01, 1.0, 100.0)
KERNEL_WIDTHS = (0.01, 0.1, 1.0, 10.0)
SEED_OF_DRAW = 17
SEED_OF_LIBLINEAR = 0
KERNEL_METHODS = ("rbf whitened", "poly whitened", "rbf unwhitened", "rbf svc")


def weights(ratio: float) -> tuple[float, ...]:
    """Cost of a positive in units of a negative's: {1, r/4, r/2, r, 2r}."""
    return 1.0, *(share * ratio for share in SHARES_OF_RATIO)


def moments(cut: Cut, covariance: str) -> dict[str, Any]:
    """Every rule's choice, refitted, judged, with its gap and its certificate."""
    unit = cut.unit
    paths = {ridge: _validated_path(cut, covariance, ridge * unit) for ridge in ridges(covariance)}
    found = {
        "small": _best([paths[SMALL_RIDGE]]),
        "auto": _best([_validated_path(cut, covariance, "auto")]),
        "chosen": _best(list(paths.values())),
    }
    result = {rule: _refitted(cut, covariance, C, rho, unit) for rule, (_, C, rho) in found.items()}
    return {**result, "hard": _hard(cut, covariance, SMALL_RIDGE * unit)}


def ridges(covariance: str) -> tuple[float, ...]:
    """Those to choose among, in mean variances; few for a factor model, whose paths take longer."""
    return FEW_RIDGES if covariance == "factor" else RIDGES


def _validated_path(cut: Cut, covariance: str, rho: float | str) -> tuple[NDArray[np.float64], float]:
    """Validation AUC of every cost, and the ridge."""
    path = MomentSVC(covariance=covariance, rho=rho).path(cut.train.X, cut.train.y, COSTS)
    return areas(cut.validation.y, np.asarray(cut.validation.X @ path.coefs[:, 0].T)), float(path.rho)


def _best(paths: list[tuple[NDArray[np.float64], float]]) -> tuple[float, float, float]:
    """Largest AUC with its cost and ridge; among equals the first, that is the smallest."""
    return max(
        ((float(area), float(C), rho) for each, rho in paths for area, C in zip(each, COSTS, strict=True)),
        key=lambda candidate: candidate[0],
    )


def _refitted(cut: Cut, covariance: str, C: float, rho: float, unit: float) -> dict[str, Any]:
    model = MomentSVC(C=C, rho=rho, covariance=covariance).fit(cut.train.X, cut.train.y)
    return {
        **judge(cut, model.decision_function(cut.validation.X), model.decision_function(cut.test.X)),
        "C": C,
        "ridge": rho / unit,
        "gap": gap_of_moments(model, cut.train),
        "certificate": certified(model, cut),
    }


def _hard(cut: Cut, covariance: str, rho: float) -> dict[str, Any] | None:
    """The hard margin of Remarks 1 and 2; None where no hyperplane has all positives beyond the mean."""
    try:
        model = MomentSVC(formulation="hard", rho=rho, covariance=covariance).fit(cut.train.X, cut.train.y)
    except InfeasibleError:
        return None
    return {"certificate": certified(model, cut)}


def gap_of_moments(model: MomentSVC, train: Part) -> float:
    """(P − D)/P from what the fitted model shows.

    With f the score and w'Σw = Σ α_i (f_i + 1): P = ½w'Σw + C Σ max(0, −f_i) over positives, D = Σα − ½w'Σw.
    """
    alpha = model.dual_coef_.ravel()
    square = float(alpha @ (model.decision_function(model.support_vectors_) + 1.0))
    slack = float(np.maximum(0.0, -model.decision_function(train.positives)).sum())
    primal = 0.5 * square + model.C * slack
    return float((primal - (alpha.sum() - 0.5 * square)) / max(primal, np.finfo(float).tiny))


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


def fisher_direction(cut: Cut) -> dict[str, Any]:
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
        return {"gap": gap_of_svc(best.model, train)}
    if not sparse.issparse(train.X):
        return {"gap": None}
    model, _ = with_gap(train, best.C, best.weight)
    scores = np.asarray(model.decision_function(cut.test.X))
    return {"gap": gap_of_svc(model, train), "auc_with_gap": float(areas(cut.test.y, scores[:, None])[0])}


def gap_of_svc(model: SVC, train: Part) -> float:
    """``dual_gap_`` over the primal objective ½‖w‖² + Σ C_i ξ_i; ‖w‖² = Σ β_i (f(x_i) − b) over support vectors."""
    offset = float(np.ravel(model.intercept_)[0])
    beta = np.ravel(model.dual_coef_)
    square = float(beta @ (np.ravel(model.decision_function(model.support_vectors_)) - offset))
    slack = np.maximum(0.0, 1.0 - train.y * np.asarray(model.decision_function(train.X)))
    cost = model.C * np.where(train.y > 0, model.class_weight[1], 1.0)
    primal = 0.5 * square + float(cost @ slack)
    return float(np.sum(model.dual_gap_) / max(primal, np.finfo(float).tiny))


def kernel_machine(cut: Cut, method: str) -> dict[str, Any]:
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
        "gap": (gap_of_moments if isinstance(best, MomentSVC) else gap_of_svc)(best, cut.train),
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
