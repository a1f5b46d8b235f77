"""From evidence to machines: ridge, matrix, solve, score, and how far the negatives spread along it.

Solves
    for every machine the programme asked for (``programme``) under one ridge (``ridge``), each as if it were the only
    one; w'(Σ + ρI)w along a linear score, on which the certificate stands (``cantelli``).
Given
    ``Evidence`` of ``askew.summaries`` for every machine, the user's numbers, and the solvers to use.
Returns
    ``Machines``: scores, certificates, and what supports them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from askew.arrays import stack_rows
from askew.exceptions import ParameterError
from askew.kernels import Linear
from askew.methods.moment.few import fit_few
from askew.methods.moment.geometry import Geometry, Kernel, KernelScore
from askew.methods.moment.programme import Fit, Formulation, fit
from askew.methods.moment.ridge import choose_ridge
from askew.qp import Problem, Solution, Status
from askew.summaries import Evidence
from askew.threads import for_each

Vector = NDArray[np.float64]

SMALL, FINE = 1024, 1e-8  # so few positives are solved this far at no cost, and rounding no longer shows in the model
FEW = 128  # sparse positives of a machine whose matrix costs nothing worth counting
WORST_FIRST = (Status.MAX_ITER, Status.STALLED, Status.STATIONARY, Status.OPTIMAL)


class Solvers(Protocol):
    """The solvers that methods are handed: ``askew.solvers``, or whatever offers the same."""

    def solve(self, problem: Problem, *, start: Vector | None, tol: float, max_iter: int) -> Solution: ...

    def solve_each(
        self, problems: Sequence[Problem], *, tol: ArrayLike, max_iter: int, in_turn: bool = False
    ) -> list[Solution]: ...


@dataclass(frozen=True)
class Setting:
    """The numbers of a fit, as the user gave them, and the solvers to use."""

    formulation: Formulation
    kernel: Kernel
    covariance: str
    rho: float | str
    tol: float
    max_iter: int
    solvers: Solvers

    def tolerance(self, n_positives: int) -> float:
        """``tol``, or finer where that costs nothing."""
        return min(self.tol, FINE) if n_positives <= SMALL and self.max_iter < 0 else self.tol

    def ridge(self, evidence: Sequence[Evidence]) -> float:
        """The number behind ``rho``; the identity needs none, the shrunk covariance carries its own."""
        if not isinstance(self.rho, str):
            return float(self.rho)
        if self.covariance == "identity":
            return 0.0
        return choose_ridge([each for each in evidence if len(each.weight)], self.formulation)


@dataclass(frozen=True)
class Machine:
    """One score: positives of one class against the moments of the rest.

    Attributes
    ----------
    evidence : Evidence
    fit : Fit or None
        None where a label has no positives: it is then never predicted.
    gamma : float
        The number behind ``gamma``, where the kernel has one.
    scorer : KernelScore or None
        Where the kernel is not linear.
    centre, deviation : float
        Where it is: w'x̄, and the standard deviation of a negative's score, √(w'(Σ + ρI)w).
    """

    evidence: Evidence
    fit: Fit | None
    gamma: float = 1.0
    scorer: KernelScore | None = None
    centre: float = 0.0
    deviation: float = 0.0

    @property
    def support(self) -> NDArray[np.int64]:
        """Positives that support the machine, by their place in the evidence."""
        return np.flatnonzero(self.fit.alpha) if self.fit is not None else np.empty(0, np.int64)

    @property
    def intercept(self) -> float:
        """Score of the mean of the negatives (linear kernel)."""
        return self.fit.intercept if self.fit is not None else -1.0


@dataclass(frozen=True)
class Machines:
    """All machines of one fit.

    Attributes
    ----------
    each : list of Machine
    coefs : array of shape (n_machines, n_features), or None
        Directions, where the kernel is linear.
    rho : float
        The ridge of all of them.
    """

    each: list[Machine]
    coefs: Vector | None
    rho: float

    @property
    def worst(self) -> Fit | None:
        """The fit that ended worst; None where no machine has positives."""
        fits = [m.fit for m in self.each if m.fit is not None]
        return min(fits, key=lambda one: WORST_FIRST.index(one.status), default=None)

    def attributes(self, sign: float, X: Any = None) -> dict[str, Any]:
        """What a fitted estimator shows.

        Parameters
        ----------
        sign : {1.0, -1.0}
            Of the estimator's score; the machines' own is positive towards the positives.
        X : array or sparse matrix, optional
            All rows of the fit, from which support vectors are taken; by default those of the evidence are.
        """
        fits, worst = [m.fit for m in self.each], self.worst
        support, vectors, dual = self._support(sign, X)
        means = np.array([m.intercept for m in self.each])
        shown: dict[str, Any] = {
            "support_": support,
            "support_vectors_": vectors,
            "dual_coef_": dual,
            "moments_": _one_or_all([m.evidence.moments for m in self.each]),
            "rho_": self.rho,
            "dual_gap_": np.array([f.gap if f is not None else 0.0 for f in fits]),
            "kkt_violation_": np.array([f.violation if f is not None else 0.0 for f in fits]),
            "n_iter_": np.array([max(1, f.solution.n_iter) if f is not None else 1 for f in fits]),
            "status_": (Status.OPTIMAL if worst is None else worst.status).value,
            "_score_means": means,
        }
        if self.coefs is not None:
            centres, deviations = (np.array([getattr(m, name) for m in self.each]) for name in ("centre", "deviation"))
            shown |= {"coef_": sign * self.coefs if sign < 0 else self.coefs, "intercept_": sign * (means - centres)}
            return shown | {"_score_deviations": deviations}
        shown |= {"intercept_": sign * means, "gamma_": _one_or_all([m.gamma for m in self.each])}
        return shown | {"_machines": [m.scorer for m in self.each]}

    def _support(self, sign: float, X: Any) -> tuple[NDArray[np.int64], Any, Vector]:
        """Rows that support any machine, their data, and their coefficients by machine."""
        rows = [m.evidence.rows[m.support] for m in self.each]
        support, first = np.unique(np.concatenate(rows), return_index=True)
        vectors = X[support] if X is not None else stack_rows([m.evidence.X[m.support] for m in self.each])[first]
        dual = np.zeros((len(self.each), len(support)))
        for k, m in enumerate(self.each):
            if m.fit is not None:
                dual[k, np.searchsorted(support, rows[k])] = sign * m.fit.alpha[m.support]
        return support, vectors, dual


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def fit_machines(evidence: Sequence[Evidence], setting: Setting, rows: Any = None) -> Machines:
    """Solve every machine, each as if it were the only one.

    Parameters
    ----------
    evidence : sequence of Evidence
        Of each machine.
    setting : Setting
    rows : (X, weight), optional
        Negatives over which the variance of a linear score is measured, where their moments only bound it.
    """
    evidence = [each.in_order() for each in evidence]
    rho, is_linear = setting.ridge(evidence), setting.kernel.name == "linear"
    coefs = np.zeros((len(evidence), evidence[0].moments.n_features)) if is_linear else None
    machines: list[Any] = [None] * len(evidence)
    few = [k for k, each in enumerate(evidence) if is_linear and is_few(each, setting)]

    def fit_all_few() -> None:
        assert coefs is not None
        parts, outs = [evidence[k] for k in few], [coefs[k : k + 1] for k in few]
        tols = [setting.tolerance(len(part.weight)) for part in parts]
        solve_each = partial(setting.solvers.solve_each, max_iter=setting.max_iter)
        fits = fit_few(parts, setting.formulation, rho, tols, solve_each, outs)
        for k, part, found, out in zip(few, parts, fits, outs, strict=True):
            machines[k] = _linear_machine(part, found, out[0], rho, rows)

    def fit_one(k: int) -> None:
        machines[k] = _fit_one(evidence[k], rho, setting, rows, None if coefs is None else coefs[k : k + 1])

    many = sorted(set(range(len(evidence))) - set(few), key=lambda k: -len(evidence[k].weight))
    tasks = [fit_all_few] if few else []
    for_each(lambda task: task(), tasks + [partial(fit_one, k) for k in many])  # the largest beside all the small ones
    return Machines(machines, coefs, rho)


def is_few(evidence: Evidence, setting: Setting) -> bool:
    """Whether a linear machine can be fitted together with others of few sparse positives (``few``)."""
    return (
        setting.covariance == "diagonal"
        and sparse.issparse(evidence.X)
        and 0 < len(evidence.weight) <= FEW
        and setting.formulation.name in ("C", "nu")
        and evidence.moments.is_diagonal
        and not evidence.moments.has_directions
    )


def _fit_one(evidence: Evidence, rho: float, setting: Setting, rows: Any, out: Vector | None) -> Machine:
    """A machine of any kind; a direction goes to ``out``, of shape (1, d)."""
    if len(evidence.weight) == 0:  # a label nobody carries
        nothing = KernelScore(evidence.structure, Linear(), evidence.X, np.empty(0), -1.0)
        return Machine(evidence, None, scorer=nothing if out is None else None)
    here = Geometry.of(evidence, rho, setting.kernel)
    # sweeps over many sparse rows are not for nothing
    is_free = not sparse.issparse(evidence.X) or len(evidence.weight) <= FEW
    tol = setting.tolerance(len(evidence.weight)) if is_free else setting.tol
    solve = partial(setting.solvers.solve, max_iter=setting.max_iter)
    found = fit(here.matrix, setting.formulation, evidence.weight, solve, tol)
    if out is None:
        return Machine(evidence, found, getattr(here.function, "gamma", 1.0), here.score(found))
    here.directions(found.alpha[:, None], out)
    return _linear_machine(evidence, found, out[0], rho, rows)


def _linear_machine(evidence: Evidence, found: Fit, w: Vector, rho: float, rows: Any) -> Machine:
    """A machine whose direction is known: where the negatives' mean lies along it, and how far they spread."""
    variance = _measured_variance(*rows, w) if rows is not None else _variance_from_moments(evidence, w)
    deviation = float(np.sqrt(variance + rho * float(w @ w)))
    return Machine(evidence, found, centre=float(w @ evidence.moments.mean), deviation=deviation)


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
