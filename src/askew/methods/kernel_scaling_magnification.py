"""How much a bent rbf kernel enlarges space, point by point.

Solves
    A kernel k' makes the input space a curved one, with metric g_ij(x) = ∂²k'(x, x') / ∂x_i ∂x'_j at x' = x.
    For k'(x, x') = D(x)k(x, x')D(x') the product rule gives, all at x' = x,
        g_ij = D_i D_j k + D_i D ∂k/∂x'_j + D D_j ∂k/∂x_i + D² ∂²k/∂x_i∂x'_j,     D_i = ∂D/∂x_i.
    For the rbf kernel k = 1, ∂k = 0 and ∂²k = 2γ δ_ij there, hence g = 2γD² I + ∇D ∇D', and by the determinant lemma
        √det g = (2γ)^{d/2} D^d √(1 + ‖∇ log D‖² / 2γ).
    ∇ log D is the chain rule through what D sees: (∂ log D/∂f) ∇f + Σ_a (∂ log D/∂d_a) ∇d_a, where
        ∇Σ_i c_i k(x_i, x) = 2γ (Σ_i c_i k(x_i, x) x_i − x Σ_i c_i k(x_i, x)),
        ∇‖φ(x) − φ(a)‖² = 4γ k(a, x)(x − a)   in feature space,     ∇‖x − a‖² = 2(x − a)   in input space,
    and a scaled machine has f = D S + b, ∇f = D (S ∇ log D + ∇S).
Given
    The stages of one machine, dense points, dense support vectors and γ.
Returns
    log √det g per point: the volume itself leaves the range of float64 in a few hundred dimensions.
Reference
    Amari and Wu (1999), Neural Networks 12:783; Maratea and Petrosino, eqs. 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askew.kernels import RBF, Gram
from askew.kernels.bends import Bend, NegativeDistance, Sight, squared_distances
from askew.methods.kernel_scaling import Stage, Vector
from askew.threads import spans

Matrix = NDArray[np.float64]
_TILE = 2**20


def log_volume(stages: Sequence[Stage], X: Matrix, support: Matrix, gamma: float) -> Vector:
    """log √det g of the metric that the last stage of a machine makes, at the rows of X."""
    d = X.shape[1]
    out = np.empty(len(X))
    for first, last in spans(len(X), max(1, _TILE // max(1, len(support), d))):
        log_factor, slope = _bend_at(stages, X[first:last], support, gamma)
        steepness = np.einsum("ij,ij->i", slope, slope) / (2.0 * gamma)
        out[first:last] = 0.5 * d * np.log(2.0 * gamma) + d * log_factor + 0.5 * np.log1p(steepness)
    return out


def _bend_at(stages: Sequence[Stage], X: Matrix, support: Matrix, gamma: float) -> tuple[Vector, Matrix]:
    """log D of the last stage and its gradient."""
    kernel = Gram(RBF(gamma), support).cross(X)
    log_factor, slope = np.zeros(len(X)), np.zeros(X.shape)
    score, score_slope = np.zeros(len(X)), np.zeros(X.shape)
    for number, stage in enumerate(stages):
        if stage.bend is not None:
            bent, bent_slope = _log_factor_and_slope(stage.bend, score, score_slope, X, support, kernel, gamma)
            log_factor = log_factor + (bent - log_factor) / number
            slope = slope + (bent_slope - slope) / number
        some, coefficients = stage.expansion.support, stage.expansion.coefficients
        weighted = kernel[:, some] * coefficients
        total = weighted.sum(axis=1)
        total_slope = 2.0 * gamma * (weighted @ support[some] - total[:, None] * X)
        factor = np.exp(log_factor)
        score = factor * total + stage.expansion.intercept
        score_slope = factor[:, None] * (total[:, None] * slope + total_slope)
    return log_factor, slope


def _log_factor_and_slope(
    bend: Bend, score: Vector, score_slope: Matrix, X: Matrix, support: Matrix, kernel: Matrix, gamma: float
) -> tuple[Vector, Matrix]:
    anchors = support[bend.anchors]
    if bend.space == "input":
        products, steepness = Gram(NegativeDistance(), anchors).cross(X), np.full((len(X), len(anchors)), 2.0)
        distances = squared_distances(products, np.zeros(len(X)), np.zeros(len(anchors)))
    else:
        values = kernel[:, bend.anchors]
        steepness = 4.0 * gamma * values
        distances = squared_distances(values, np.ones(len(X)), np.ones(len(anchors)))
    sight = Sight(score, distances)
    slopes = bend.slopes(sight)
    pull = slopes.by_distance * steepness
    towards = pull.sum(axis=1)[:, None] * X - pull @ anchors
    return bend.log_factor(sight), slopes.by_score[:, None] * score_slope + towards
