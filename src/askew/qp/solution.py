"""What a solver hands back: always this type, whatever the programme and however it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from askew.qp.certificate import Certificate, certify, recomputed_gradient
from askew.qp.problem import Problem


class Status(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    """KKT violation within tol on a float64 gradient; the matrix showed no negative curvature."""
    STATIONARY = "stationary"
    """KKT violation within tol, but the matrix is indefinite: a stationary point, perhaps not the minimum."""
    MAX_ITER = "max_iter"
    """The limit of iterations came first."""
    STOPPED = "stopped"
    """Whoever watched the rounds asked to stop."""
    STALLED = "stalled"
    """No further progress in float64, or none that exact rows confirm: tol asks for more than the arithmetic of this
    problem can give."""

    @property
    def has_converged(self) -> bool:
        """Whether the tolerance was met."""
        return self in (Status.OPTIMAL, Status.STATIONARY)


@dataclass(frozen=True)
class Solution:
    """A point, what judges it, and what it cost.

    Attributes
    ----------
    beta : array of shape (n,)
        The signed variables.
    gradient : array of shape (n,)
        Kβ + p in float64, computed anew at β.
    status : Status
    certificate : Certificate
        KKT violation, duality gap and multipliers, computed from the problem.
    n_iter : int
        Inner steps (pairs of variables moved).
    n_outer : int
        Working sets solved.
    timings : dict
        Seconds by stage of the solver, empty for solvers that do not measure.
    route : str
        Name of the route that found it (``askew.solvers.route_of``); empty where no route did.
    """

    beta: NDArray[np.float64]
    gradient: NDArray[np.float64]
    status: Status
    certificate: Certificate
    n_iter: int
    n_outer: int
    timings: dict[str, float]
    route: str = ""

    @property
    def objective(self) -> float:
        """½ β'Kβ + p'β."""
        return self.certificate.objective

    @property
    def multipliers(self) -> tuple[float, ...]:
        """λ of each sum: the value (Kβ + p)_i takes on variables strictly inside their box."""
        return self.certificate.multipliers

    def confirmed(self, problem: Problem, tol: float) -> Solution:
        """This solution, judged again by rows that do not share the solver's rounding, where that may matter.

        Where those rows show a larger violation, it is theirs that counts, and beyond tol the solve has stalled.
        """
        gradient = recomputed_gradient(problem, self.beta, self.gradient, tol)
        if gradient is None:
            return self
        certificate = certify(problem, self.beta, gradient)
        size = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
        rounding = 4.0 * float(np.finfo(np.float64).eps) * size * float(np.abs(self.beta).sum())
        if certificate.violation <= max(tol + min(rounding, tol), self.certificate.violation):
            return self
        status = Status.STALLED if self.status.has_converged else self.status
        return replace(self, gradient=gradient, certificate=certificate, status=status)
