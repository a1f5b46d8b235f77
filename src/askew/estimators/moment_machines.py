"""From evidence to machines: ridge, matrix, solve, score, and how far the negatives spread along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.estimators.row_identity import row_keys
from askew.exceptions import ParameterError
from askew.kernels import Gram, KernelFunction, Linear, make_function
from askew.methods import moment
from askew.methods.moment_evidence import Evidence
from askew.methods.moment_few import MOST, fit_few, is_few
from askew.methods.moment_ridge import choose_ridge
from askew.methods.moment_score import kernel_scores
from askew.moments.structure import Structure
from askew.solvers import solve, solve_each
from askew.threads import for_each

Vector = NDArray[np.float64]

SMALL, FINE = 1024, 1e-8  # so few positives are solved this far at no cost, and rounding no longer shows in the model
LINEAR = Linear()
ORDERED_LIMIT = 2**18  # positives beyond which putting them in order would cost more than the fit


@dataclass(frozen=True)
class Setting:
    """The numbers of a fit, as the user gave them."""

    formulation: moment.Formulation
    kernel: tuple[str, Any, float, float]
    covariance: str
    rho: float | str
    tol: float
    max_iter: int

    def tolerance(self, n_positives: int) -> float:
        """``tol``, or finer where that costs nothing."""
        return min(self.tol, FINE) if n_positives <= SMALL and self.max_iter < 0 else self.tol

    def solver(self) -> Any:
        """The solver that is cheapest for each programme."""
        return partial(solve, max_iter=self.max_iter)


@dataclass(frozen=True)
class Machine:
    """One score: positives of one class against the moments of the rest.

    Attributes
    ----------
    evidence : Evidence
    fit : Fit or None
        None where a label has no positives: it is then never predicted.
    function : KernelFunction
    scorer : KernelScore or None
        Where the kernel is not linear.
    centre, deviation : float
        Where it is: w'x̄, and the standard deviation of a negative's score, √(w'(Σ + ρI)w).
    """

    evidence: Evidence
    fit: moment.Fit | None
    function: KernelFunction = LINEAR
    scorer: KernelScore | None = None
    centre: float = 0.0
    deviation: float = 0.0

    @property
    def support(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.fit.alpha) if self.fit is not None else np.empty(0, np.int64)

    @property
    def intercept(self) -> float:
        """Score of the mean of the negatives (linear kernel)."""
        return self.fit.intercept if self.fit is not None else -1.0


@dataclass(frozen=True)
class KernelScore:
    """score(x) = Σ α_i K̂(x_i, x) + intercept."""

    structure: Structure
    function: KernelFunction
    support_vectors: Any
    alpha: Vector
    intercept: float

    def scores(self, X: Any) -> Vector:
        """Score of every row."""
        support = self.support_vectors
        if not len(self.alpha):
            return np.full(X.shape[0], self.intercept)
        if sparse.issparse(X) or sparse.issparse(support):
            X, support = sparse.csr_array(X), sparse.csr_array(support)
        return kernel_scores(self.structure, self.function, support, self.alpha, X) + self.intercept


def fit_machines(
    evidence: list[Evidence], setting: Setting, rows: Any = None
) -> tuple[list[Machine], Vector | None, float]:
    """Solve every machine, each as if it were the only one.

    ``rows`` (X, weight) let the variance of one linear score be measured. Returns the machines, their directions where
    the kernel is linear (n_machines, n_features), and the ridge.
    """
    evidence = [in_order(each) for each in evidence]
    rho = resolve_ridge(evidence, setting)
    is_linear = setting.kernel[0] == "linear"
    coefs = np.zeros((len(evidence), evidence[0].moments.n_features)) if is_linear else None
    machines: list[Any] = [None] * len(evidence)
    few = [k for k, mine in enumerate(evidence) if is_linear and is_few(mine, setting.formulation, setting.covariance)]

    def work(some: list[int]) -> None:
        outs = [None if coefs is None else coefs[k : k + 1] for k in some]
        fit = _fit_few if some is few else _fit_one
        for k, machine in zip(some, fit([evidence[k] for k in some], rho, setting, rows, outs), strict=True):
            machines[k] = machine

    many = sorted(set(range(len(evidence))) - set(few), key=lambda k: -len(evidence[k].weight))
    for_each(work, ([few] if few else []) + [[k] for k in many])  # the largest first, beside all the small ones
    return machines, coefs, rho


def _fit_few(evidence: list[Evidence], rho: float, setting: Setting, rows: Any, outs: list[Any]) -> list[Machine]:
    """Machines of a few sparse positives, all at once."""
    tols = [setting.tolerance(len(mine.weight)) for mine in evidence]
    fits = fit_few(evidence, setting.formulation, rho, tols, partial(solve_each, max_iter=setting.max_iter), outs)
    return [_linear_machine(*each, rho, rows) for each in zip(evidence, fits, outs, strict=True)]


def _fit_one(evidence: list[Evidence], rho: float, setting: Setting, rows: Any, outs: list[Any]) -> list[Machine]:
    """A machine of any kind."""
    mine, out = evidence[0], outs[0]
    if len(mine.weight) == 0:  # a label nobody carries
        nothing = None if out is not None else KernelScore(mine.structure, LINEAR, mine.X, np.empty(0), -1.0)
        return [Machine(mine, None, scorer=nothing)]
    structure = mine.structure.with_ridge(rho)
    points = structure.whiten(mine.X)
    function = kernel_of(setting.kernel, points, mine.weight)
    # sweeps over many sparse rows are not for nothing
    is_free = not sparse.issparse(mine.X) or len(mine.weight) <= MOST
    tol = setting.tolerance(len(mine.weight)) if is_free else setting.tol
    fit = moment.fit(Gram(function, points), setting.formulation, mine.weight, setting.solver(), tol)
    if out is not None:
        structure.directions(mine.X, fit.alpha[:, None], out)
        return [_linear_machine(mine, fit, out, rho, rows)]
    support = np.flatnonzero(fit.alpha)
    scorer = KernelScore(structure, function, mine.X[support], fit.alpha[support], fit.intercept)
    return [Machine(mine, fit, function, scorer)]


def _linear_machine(mine: Evidence, fit: moment.Fit, out: Vector, rho: float, rows: Any) -> Machine:
    """A machine whose direction is known: where the negatives' mean lies along it, and how far they spread."""
    w = out[0]
    variance = _measured_variance(*rows, w) if rows is not None else _variance_from_moments(mine, w)
    deviation = float(np.sqrt(variance + rho * float(w @ w)))
    return Machine(mine, fit, centre=float(w @ mine.moments.mean), deviation=deviation)


def resolve_ridge(evidence: list[Evidence], setting: Setting) -> float:
    """The number behind ``rho``; the identity needs none, the shrunk covariance carries its own."""
    if not isinstance(setting.rho, str):
        return float(setting.rho)
    if setting.covariance == "identity":
        return 0.0
    return choose_ridge([mine for mine in evidence if len(mine.weight)], setting.formulation)


def in_order(evidence: Evidence) -> Evidence:
    """Dense positives in an order that only their content decides.

    A solver ends somewhere within its tolerance, and where depends on the order of its variables. With this, rows that
    arrive shuffled, in chunks or from many machines lead to the same model to the last digits.
    """
    if sparse.issparse(evidence.X) or not 1 < len(evidence.weight) <= ORDERED_LIMIT:
        return evidence
    order = np.lexsort((evidence.weight, row_keys(evidence.X)))
    return replace(evidence, X=evidence.X[order], weight=evidence.weight[order], rows=evidence.rows[order])


def kernel_of(kernel: tuple[str, Any, float, float], points: Any, weight: Vector) -> KernelFunction:
    """The kernel on whitened points, ``gamma`` made a number there."""
    name, gamma, degree, coef0 = kernel
    if name == "linear":
        return Linear()
    if isinstance(gamma, str):
        if gamma == "auto":
            gamma = 1.0 / points.shape[1]
        else:
            lengths = Gram(Linear(), points).diagonal()
            mean_length = float(weight @ lengths / weight.sum())
            gamma = 1.0 / mean_length if mean_length > 0 else 1.0
    return make_function(name, gamma, degree, coef0)


def _variance_from_moments(evidence: Evidence, w: Vector) -> float:
    """w'Σw; where only its diagonal is known, the smaller of two upper bounds."""
    moments, structure = evidence.moments, evidence.structure
    bound = float(moments.score_variance(w))
    has_factors = getattr(structure, "factors", np.empty((0, 0))).shape[1] > 0
    if moments.is_diagonal and not moments.has_directions and has_factors:  # Σ ⪯ D + FF', to the accuracy of Lanczos
        bound = min(bound, (1.0 + 1e-6) * structure.with_ridge(0.0).model_variance(w))
    return bound


def _measured_variance(X: Any, weight: Vector, w: Vector) -> float:
    """Variance of w'x over the rows, by weight."""
    scores, total = np.asarray(X @ w, dtype=np.float64), float(weight.sum())
    if not total > 0:
        raise ParameterError("The negatives have no weight.")
    centred = scores - weight @ scores / total
    return float(weight @ centred**2) / total
