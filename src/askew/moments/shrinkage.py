"""How far to shrink a covariance towards a multiple of the identity, by two closed formulae.

Solves
    M = (1 − δ)Σ + δμI with μ = trace(Σ)/d and δ in [0, 1] of least expected squared error:
    OAS needs n and Σ only, so it follows moments wherever they go; Ledoit–Wolf also needs Σ w_i‖x_i − x̄‖⁴, one pass.
Reference
    Chen, Wiesel, Eldar, Hero (2010), Shrinkage algorithms for MMSE covariance estimation (eq. 23);
    Ledoit, Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.threads import spans

Vector = NDArray[np.float64]


def oas(covariance: Vector, n_samples: float) -> float:
    """δ of the oracle approximating shrinkage estimator."""
    d = len(covariance)
    mean_square, mu = float(np.mean(covariance**2)), float(np.trace(covariance)) / d
    denominator = (n_samples + 1.0) * (mean_square - mu**2 / d)
    return 1.0 if denominator <= 0 else min(1.0, (mean_square + mu**2) / denominator)


def ledoit_wolf(covariance: Vector, n_samples: float, fourth_power: float) -> float:
    """δ of Ledoit and Wolf; ``fourth_power`` is Σ w_i‖x_i − x̄‖⁴."""
    d = len(covariance)
    mu, size = float(np.trace(covariance)) / d, float(np.sum(covariance**2))
    distance = (size - d * mu**2) / d
    error = (fourth_power / n_samples - size) / (d * n_samples)
    return 0.0 if distance <= 0 or error <= 0 else min(1.0, error / distance)


def shrink(covariance: Vector, intensity: float) -> Vector:
    """(1 − δ)Σ + δμI."""
    shrunk = (1.0 - intensity) * covariance
    shrunk.flat[:: len(shrunk) + 1] += intensity * np.trace(covariance) / len(covariance)
    return shrunk


def fourth_power_sum(X: Any, mean: Vector, sample_weight: Vector | None = None) -> float:
    """Σ w_i‖x_i − x̄‖⁴ in one pass; sparse rows are not densified."""
    total = 0.0
    for start, stop in spans(X.shape[0], 4096):
        rows = X[start:stop]
        if sparse.issparse(rows):
            # ‖x‖² − 2x'm + ‖m‖² is safe here: a sparse row is far from the mean or the mean is near zero
            squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() - 2.0 * (rows @ mean) + mean @ mean
        else:
            centred = np.asarray(rows, dtype=np.float64) - mean
            squares = np.einsum("ij,ij->i", centred, centred)
        weight = 1.0 if sample_weight is None else sample_weight[start:stop]
        total += float(np.sum(weight * squares**2))
    return total
