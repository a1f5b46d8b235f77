"""Programmes on covariance-guided matrices of one set of points.

Solves
    minimise ½ β'Pβ subject to a box and a sum, P = ηQ + (1−η)sΔ, for one η or several.
Given
    Δ (``KernelCovariance``), which is formed first where programmes take longer without it. Else a stand-in with cheap
    rows is solved, and corrected by products Q(Qβ) (``stand_in``); where Q may be indefinite there is no stand-in, and
    rows of P are computed one by one.
    The trace of Δ, without which neither the scale nor the tolerance is known, takes a pass over all pairs of points.
    ``look_ahead`` has that pass do a product as well: it solves the stand-in first, with the trace that a few rows
    suggest, so that the exact P meets its first β with the gradient at hand.
Returns
    ``Solution``, judged in float64, to a KKT violation of tol in units of Q.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.covariance_guided import CovarianceGuided, scale_of
from askew.kernels.kernel_covariance import KernelCovariance
from askew.qp import Problem, Solution
from askew.solvers import surrogate as stand_in
from askew.solvers.covariance_sketch import CovarianceSketch
from askew.solvers.start import feasible_start
from askew.solvers.working_set import loop as working_set

Vector = NDArray[np.float64]


class GuidedProgrammes:
    """A solver for every η on one Δ.

    Parameters
    ----------
    covariance : KernelCovariance
    tol : float
    max_iter : int
        Limit of steps of a programme; -1 for none.
    cache_bytes : int
    """

    def __init__(self, covariance: KernelCovariance, tol: float, max_iter: int, cache_bytes: int) -> None:
        self.covariance, self.tol = covariance, tol
        self.settings: dict[str, Any] = {"max_iter": max_iter, "cache_bytes": cache_bytes}
        self.sketch: CovarianceSketch | None = None
        self._rounds: stand_in.Rounds | None = None
        self._seen: list[tuple[Vector, Vector, Vector, bool]] = []  # β, Qβ, Δβ, and whether both are exact

    def prepare(self) -> None:
        """Form Δ, or a sketch of it; a programme at η = 1 needs neither."""
        covariance = self.covariance
        if covariance.pays_to_form(self.settings["cache_bytes"]):
            covariance.form()
        elif covariance.matrix.is_psd is not False:
            self.sketch = CovarianceSketch(covariance)
            self._rounds = stand_in.Rounds(covariance.matrix, covariance.dtype, **self.settings)

    def __enter__(self) -> GuidedProgrammes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._rounds is not None:
            self._rounds.close()

    def look_ahead(self, pose: Callable[[CovarianceGuided], Problem], eta: float, scale: str) -> None:
        """Begin the programme that ``pose`` makes of P, before the trace of Δ is known, and learn the trace."""
        if self.sketch is None or self._rounds is None:
            return
        rough = scale_of(self.covariance, scale, self.sketch.trace)
        matrix = CovarianceGuided(self.covariance, eta, rough)
        problem, cheap = pose(matrix), self.sketch.stand_in(matrix)
        beta, believed = self._rounds.guess(problem, cheap, self.tol)
        plain = cheap.plain(beta, believed)
        self._seen.append((beta, plain, self.covariance.survey(plain), False))

    def solve(self, problem: Problem, start: Vector | None = None) -> Solution:
        """The solution of a programme on a ``CovarianceGuided`` of this covariance."""
        matrix: Any = problem.matrix
        tol = self.tol * matrix.size
        if self.sketch is None or self._rounds is None or not matrix.share:
            return working_set.solve(problem, start=start, tol=tol, **self.settings)
        cheap = self.sketch.stand_in(matrix)
        beta, gradient, is_exact = self._begin(problem, cheap, start, tol)
        found = self._rounds.solve(problem, cheap, beta, gradient, tol, is_exact=is_exact)
        plain = matrix.plain(found.beta)
        spread = (found.gradient - problem.linear - matrix.eta * plain) / matrix.share
        self._seen.append((found.beta, plain, spread, True))
        return found

    def _begin(self, problem: Problem, cheap: Any, start: Vector | None, tol: float) -> tuple[Vector, Vector, bool]:
        """β and its gradient: where the look ahead led, at a β seen before (Pβ is then known for any η), or anew."""
        assert self._rounds is not None
        matrix: Any = problem.matrix
        for beta, plain, spread, is_exact in self._seen:
            if start is None or np.array_equal(beta, start):
                return beta, problem.linear + matrix.eta * plain + matrix.share * spread, is_exact
        if start is None:
            beta, believed = self._rounds.guess(problem, cheap, tol)
            return beta, problem.linear + cheap.product(beta, believed), False
        beta = feasible_start(problem, start)
        return beta, problem.linear + matrix.matvec_from(matrix.plain(beta), cheap.dtype), False
