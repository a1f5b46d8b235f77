"""How a solve ended: one judgement for every loop.

Solves
    Given a point and its certificate, which ``Status`` is true of it.
        not finite                  never optimal: ``stalled``
        violation > tol             ``max_iter`` where a limit came first, else ``stalled``: float64 allows no more
        violation ≤ tol             ``stationary`` where K is indefinite, else ``optimal``
    K is indefinite where its formula says so; where the formula says nothing, where a step met a curvature that is
    negative beyond the rounding of the entries the step was made on.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from askew.qp import Certificate, Problem, Status

ROUNDINGS_OF_CURVATURE = 100.0  # of the largest entry of K: points that occur twice have a curvature of this size


def judge(
    problem: Problem,
    certificate: Certificate,
    tol: float,
    *,
    has_run_out: bool,
    least_curvature: float = np.inf,
    precision: np.dtype | type = np.float64,
) -> Status:
    """The status of a point whose certificate was made on a float64 gradient.

    Parameters
    ----------
    problem : Problem
    certificate : Certificate
    tol : float
        Largest KKT violation that counts as optimal.
    has_run_out : bool
        Whether a limit of steps ended the solve.
    least_curvature : float
        The least K_uu + K_dd − 2K_ud, or d'Kd/d'd, of the steps taken; infinite for loops that do not look.
    precision : float32 or float64
        Of the entries those steps were made on.
    """
    is_finite = isfinite(certificate.objective) and isfinite(certificate.violation)
    if not is_finite or certificate.violation > tol:
        return Status.MAX_ITER if has_run_out else Status.STALLED
    is_psd = problem.matrix.is_psd
    if is_psd is None:
        largest = float(np.max(np.abs(problem.matrix.diagonal()), initial=0.0))
        is_psd = least_curvature >= -ROUNDINGS_OF_CURVATURE * float(np.finfo(precision).eps) * largest
    return Status.OPTIMAL if is_psd else Status.STATIONARY
