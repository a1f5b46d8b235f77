"""Kernel machines that stand on Nyström features instead of the kernel itself.

The programme solved is the same one, in the space that the landmarks span; so are the certificate and the tolerance.
The fitted model is the landmarks and one weight for each of them: what it costs to keep and to score does not grow with
the training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from askew.arrays import row_precision
from askew.exceptions import ParameterError
from askew.findings import find, warn
from askew.kernels.landmarks import RULES, choose_landmarks, draw_keys, draw_pool
from askew.kernels.low_rank import LowRank
from askew.kernels.nystroem import Nystroem
from askew.kernels.recomputed import HeldRows, Recomputed, rows_held
from askew.methods.expansion import Expansion
from askew.sklearn_private import Interval, StrOptions
from askew.summaries import StreamedRows

LEAST_LANDMARKS, MOST_LANDMARKS = 500, 2000
MEGABYTE = 2**20
"""Bytes of a unit of ``cache_size``."""
"""Bytes of a unit of ``cache_size``."""

PARAMETERS: dict[str, list[Any]] = {
    "approximation": [StrOptions({"nystroem"}), None],
    "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "landmarks": [StrOptions(set(RULES))],
    "random_state": ["random_state"],
}
"""Constraints of the parameters of an estimator with ``approximation="nystroem"``."""


def check_approximation(machine: Any) -> None:
    """Refuse an approximation of a precomputed kernel."""
    if machine._is_approximated and machine.kernel == "precomputed":
        raise ParameterError(
            'approximation="nystroem" needs the rows themselves, to choose landmarks among them; got '
            'kernel="precomputed". Pass the rows with another kernel, or set approximation=None.'
        )


def landmark_matrix(machine: Any, function: Any, X: Any, weight: Any, strata: Any) -> LowRank | Recomputed:
    """The matrix of a kernel function in the span of landmarks: held whole, or computed anew at every pass."""
    if not function.is_psd:
        raise ParameterError(
            f'approximation="nystroem" needs a positive semi-definite kernel; got kernel={machine.kernel!r} with '
            f'degree={machine.degree:g}, coef0={machine.coef0:g}. Choose "rbf", "linear", or "poly" with a whole '
            "degree and coef0 ≥ 0."
        )
    rows = X if isinstance(X, StreamedRows) else HeldRows(X)
    origin = Nystroem(function, _choose_landmarks(machine, function, rows, weight, strata))
    if rows.n > rows_held(machine.cache_size * MEGABYTE, origin.rank, machine.tol):
        return Recomputed(origin, rows)
    return LowRank.of(origin, rows, row_precision(rows.n, machine.tol, 1.0))


def keep_landmarks(machine: Any, matrix: Any, expansions: Sequence[Expansion]) -> None:
    """Store the landmarks and their weights in each machine, whose expansion is over the training rows."""
    assert matrix.origin is not None
    coefficients = np.zeros((matrix.n, len(expansions)))
    for column, expansion in zip(coefficients.T, expansions, strict=True):
        column[expansion.support] = expansion.coefficients
    machine.landmarks_ = matrix.origin.landmarks
    machine.n_landmarks_, machine.rank_ = int(machine.landmarks_.shape[0]), matrix.origin.rank
    machine.landmark_coef_ = matrix.landmark_weights(coefficients).T


def _choose_landmarks(machine: Any, function: Any, rows: Any, weight: Any, strata: Any) -> Any:
    n = rows.n
    if strata is None:
        strata = np.zeros(n, np.int64)
    count = machine.n_landmarks
    if count == "auto":
        most = min(MOST_LANDMARKS, machine.cache_size * MEGABYTE / (4 * n))  # what keeps the features in memory
        count = int(max(min(np.ceil(np.sqrt(n)), most), LEAST_LANDMARKS))
    elif count > n:
        warn(find("ASK203", count=count, n=n))
    rng = np.random.default_rng(check_random_state(machine.random_state).randint(2**31 - 1))
    pool = draw_pool(draw_keys(weight, rng), strata, min(count, n))
    return choose_landmarks(rows.take(pool), strata[pool], min(count, n), machine.landmarks, function, rng)
