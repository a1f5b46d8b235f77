"""Landmarks for Nyström features, chosen from a pool of rows.

Solves
    m rows on whose span the kernel is met exactly. Rules:
        kmeans     the rows nearest to the centres of k-means: seeds drawn with probability ∝ squared distance from
                   those before, in a few batches, then ``LLOYD_ROUNDS`` rounds of means. (The centres themselves
                   explain hardly more of the kernel than the rows next to them, and would not be sparse where the rows
                   are.)
        leverage   rows drawn with probability ∝ their ridge leverage k_ii − k_iD (K_DD + λI)⁻¹ k_Di, the part of a row
                   that a first, uniform choice D does not explain; λ is the mean of the tail of K_DD's spectrum.
        uniform    the first rows of the pool.
    Each stratum (class) gets an equal share: with one row in a thousand positive, m rows of all would hold next to none
    of them, and the score would be blind where it matters.
Given
    A pool of rows in random order with the stratum of each (``pool`` draws one), m, the rule and a random generator.
Returns
    Landmarks, at most m: fewer where the pool holds fewer distinct rows.
Reference
    Zhang, Tsang, Kwok (2008), Improved Nyström low-rank approximation and error analysis, ICML, for k-means;
    Bahmani et al. (2012), Scalable k-means++, for seeds in batches; Alaoui and Mahoney (2015), Fast randomized kernel
    ridge regression with statistical guarantees, for leverage from a first sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from askew.arrays import stack_rows
from askew.exceptions import ParameterError
from askew.kernels.function import KernelFunction
from askew.kernels.gram import Gram, as_points
from askew.kernels.points import median, some_rows

Array = NDArray[Any]
Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

RULES = ("kmeans", "leverage", "uniform")
POOL_PER_LANDMARK = 20  # rows of the pool per landmark,
FEWEST_POOLED = 10_000  # and at least so many
SEED_BATCHES = 16
LLOYD_ROUNDS = 5
ROWS_COMPARED = 2048  # points whose distances are computed at a time
EQUAL_DISTANCE = 1e-12  # squared distances below this part of the largest norm are rounding


def pool_size(count: int) -> int:
    """Rows a stratum's pool needs for so many landmarks."""
    return max(FEWEST_POOLED, POOL_PER_LANDMARK * count)


def draw_pool(keys: Vector, strata: Indices, count: int) -> Indices:
    """Which rows enter the pool: of each stratum those with the largest keys, in falling order of key.

    With keys u^(1/w), u uniform, rows enter with chances proportional to their weights w; and a stream that keeps the
    largest keys it has seen ends with the same rows as a look at all of them.
    """
    size, order = pool_size(count), np.argsort(-keys, kind="stable")
    found = [order[strata[order] == stratum][:size] for stratum in np.unique(strata)]
    return np.concatenate(found)


def draw_keys(weight: Vector, rng: np.random.Generator) -> Vector:
    """A random key for each row, by which heavier rows come first more often."""
    with np.errstate(divide="ignore"):
        return np.log(rng.random(len(weight))) / weight


def choose_landmarks(
    rows: Any, strata: Indices, count: int, rule: str, function: KernelFunction, rng: np.random.Generator
) -> Any:
    """At most ``count`` landmarks from a pool of rows in random order."""
    if rule not in RULES:
        raise ParameterError(f"landmarks must be one of {', '.join(map(repr, RULES))}; got {rule!r}.")
    parts = []
    for stratum, share in zip(*_shares(strata, count), strict=True):
        if share:
            mine = rows[np.flatnonzero(strata == stratum)]
            parts.append(_CHOICES[rule](mine, int(share), function, rng))
    return stack_rows(parts)


def _shares(strata: Indices, count: int) -> tuple[Indices, Indices]:
    """Landmarks of each stratum: equal, what a small stratum cannot use going to the others."""
    names, sizes = np.unique(strata, return_counts=True)
    shares = np.zeros(len(names), np.int64)
    for done, k in enumerate(np.argsort(sizes, kind="stable")):
        shares[k] = min(sizes[k], (count - shares.sum()) // (len(names) - done))
    return names, shares


def _uniform(rows: Any, count: int, function: KernelFunction, rng: np.random.Generator) -> Any:
    return rows[:count]


def _leverage(rows: Any, count: int, function: KernelFunction, rng: np.random.Generator) -> Any:
    gram = Gram(function, rows[:count])
    K = gram.block(np.arange(gram.n), np.float64)
    values = np.linalg.eigvalsh(K)
    tail = max(float(values[: -(-gram.n // 2)].sum()), 0.0) / max(1, gram.n // 2)
    ridge = max(tail * gram.n / rows.shape[0], 1e-10 * float(values[-1]))
    K.flat[:: gram.n + 1] += ridge if ridge > 0 else 1.0  # rows of zeros explain nothing
    factor = cho_factor(K, check_finite=False)
    own = Gram(function, rows).diagonal()
    explained = np.empty(rows.shape[0])
    for first in range(0, rows.shape[0], ROWS_COMPARED):
        cross = gram.cross(rows[first : first + ROWS_COMPARED])
        explained[first : first + ROWS_COMPARED] = np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
    left = np.maximum(own - explained, 1e-12 * (float(own.max()) or 1.0))
    return rows[np.sort(np.argsort(-draw_keys(left, rng), kind="stable")[:count])]


def _kmeans(rows: Any, count: int, function: KernelFunction, rng: np.random.Generator) -> Any:
    if sparse.issparse(rows) or not function.is_translation_invariant:
        points = as_points(rows, function).rows.astype(np.float64, copy=False)
    else:  # about a value of the data: a mean far from the origin would round the same rows otherwise
        points = rows.astype(np.float64) - median(rows[some_rows(len(rows))])
    seeds = _seeds(points, count, rng)
    if len(seeds) < count:  # every distinct row is a seed
        return rows[np.sort(seeds)]
    centres = points[seeds]
    for _ in range(LLOYD_ROUNDS):
        nearest = _distances(points, centres)[0]
        member = sparse.csr_array((np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), (count, len(nearest)))
        sizes = np.maximum(np.asarray(member.sum(axis=1)).ravel(), 1.0)
        centres = sparse.diags_array(1.0 / sizes, format="csr") @ (member @ points)
    return rows[np.unique(_distances(centres, points)[0])]


def _seeds(points: Any, count: int, rng: np.random.Generator) -> Indices:
    """Distinct rows far from each other; fewer than ``count`` where there are no more."""
    n, nothing = points.shape[0], EQUAL_DISTANCE * max(float(_squares(points).max()), 1e-300)
    distances, chosen = np.full(n, np.inf), np.zeros(1, np.int64)
    latest = chosen
    while len(chosen) < count:
        distances = np.minimum(distances, _distances(points, points[latest])[1])
        distances[distances <= nothing] = 0.0
        batch = min(-(-count // SEED_BATCHES), count - len(chosen), int(np.count_nonzero(distances)))
        if not batch:
            break
        latest = rng.choice(n, batch, replace=False, p=distances / distances.sum())
        chosen = np.concatenate([chosen, latest])
    return chosen


def _distances(points: Any, centres: Any) -> tuple[Indices, Vector]:
    """The nearest centre of every point and the square of its distance."""
    n, sizes = points.shape[0], _squares(centres)
    nearest, squares = np.empty(n, np.int64), np.empty(n)
    for first in range(0, n, ROWS_COMPARED):
        products = points[first : first + ROWS_COMPARED] @ centres.T
        reduced = sizes - 2.0 * (products.toarray() if sparse.issparse(products) else products)
        best = reduced.argmin(axis=1)
        nearest[first : first + ROWS_COMPARED] = best
        squares[first : first + ROWS_COMPARED] = reduced[np.arange(len(best)), best]
    return nearest, np.maximum(squares + _squares(points), 0.0)


def _squares(points: Any) -> Vector:
    """‖x‖² of every row."""
    if sparse.issparse(points):
        return np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", points, points)


_CHOICES: dict[str, Callable[..., Any]] = {"kmeans": _kmeans, "leverage": _leverage, "uniform": _uniform}
