"""How large a ridge: cross-validation over the positives, with the negatives' moments as judge.

Solves
    the choice of ρ in Σ + ρI. For each ρ of a grid in units of the mean variance, positives are held out in five folds,
    the programme is solved on the rest, and a held-out positive x is judged by how many standard deviations of the
    negatives its score lies beyond their mean,
        κ(x) = w'(x − x̄) / √(w'Mw) · (1 − f/(N − 1)),      f = trace(M(M + ρI)⁻¹),
    where the last factor undoes the optimism of judging by the covariance that w was made from (f degrees of freedom
    spent on N negatives). Of the ρ whose mean log(1 + e^{−κ}) is least, to within half a standard error, the
    smallest wins: it keeps the certificate tight.
Given
    A covariance structure, the positives with weights, N, the formulation, a solver. No negative is looked at again, so
    the choice is the same for a batch, a stream, and moments that arrived in a file.
Returns
    ρ.
Reference
    Golub, Heath, Wahba (1979), Generalized cross-validation as a method for choosing a good ridge parameter, for the
    last factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.kernels import Linear, Precomputed
from askew.kernels.whitened import WhitenedGram
from askew.methods import moment
from askew.methods.moment_score import whitened_points
from askew.moments.structure import Structure

Vector = NDArray[np.float64]

FOLDS = 5
MOST_POINTS = 300  # positives that take part, over all trials; more would not change the choice, only its cost
MOST_CLASSES = 3  # machines of a one-vs-rest fit whose judgements are averaged
SLACK = 0.5  # standard errors by which a smaller ridge may do worse than the best
_ROUGH = 1e-6  # tolerance of the trial fits: rougher costs as much, and lets rounding decide between close ridges


@dataclass(frozen=True)
class Trial:
    """One machine whose ridge is sought: its covariance structure, its positives, and its number of negatives."""

    structure: Structure
    X: Any
    weight: Vector
    n_negatives: float


def choose_ridge(trials: Sequence[Trial], formulation: moment.Formulation, solve: moment.Solve) -> float:
    """The ridge with the least held-out loss, averaged over the trials in units of their mean variance.

    With fewer than two distinct positives nothing can be held out; the ridge is then one mean variance.
    """
    usable = [trial for trial in trials if trial.structure.mean_variance() > 0.0]
    if not usable:
        return 1.0
    picked = [usable[k] for k in np.unique(np.linspace(0, len(usable) - 1, MOST_CLASSES).astype(int))]
    grid = picked[0].structure.ridge_grid()
    unit = float(np.mean([trial.structure.mean_variance() for trial in picked]))
    most = MOST_POINTS // len(picked)
    judged = [held_out_losses(trial, grid, _soft(formulation), solve, most) for trial in picked]
    losses = np.concatenate([loss for loss, _ in judged], axis=1)
    weight = np.concatenate([share for _, share in judged])
    return unit * (float(grid[smallest_good(losses, weight)]) if losses.shape[1] else 1.0)


def smallest_good(losses: Vector, weight: Vector) -> int:
    """The smallest ridge whose loss cannot be told from the least one: within a fraction of the standard error."""
    share = weight / weight.sum()
    best = int(np.argmin(losses @ share))
    excess = losses - losses[best]
    mean = excess @ share
    error = np.sqrt(((excess - mean[:, None]) ** 2) @ share / len(share))
    return int(np.argmax(mean <= SLACK * error + 1e-12))


def _soft(formulation: moment.Formulation) -> moment.Formulation:
    """A box programme close to the one asked for: folds of a hard margin may be infeasible, sums are not needed."""
    if formulation.name == "hard":
        return moment.Formulation("C", C=100.0)
    if formulation.name == "two_slack":
        return moment.Formulation("nu", nu=formulation.nu_positive)
    return formulation


def held_out_losses(
    trial: Trial, grid: Vector, formulation: moment.Formulation, solve: moment.Solve, most: int = MOST_POINTS
) -> tuple[Vector, Vector]:
    """Loss of every distinct positive when held out, at every ridge of the grid (rows), and their weights."""
    X, weight = distinct_rows(trial.X, trial.weight, most)
    n = X.shape[0]
    if n < 2:
        return np.empty((len(grid), 0)), np.empty(0)
    # bounds are those of the whole fit, also where they depend on the number of positives
    upper = formulation.cost(trial.weight)[0] / trial.weight[0] * weight
    box = moment.Formulation("C", C=1.0)
    fold = np.arange(n) % min(FOLDS, n)
    losses = np.empty((len(grid), n))
    simple, X = trial.structure.principal(X)
    for j, ratio in enumerate(grid):
        ridge = ratio * trial.structure.mean_variance()
        structure = simple.with_ridge(ridge)
        K = WhitenedGram(Linear(), whitened_points(structure, X)).whole()
        alphas = np.zeros((n, fold.max() + 1))
        for k in range(alphas.shape[1]):
            kept = np.flatnonzero(fold != k)
            matrix = Precomputed(np.ascontiguousarray(K[np.ix_(kept, kept)]), is_psd=True)
            alphas[kept, k] = moment.fit(matrix, box, upper[kept], solve, _ROUGH).alpha
        kappa = (K @ alphas / structure.deviations(X, alphas, K))[np.arange(n), fold]
        kappa *= trial.structure.with_ridge(ridge).unspent(trial.n_negatives)
        losses[j] = np.logaddexp(0.0, -kappa)
    return losses, weight / weight.sum()


def distinct_rows(X: Any, weight: Vector, most: int = MOST_POINTS) -> tuple[Any, Vector]:
    """Distinct rows with their weights summed, in an order that depends on nothing but their content; at most a few.

    Repeating a row, weighing it twice, or shuffling the data then lead to the same folds.
    """
    keys = _content_keys(X)
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    summed: Vector = np.bincount(member, weight).astype(np.float64)
    return X[first[:most]], summed[:most]


def _content_keys(X: Any) -> NDArray[np.uint64]:
    """A 64-bit key of each row from the bits of its entries; zeros do not count, so sparse and dense agree."""
    mixers = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if sparse.issparse(X):
        X = X.tocsr()
        bits = (X.data.astype(np.float64) + 0.0).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(29))) * mixers[X.indices]
        totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        return _scramble(totals[X.indptr[1:]] - totals[X.indptr[:-1]])
    bits = np.ascontiguousarray(X, dtype=np.float64) + 0.0
    bits = bits.view(np.uint64)
    return _scramble(np.sum((bits ^ (bits >> np.uint64(29))) * mixers, axis=1, dtype=np.uint64))


def _scramble(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the keys, so that taking the first of them in order is a fair draw."""
    keys = (keys ^ (keys >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return keys ^ (keys >> np.uint64(32))
