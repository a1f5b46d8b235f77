"""From whitened geometry to a score: the matrix on the positives, and the score of new points.

Solves
    K̂ on the positives for a covariance structure and a kernel function;
    linear: w = (M + ρI)⁻¹ Σα_i(x_i − x̄), score w'x + (intercept − w'x̄);
    else:   Σα_i K̂(x_i, x) + intercept, new points whitened a few at a time.
Given
    A ``Structure`` of ``askew.moments`` and a kernel function.
Returns
    K̂ as a ``Gram``, w, or scores in float64.
Reference
    Leclère, Grave, El Ghaoui, section 3.3 and figure 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels import Gram, KernelFunction
from askew.moments.structure import Structure
from askew.threads import spans

Vector = NDArray[np.float64]
_CHUNK = 2**22  # entries of whitened rows held at a time when scoring


def kernel_matrix(structure: Structure, function: KernelFunction, X: Any) -> Gram:
    """K̂ on the rows of X."""
    return Gram(function, structure.whiten(X))


def direction(structure: Structure, X: Any, alpha: Vector) -> Vector:
    """w = (M + ρI)⁻¹ Σα_i(x_i − x̄)."""
    return structure.solve(structure.centred_sum(X, alpha))


def kernel_scores(structure: Structure, function: KernelFunction, support: Any, alpha: Vector, X: Any) -> Vector:
    """Σα_i K̂(x_i, x) for every row x of X."""
    gram = kernel_matrix(structure, function, support)
    scores = np.empty(X.shape[0])
    for start, stop in spans(X.shape[0], max(64, _CHUNK // max(1, X.shape[1]))):
        scores[start:stop] = gram.weighted_sum(structure.whiten(X[start:stop]), alpha)
    return scores
