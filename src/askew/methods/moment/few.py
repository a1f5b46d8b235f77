"""Machines of a few sparse positives each under a diagonal covariance: one, or ninety at once.

Solves
    for every machine the dual of its C or ν form (``programme``), with a = 1/(variance + ρ) and m the negatives' mean:
        K_ij = (x_i − m)'diag(a)(x_j − m) = x_i'diag(a)x_j − x_i'diag(a)m − x_j'diag(a)m + m'diag(a)m,
    and its direction w = a∘Σα_i(x_i − m). Each is some microseconds of work, so what counts is to do little besides:
    no covariance and no kernel is made an object, and all programmes are handed over in one call.
Given
    Evidence of the machines: sparse rows, and moments of every feature.
Returns
    ``Fit`` of each, and the directions in the rows they were given.
Reference
    Leclère, Grave, El Ghaoui, section 2.1; Grave, El Ghaoui, eq. 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.methods.moment.programme import ON_MARGIN, Fit, Formulation, formulate
from askew.moments import DiagonalMoments
from askew.qp import Precomputed, Solution
from askew.summaries import Evidence

Vector = NDArray[np.float64]
SolveEach = Callable[..., list[Solution]]


def fit_few(
    evidence: Sequence[Evidence],
    formulation: Formulation,
    ridge: float,
    tols: Sequence[float],
    solve_each: SolveEach,
    out: Sequence[Vector],
) -> list[Fit]:
    """Fit the machines; w of machine k goes to ``out[k]``, of shape (1, d).

    Parameters
    ----------
    evidence : sequence of Evidence
    formulation : Formulation
        C or ν form.
    ridge : float
    tols : sequence of float
        Largest KKT violations.
    solve_each : callable
        ``solve_each(problems, tol=)`` → one Solution per problem.
    out : sequence of arrays of shape (1, d)
    """
    from askew.kernels.sparse_products import gram_of_rows
    from askew.moments.sparse_sweeps import directions_of_rows, whiten_rows

    programmes, inverse = [], np.empty(out[0].shape[1])
    for mine in evidence:
        _invert(mine.moments, ridge, inverse)
        X = mine.X
        entries, along, square = whiten_rows(X.data, X.indices, X.indptr, mine.moments.mean, inverse)
        K = gram_of_rows(entries, X.indices, X.indptr, len(inverse))
        along -= 0.5 * square
        K -= along[:, None] + along
        programmes.append(formulate(Precomputed(K, is_psd=True), formulation, mine.weight))
    fits = []
    for mine, w, solution in zip(evidence, out, solve_each(programmes, tol=tols), strict=True):
        _invert(mine.moments, ridge, inverse)
        rows = (mine.X.data, mine.X.indices, mine.X.indptr)
        directions_of_rows(*rows, solution.beta[:, None], mine.moments.mean, inverse, w)
        judged = solution.certificate
        fits.append(Fit(solution.beta, -1.0 + ON_MARGIN, judged.duality_gap, judged.violation, solution))
    return fits


def _invert(moments: DiagonalMoments, ridge: float, out: Vector) -> None:
    from askew.moments.sparse_sweeps import invert_variances

    if not invert_variances(moments.scatter, moments.n_samples, ridge, out) > 0.0:
        raise DataError(
            f"Some features of the negatives have no variance of their own and rho={ridge:g}. Use rho='auto', or a rho "
            f"above {1e-9 * float(moments.variance.mean()):.1g}."
        )
