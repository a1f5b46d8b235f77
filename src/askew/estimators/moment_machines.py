"""From evidence to fitted machines: ridge, matrix, solve, score, certificate."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from askew.estimators.row_identity import row_keys
from askew.exceptions import ParameterError
from askew.kernels import KernelFunction, Linear, make_function
from askew.kernels.whitened import WhitenedGram
from askew.methods import moment
from askew.methods.moment_evidence import Evidence
from askew.methods.moment_ridge import Trial, choose_ridge
from askew.methods.moment_score import direction, kernel_scores, whitened_points
from askew.moments import DiagonalMoments
from askew.moments.structure import Structure
from askew.qp import Status

Vector = NDArray[np.float64]

SMALL, FINE = 1024, 1e-8  # so few positives are solved this far at no cost, and rounding no longer shows in the model
FEW_SPARSE = 128  # the same for sparse rows, whose matrix is stored up to about here
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
        from askew.solvers.dispatch import solve

        return partial(solve, max_iter=self.max_iter)


@dataclass(frozen=True)
class Machine:
    """One score: positives of one class against the moments of the rest."""

    evidence: Evidence
    structure: Structure
    function: KernelFunction
    fit: moment.Fit | None
    w: Vector | None

    @property
    def support(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.fit.alpha) if self.fit is not None else np.empty(0, np.int64)

    @property
    def intercept(self) -> float:
        """Score of the mean of the negatives (linear kernel)."""
        return self.fit.intercept if self.fit is not None else -1.0

    def scorer(self) -> KernelScore:
        """What scoring needs, and no more."""
        support = self.support
        alpha = self.fit.alpha[support] if self.fit is not None else np.empty(0)
        return KernelScore(self.structure, self.function, self.evidence.X[support], alpha, self.intercept)

    def deviation(self, rows: Any) -> float:
        """Standard deviation of a negative's score, ridge included: √(w'(Σ + ρI)w)."""
        assert self.w is not None
        variance = _measured_variance(*rows, self.w) if rows is not None else self._variance_from_moments()
        return float(np.sqrt(variance + self.structure.ridge * float(self.w @ self.w)))

    def _variance_from_moments(self) -> float:
        """w'Σw; where only its diagonal is known, the smaller of two upper bounds."""
        moments = self.evidence.moments
        bound = moments.score_variance(self.w)
        has_factors = getattr(self.structure, "factors", np.empty((0, 0))).shape[1] > 0
        if type(moments) is DiagonalMoments and has_factors:  # Σ ⪯ D + FF', to the accuracy of Lanczos
            bound = min(bound, (1.0 + 1e-6) * self.structure.with_ridge(0.0).model_variance(self.w))
        return bound


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


@dataclass(frozen=True)
class Fitted:
    """All machines of one fit."""

    machines: list[Machine]
    rho: float
    sign: float
    setting: Setting
    rows: Any
    data: Any

    def attributes(self, name: str) -> dict[str, Any]:
        """Everything a fitted estimator shows; warns when a tolerance was not met."""
        machines, fits = self.machines, [m.fit for m in self.machines if m.fit is not None]
        worst = self._worst(fits, name)
        support, vectors, dual = _support(machines, self.sign, self.data)
        shown: dict[str, Any] = {
            "support_": support,
            "support_vectors_": vectors,
            "dual_coef_": dual,
            "moments_": _one_or_all([m.evidence.moments for m in machines]),
            "rho_": self.rho,
            "dual_gap_": np.array([m.fit.gap if m.fit is not None else 0.0 for m in machines]),
            "kkt_violation_": np.array([m.fit.violation if m.fit is not None else 0.0 for m in machines]),
            "n_iter_": np.array([max(1, m.fit.solution.n_iter) if m.fit is not None else 1 for m in machines]),
            "status_": worst.value,
            "_score_means": np.array([m.intercept for m in machines]),
        }
        if self.setting.kernel[0] == "linear":
            coef = np.stack([m.w for m in machines])
            centres = np.array([m.w @ m.structure.mean for m in machines])
            shown["coef_"] = self.sign * coef
            shown["intercept_"] = self.sign * (shown["_score_means"] - centres)
            shown["_score_deviations"] = np.array([m.deviation(self.rows) for m in machines])
        else:
            shown["intercept_"] = self.sign * shown["_score_means"]
            shown["gamma_"] = _one_or_all([getattr(m.function, "gamma", 1.0) for m in machines])
            shown["_machines"] = [m.scorer() for m in machines]
        return shown

    def _worst(self, fits: list[moment.Fit], name: str) -> Status:
        order = [Status.MAX_ITER, Status.STALLED, Status.STATIONARY, Status.OPTIMAL]
        worst = min(fits, key=lambda fit: order.index(fit.status), default=None)
        if worst is None or worst.status.has_converged:
            return worst.status if worst is not None else Status.OPTIMAL
        reason = (
            "reached its limit of steps" if worst.status is Status.MAX_ITER else "could make no progress in float64"
        )
        warnings.warn(
            f"{name} {reason} at a KKT violation of {worst.violation:.3g} where tol={self.setting.tol:g} was asked "
            "for. Raise `max_iter` or `tol`, lower `C`, or raise `rho`.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return worst.status


@dataclass(frozen=True)
class MomentPath:
    """Linear models along a path of costs.

    Attributes
    ----------
    Cs : array of shape (n_Cs,)
    coefs : array of shape (n_Cs, n_machines, n_features)
    intercepts : array of shape (n_Cs, n_machines)
    dual_gaps : array of shape (n_Cs, n_machines)
    rho : float
    """

    Cs: Vector
    coefs: Vector
    intercepts: Vector
    dual_gaps: Vector
    rho: float


def fit_machines(evidence: list[Evidence], setting: Setting, sign: float, rows: Any = None, data: Any = None) -> Fitted:
    """Solve every machine.

    ``rows`` (X, weight) let the variance of one linear score be measured; ``data`` is where ``Evidence.rows`` point.
    """
    evidence = [in_order(each) for each in evidence]
    rho = resolve_ridge(evidence, setting)
    solve = setting.solver()
    machines = []
    for mine in evidence:
        structure = mine.structure.with_ridge(rho)
        if len(mine.weight) == 0:  # a label nobody carries
            machines.append(Machine(mine, structure, Linear(), None, np.zeros(len(structure.mean))))
            continue
        points = whitened_points(structure, mine.X)
        function = kernel_of(setting.kernel, points, mine.weight)
        # sweeps over many sparse rows are not for nothing
        is_free = not sparse.issparse(mine.X) or len(mine.weight) <= FEW_SPARSE
        tol = setting.tolerance(len(mine.weight)) if is_free else setting.tol
        fit = moment.fit(WhitenedGram(function, points), setting.formulation, mine.weight, solve, tol)
        w = direction(structure, mine.X, fit.alpha) if function.is_bilinear else None
        machines.append(Machine(mine, structure, function, fit, w))
    return Fitted(machines, rho, sign, setting, rows, data)


def fit_path(evidence: list[Evidence], setting: Setting, Cs: Vector, sign: float) -> MomentPath:
    """Every cost in rising order, each started from the last; whitened points and their matrix are made once."""
    from askew.solvers.dispatch import prefers_stored

    middle = float(np.exp(np.mean(np.log(Cs))))
    rho = resolve_ridge(evidence, replace(setting, formulation=moment.Formulation("C", C=middle)))
    d = len(evidence[0].structure.mean)
    coefs = np.empty((len(Cs), len(evidence), d))
    intercepts, gaps = np.full((len(Cs), len(evidence)), -sign), np.zeros((len(Cs), len(evidence)))
    for k, mine in enumerate(evidence):
        if len(mine.weight) == 0:
            coefs[:, k] = 0.0
            continue
        structure = mine.structure.with_ridge(rho)
        matrix = WhitenedGram(Linear(), whitened_points(structure, mine.X))
        stored = matrix.whole() if prefers_stored(matrix) else None
        solve, alpha = partial(setting.solver(), stored=stored), None
        alphas, tol = np.zeros((matrix.n, len(Cs))), setting.tolerance(matrix.n)
        for j in np.argsort(Cs):
            found = moment.fit(matrix, moment.Formulation("C", C=Cs[j]), mine.weight, solve, tol, alpha)
            alphas[:, j] = alpha = found.alpha
            gaps[j, k] = found.gap
        structure.directions(mine.X, sign * alphas, coefs[:, k])
        intercepts[:, k] = -sign - coefs[:, k] @ structure.mean
    return MomentPath(Cs, coefs, intercepts, gaps, rho)


def resolve_ridge(evidence: list[Evidence], setting: Setting) -> float:
    """The number behind ``rho``; the identity needs none, the shrunk covariance carries its own."""
    if not isinstance(setting.rho, str):
        return float(setting.rho)
    if setting.covariance == "identity":
        return 0.0
    trials = [Trial(e.structure, e.X, e.weight, e.moments.n_samples) for e in evidence if len(e.weight)]
    return choose_ridge(trials, setting.formulation)


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
            lengths = WhitenedGram(Linear(), points).diagonal()
            mean_length = float(weight @ lengths / weight.sum())
            gamma = 1.0 / mean_length if mean_length > 0 else 1.0
    return make_function(name, gamma, degree, coef0)


def _measured_variance(X: Any, weight: Vector, w: Vector) -> float:
    """Variance of w'x over the rows, by weight."""
    scores, total = np.asarray(X @ w, dtype=np.float64), float(weight.sum())
    if not total > 0:
        raise ParameterError("The negatives have no weight.")
    centred = scores - weight @ scores / total
    return float(weight @ centred**2) / total


def _support(machines: list[Machine], sign: float, data: Any) -> tuple[NDArray[np.int64], Any, Vector]:
    """Rows that support any machine, their data, and their coefficients by machine."""
    rows = [m.evidence.rows[m.support] for m in machines]
    support, first = np.unique(np.concatenate(rows), return_index=True)
    if data is not None:
        vectors = data[support]
    else:
        parts = [m.evidence.X[m.support] for m in machines]
        vectors = (sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts))[first]
    dual = np.zeros((len(machines), len(support)))
    for k, m in enumerate(machines):
        if m.fit is not None:
            dual[k, np.searchsorted(support, rows[k])] = sign * m.fit.alpha[m.support]
    return support, vectors, dual


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
