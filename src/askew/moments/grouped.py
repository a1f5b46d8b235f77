"""Per-feature moments of everything but one class, for each of many overlapping classes of sparse rows.

Solves
    With n, x̄, S of all rows and n_c = Σ_{i∈c} w_i, s = Σ_{i∈c} w_i x_i, q = Σ_{i∈c} w_i x_i² of a class, the rest has
        N = n − n_c,   mean = x̄ − δ n_c/N,   scatter = S − (q − s²/n_c) − δ² n n_c/N,   δ = s/n_c − x̄,
    all in one compiled sweep over the features.
Given
    Sparse X without duplicates in which every column holds a zero, so that q − s²/n_c is safe for the reason given
    in ``passes``; ``can_subtract`` says whether the latter is so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.moments.moments import BaseMoments, DiagonalMoments

Vector = NDArray[np.float64]


def can_subtract(X: Any, total: BaseMoments) -> bool:
    """Whether classes of X can be taken from ``total`` here."""
    if not (sparse.issparse(X) and total.is_diagonal and not total.has_directions):
        return False
    return bool(np.bincount(X.indices, minlength=X.shape[1]).max(initial=0) < X.shape[0])


def without_each(
    total: DiagonalMoments, X: Any, groups: list[NDArray[np.int64]], weight: Vector
) -> list[DiagonalMoments]:
    """For every group of rows the moments of all others; ``weight`` is that of all rows."""
    from askew.moments.sparse_sweeps import remove_rows

    found = []
    for rows in groups:
        mean, scatter = np.empty(total.n_features), np.empty(total.n_features)
        entries = (X.data, X.indices, X.indptr, rows, weight)
        rest = remove_rows(*entries, total.n_samples, total.mean, total.scatter, mean, scatter)
        is_left = rest > 1e-9 * total.n_samples
        found.append(
            DiagonalMoments(rest, mean, total.mean_rest, scatter) if is_left else DiagonalMoments.empty(len(mean))
        )
    return found
