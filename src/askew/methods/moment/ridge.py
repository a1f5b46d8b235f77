"""How large a ridge: positives left out one by one, with the negatives' moments as judge.

Solves
    the choice of ρ in Σ + ρI. For each ρ of a grid in units of the mean variance, a machine close to the one asked for,
        minimise ½w'Σw + ½ Σ C_i ξ_i²   subject to   w'x̃_i ≥ 1 − ξ_i      (squared slacks; C_i the bound of α_i)
    is solved: α = (K + diag(1/C))⁻¹1 on the points that support it. Every positive is left out of it in closed form,
        α⁽ⁱ⁾ = α − A_{·i} α_i/A_ii,   score of x_i without itself = 1 − α_i/A_ii,   A = (K + diag(1/C))⁻¹,
    and judged by how many standard deviations of the negatives its score lies beyond their mean,
        κ(x) = w'(x − x̄) / √(w'Mw) · (1 − f/(N − 1)),      f = trace(M(M + ρI)⁻¹),
    where the last factor undoes the optimism of judging by the covariance that w was made from (f degrees of freedom
    spent on N negatives). Of the ρ whose mean log(1 + e^{−κ}) is least, to within half a standard error, the
    smallest wins: it keeps the certificate tight.
Given
    A covariance structure, the positives with weights, N, the formulation. No negative is looked at again, so the
    choice is the same for a batch, a stream, and moments that arrived in a file. Nothing is drawn by lot: repeating a
    row, weighing it twice, shuffling the data or moving them in their last digits leads to the same choice.
Returns
    ρ.
Reference
    Allen (1974), Technometrics 16:125, for leaving out in closed form; Golub, Heath, Wahba (1979), Generalized
    cross-validation as a method for choosing a good ridge parameter, for the last factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.methods.moment.programme import Formulation
from askew.moments.structure import Structure

Vector = NDArray[np.float64]

MOST_POINTS = 300  # positives that take part, over all trials; more would not change the choice, only its cost
MOST_CLASSES = 3  # machines of a one-vs-rest fit whose judgements are averaged
SLACK = 0.5  # standard errors by which a smaller ridge may do worse than the best
ROOM = 5.0  # margins the positives must be able to reach on average, every α at its bound, where a ridge is very large
_SAME = 1e-9  # rows that differ by less, relative to their length, are one row
_EXCHANGES = 50  # far more than any support has needed


class Trial(Protocol):
    """One machine whose ridge is sought: its covariance structure, its positives, and its number of negatives."""

    @property
    def structure(self) -> Structure: ...

    @property
    def X(self) -> Any: ...

    @property
    def weight(self) -> Vector: ...

    @property
    def n_negatives(self) -> float: ...


def choose_ridge(trials: Sequence[Trial], formulation: Formulation) -> float:
    """The ridge with the least loss on positives left out, averaged over the trials in units of their mean variance.

    With fewer than two distinct positives nothing can be left out; the ridge is then one mean variance.
    """
    picked = _spaced(trials)
    if not all(_has_variance(trial) for trial in picked):
        picked = _spaced([trial for trial in trials if _has_variance(trial)])
    if not picked:
        return 1.0
    grid = picked[0].structure.ridge_grid()
    unit = float(np.mean([trial.structure.mean_variance() for trial in picked]))
    most = MOST_POINTS // len(picked)
    judged = [left_out_losses(trial, grid, _soft(formulation), most) for trial in picked]
    losses = np.concatenate([loss for loss, _ in judged], axis=1)
    weight = np.concatenate([share for _, share in judged])
    return unit * (float(grid[smallest_good(losses, weight)]) if losses.shape[1] else 1.0)


def _spaced(trials: Sequence[Trial]) -> list[Trial]:
    """A few of them, from the first to the last."""
    return [trials[k] for k in np.unique(np.linspace(0, len(trials) - 1, MOST_CLASSES).astype(int))] if trials else []


def _has_variance(trial: Trial) -> bool:
    return bool(trial.structure.feature_variances().any())


def smallest_good(losses: Vector, weight: Vector) -> int:
    """The smallest ridge whose loss cannot be told from the least one: within a fraction of the standard error."""
    share = weight / weight.sum()
    best = int(np.argmin(losses @ share))
    if not np.isfinite(losses[best]).all():
        return 0
    excess = losses - losses[best]
    mean = excess @ share
    with np.errstate(invalid="ignore"):  # a ridge without room has an infinite loss
        error = np.sqrt(((excess - mean[:, None]) ** 2) @ share / len(share))
    return int(np.argmax(mean <= SLACK * error + 1e-12))


def _soft(formulation: Formulation) -> Formulation:
    """A programme with slacks close to the one asked for: a hard margin may be infeasible without a point."""
    if formulation.name == "hard":
        return Formulation("C", C=100.0)
    if formulation.name == "two_slack":
        return Formulation("nu", nu=formulation.nu_positive)
    return formulation


def left_out_losses(
    trial: Trial, grid: Vector, formulation: Formulation, most: int = MOST_POINTS
) -> tuple[Vector, Vector]:
    """Loss of every distinct positive when left out, at every ridge of the grid (rows), and their weights."""
    structure, unit = trial.structure, trial.structure.mean_variance()
    scale = np.sqrt(structure.feature_variances() + unit)
    X, weight = distinct_rows(trial.X, trial.weight, scale, most)
    n = X.shape[0]
    if n < 2:
        return np.empty((len(grid), 0)), np.empty(0)
    # bounds are those of the whole fit, also where they depend on the number of positives
    cost = formulation.cost(trial.weight)[0] / trial.weight[0]
    reach = cost * float(trial.weight.sum()) / ROOM
    losses, share = np.empty((len(grid), n)), weight / weight.sum()
    supports = np.ones(n, dtype=bool)
    downwards = np.arange(len(grid))[::-1]  # from the largest: few positives support what many directions fit
    for j, (K, spread, free) in zip(downwards, structure.trials(X, grid[downwards] * unit), strict=True):
        if grid[j] > structure.safe_ridge() and reach * float(share @ K @ share) < 1.0:
            losses[j] = np.inf
            continue
        kappa, supports = _left_out(K, spread, cost * weight, supports)
        losses[j] = np.logaddexp(0.0, -kappa * structure.unspent(free, trial.n_negatives))
    return losses, share


def _left_out(K: Vector, spread: Vector, cost: Vector, supports: NDArray[np.bool_]) -> tuple[Vector, NDArray[np.bool_]]:
    """Score over deviation of every point when left out, and which points support the machine.

    ``spread`` holds the products with which α'·spread·α is w'Mw; ``supports`` is where the search begins.
    """
    alpha, inverse, supports = _squared_slacks(K, cost, supports)
    own = np.where(supports, np.diagonal(inverse), 1.0)
    step = alpha / own  # A_{·i} step_i is what α loses with point i; nothing where it does not support
    scores = np.where(supports, 1.0 - step, K @ alpha)
    pulled = spread @ alpha
    crossed = np.einsum("ij,ij->j", inverse, spread @ inverse)
    variance = float(alpha @ pulled) - 2.0 * step * (inverse @ pulled) + step * step * crossed
    return scores / np.sqrt(np.maximum(variance, 1e-300)), supports


def _squared_slacks(K: Vector, cost: Vector, supports: NDArray[np.bool_]) -> tuple[Vector, Vector, NDArray[np.bool_]]:
    """α ≥ 0 of the machine with squared slacks, the inverse on its support (zero elsewhere), and the support."""
    n = len(cost)
    A = K.copy()
    A.flat[:: n + 1] += 1.0 / cost
    for _ in range(_EXCHANGES):
        some = np.flatnonzero(supports)
        square: Any = slice(None) if len(some) == n else (some[:, None], some)
        inverse: Vector = np.zeros((n, n))
        inverse[square] = np.linalg.inv(A[square])
        alpha = inverse @ supports.astype(np.float64)
        wrong = supports & (alpha < 0.0)
        if not wrong.any():
            wrong = ~supports & (K @ alpha < 1.0 - 1e-9)
            if not wrong.any():
                break
        supports = supports ^ wrong
    return np.maximum(alpha, 0.0), inverse, supports


def distinct_rows(X: Any, weight: Vector, scale: Vector, most: int = MOST_POINTS) -> tuple[Any, Vector]:
    """Distinct rows with their weights summed, in order along a fixed direction; at most a few, evenly spaced there.

    The direction is one in the features divided by ``scale``: nothing but the content of the rows decides, and their
    last digits decide nothing.
    """
    place = _places(X, scale)
    order = np.argsort(place, kind="stable")
    near = np.flatnonzero(np.diff(place[order]) <= _SAME * max(float(np.max(np.abs(place))), 1e-300))
    is_new = np.ones(len(order), dtype=bool)
    if len(near):
        rows, before = X[order[near + 1]], X[order[near]]
        is_new[near + 1] = _squares(rows - before, scale) > _SAME**2 * _squares(rows, scale)
    first = np.flatnonzero(is_new)
    summed: Vector = np.add.reduceat(weight[order].astype(np.float64), first)
    if len(first) > most:
        kept = ((np.arange(most) + 0.5) * (len(first) / most)).astype(np.int64)
        first, summed = first[kept], summed[kept]
    return X[order[first]], summed


def _places(X: Any, scale: Vector) -> Vector:
    """Where each row lies along the fixed direction; its entries are as good as random, and no two alike."""
    n, d = X.shape
    if not sparse.issparse(X) or X.nnz > d:
        return np.asarray(X @ (_fixed_direction(np.arange(d)) / scale), dtype=np.float64)
    entries = X.data * (_fixed_direction(X.indices) / scale[X.indices])
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    return np.asarray(np.bincount(rows, entries, minlength=n), dtype=np.float64)


def _fixed_direction(features: NDArray[Any]) -> Vector:
    place = features + 1.0
    return np.cos(place * np.sqrt(place))


def _squares(X: Any, scale: Vector) -> Vector:
    """Squared length of each row in units of ``scale``."""
    if not sparse.issparse(X):
        return np.sum(np.square(np.asarray(X, dtype=np.float64) / scale), axis=1)
    X = X.tocsr()
    entries = np.square(X.data / scale[X.indices])
    return np.asarray(sparse.csr_array((entries, X.indices, X.indptr), shape=X.shape) @ np.ones(X.shape[1]))
