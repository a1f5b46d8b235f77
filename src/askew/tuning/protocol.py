"""What an estimator offers so that a search can share its work: kernels across folds, solutions along paths.

A fold is not a copy of some rows. The kernel stands on all rows, and rows that are held out have weight 0: their
variables have an empty box and never move, while the gradient of the programme at them *is* their score. So one matrix
serves every fold, and a solve scores the rows it has not seen without another product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from askew.qp import Problem, Solution, SymmetricMatrix

Vector = NDArray[np.float64]
Candidate = dict[str, Any]
ROUNDING = 1e-12
Stage = Callable[[Mapping[str, Any]], list[Candidate]]


@dataclass(frozen=True)
class Fold:
    """The training rows of one fold, among all rows.

    Attributes
    ----------
    matrix : SymmetricMatrix, or None
        The kernel on all n rows; None for a machine that does not stand on one.
    classes : array of shape (2,)
    codes : array of shape (n,)
        1 for rows of the positive class, 0 for the others.
    weight : array of shape (n,)
        Sample weights; 0 for rows that are held out.
    X : array or CSR matrix of n rows
    """

    matrix: Any
    classes: NDArray[Any]
    codes: NDArray[np.int64]
    weight: Vector
    X: Any = None

    @property
    def train(self) -> NDArray[np.int64]:
        """The rows that are not held out."""
        return np.flatnonzero(self.weight > 0)

    @property
    def signs(self) -> Vector:
        """±1 of each row."""
        return np.where(self.codes == 1, 1.0, -1.0)


@dataclass(frozen=True)
class PathPoint:
    """What one setting of the parameters gives on a fold.

    Attributes
    ----------
    scores : array of shape (n,), or None
        Of all rows, up to a constant; None where the point is that of another kernel.
    beta : array of shape (n,)
        The solution, where the next setting may start.
    is_resolved : bool
        Whether the scores are settled: a ranking that the solver's tolerance could change is none.
    memory : object
        What else the machine wants to find in the next point of the path.
    """

    scores: Vector | None
    beta: Vector
    is_resolved: bool
    memory: Any = None


def start_from(last: PathPoint | None) -> dict[str, Any]:
    """What a solver is told of the neighbour on the path, whose scores are K times its β."""
    return {} if last is None else {"start": last.beta, "start_scores": last.scores}


def for_another_kernel(point: PathPoint) -> PathPoint:
    """What is left of a point where the kernel changes: a place to start."""
    return PathPoint(None, point.beta, point.is_resolved)


def stretched_from(last: PathPoint | None, problem: Problem) -> dict[str, Any]:
    """The same for a programme of sums without a linear term: the neighbour stretched until the sums are right.

    Where no variable meets its bound on the way, that is the solution.
    """
    if last is None:
        return {}
    labels, totals = problem.constraint.labels(problem.n), np.array(problem.constraint.totals)
    sums = np.bincount(labels, last.beta, minlength=len(totals))
    ratios = np.divide(totals, sums, out=np.ones(len(totals)), where=sums * totals > 0)
    most = int(np.argmax(np.bincount(labels[last.beta != 0], minlength=len(totals))))
    beta = ratios[labels] * last.beta
    if last.scores is None:
        return {"start": beta}
    scores = ratios[most] * last.scores
    if np.ptp(ratios) > ROUNDING * ratios[most]:  # the scores of the other group's part are another product
        scores = scores + problem.matrix.matvec(np.where(labels == most, 0.0, beta - ratios[most] * last.beta))
    return {"start": beta, "start_scores": scores}


@runtime_checkable
class Searchable(Protocol):
    """What a machine offers to a search, so that candidates share kernels, factorisations and solutions.

    A search asks ``offers_paths`` at its door; a machine that does not offer all of these is cloned and fitted.
    """

    def _path_parameters(self) -> frozenset[str]:
        """Parameters that leave the kernel matrix, or what else the path shares, as it is."""
        ...

    def _path_matrix(self, X: Any, weight: Vector) -> SymmetricMatrix | None:
        """The kernel on all rows, for ``Fold.matrix``; None for a machine that does not stand on one."""
        ...

    def _path_point(self, fold: Fold, last: PathPoint | None, solve: Callable[..., Solution]) -> PathPoint:
        """Solve for this estimator's parameters on a fold, from the point of the last ones.

        ``solve(problem, start=, start_scores=, tol=, max_iter=)`` is the solver to use; ``start_scores`` is K times
        ``start`` where it is at hand.
        """
        ...

    def _search_unit(self, X: Any, weight: Vector | None) -> float:
        """The unit of the default search on these rows: a width 1 / (d · var X), or a variance."""
        ...

    def _search_stages(self, unit: float, least_shares: Vector) -> list[Stage]:
        """The default search: each stage maps the best setting so far ({} at first) to the settings to try next.

        ``unit`` is what ``_search_unit`` says; ``least_shares`` the least share of negatives, and of positives, in any
        fold's training rows and in all rows.
        """
        ...


def offers_paths(machine: Any) -> bool:
    """Whether a search may walk a machine's paths.

    Landmarks of an approximation are learnt from the training rows: such a machine is fitted anew on every fold.
    """
    return isinstance(machine, Searchable) and getattr(machine, "approximation", None) is None


WIDTHS = tuple(4.0**k for k in range(-3, 4))
"""Kernel widths of the default searches, in units of 1 / (d · var X)."""


def widths(kernel: str, gamma_unit: float) -> list[Candidate]:
    """The settings of ``gamma`` to try for a kernel; one empty setting where the kernel has no width."""
    if kernel in ("linear", "precomputed"):
        return [{}]
    return [{"gamma": width * gamma_unit} for width in WIDTHS]
