"""Random programmes of every constraint shape, each reproducible from (shape, seed).

A seed fixes a trait and a kernel (every pair occurs within 40 seeds in a row) and then the numbers:

==============  ==============================================================================
trait           what is hard about it
==============  ==============================================================================
plain           nothing
duplicated      most rows occur several times, so K is singular and the optimum not unique
ties            points on a coarse grid: equal gradients everywhere
badly scaled    features from 1e-4 to 1e4
zero weights    a third of the boxes is the single point 0
tiny C          the optimum has (nearly) all variables at a bound
huge C          hardly any variable reaches its upper bound
unbounded       upper bounds are infinite, and K positive definite
one point       n = 1
rare            a class with one or two members, or a sum at the edge of what the box can reach
==============  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from askew.kernels import RBF, Gram, Linear, Polynomial, Precomputed
from askew.qp import Free, GroupSums, Problem, Sum, SumAtMost

SHAPES = ("free", "sum", "group_sums", "sum_at_most")
TRAITS = (
    "plain", "duplicated", "ties", "badly scaled", "zero weights",
    "tiny C", "huge C", "unbounded", "one point", "rare",
)  # fmt: skip
KERNELS = ("rbf", "linear", "poly", "precomputed")
_LARGEST = 300


def trait_of(seed: int) -> str:
    """The trait a seed stands for."""
    return TRAITS[seed % len(TRAITS)]


def kernel_of(seed: int) -> str:
    """The kernel a seed stands for."""
    return KERNELS[seed // len(TRAITS) % len(KERNELS)]


def draw(shape: str, seed: int) -> Problem:
    """The programme of a shape and a seed."""
    rng = np.random.default_rng([SHAPES.index(shape), seed])
    trait = trait_of(seed)
    n = 1 if trait == "one point" else int(np.exp(rng.uniform(np.log(2), np.log(_LARGEST + 1))))
    matrix = _matrix(kernel_of(seed), _points(trait, n, rng), trait, rng)
    weights = _weights(trait, n, rng)
    return _BUILDERS[shape](matrix, weights, trait, rng)


def _points(trait: str, n: int, rng: np.random.Generator) -> np.ndarray:
    d = int(rng.integers(1, 21))
    X = rng.standard_normal((n, d)) + rng.uniform(0, 1.5) * rng.standard_normal(d)
    if trait == "duplicated":
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif trait == "ties":
        X = np.round(0.7 * X)
    elif trait == "badly scaled":
        X *= 10.0 ** rng.uniform(-4, 4, d)
    return X


def _matrix(kernel: str, X: np.ndarray, trait: str, rng: np.random.Generator):
    gamma = 10.0 ** rng.uniform(-1, 1) / (X.shape[1] * (X.var() or 1.0))
    if kernel == "precomputed":
        factor = rng.standard_normal((len(X), int(rng.integers(1, len(X) + 1))))
        matrix = Precomputed(10.0 ** rng.uniform(-2, 2) * factor @ factor.T / len(X), is_psd=True)
    else:
        function = {
            "rbf": RBF(gamma),
            "linear": Linear(),
            "poly": Polynomial(gamma, int(rng.integers(2, 4)), 1.0),
        }
        matrix = Gram(function[kernel], X)
    if trait == "unbounded":  # without curvature in every direction there might be no minimum
        K = matrix.rows(np.arange(len(X)))
        matrix = Precomputed(0.5 * (K + K.T) + 0.1 * max(np.trace(K) / len(X), 1e-3) * np.eye(len(X)), is_psd=True)
    return matrix


def _weights(trait: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Upper bounds relative to C."""
    weights = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.2, 3.0, n)
    if trait == "zero weights":
        weights[rng.random(n) < 0.35] = 0.0
    return weights


def _cost(trait: str, rng: np.random.Generator) -> float:
    low, high = {"tiny C": (-6, -4), "huge C": (3, 5)}.get(trait, (-1, 1.5))
    return np.inf if trait == "unbounded" else 10.0 ** rng.uniform(low, high)


def _upper(cost: float, weights: np.ndarray) -> np.ndarray:
    return np.where(weights > 0, cost, 0.0) if np.isinf(cost) else cost * weights


def _relative_cost(matrix, trait: str, rng: np.random.Generator) -> float:
    """C in units where K has diagonal 1: what "tiny" and "huge" mean depends on the kernel's size."""
    return _cost(trait, rng) / max(float(matrix.diagonal().mean()), 1e-12)


def _signs(trait: str, n: int, rng: np.random.Generator) -> np.ndarray:
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if trait == "rare":
        y[:] = -1.0
        y[: min(n, int(rng.integers(1, 3)))] = 1.0
    return y


def _free(matrix, weights: np.ndarray, trait: str, rng: np.random.Generator) -> Problem:
    """MIBC: p = −1 (sometimes uneven), box [0, C]; sometimes a box around 0."""
    upper = _upper(_relative_cost(matrix, trait, rng), weights)
    p = -np.ones(matrix.n) if rng.random() < 0.7 else -rng.uniform(-0.5, 1.5, matrix.n)
    lower = -0.5 * upper if np.isfinite(upper).all() and rng.random() < 0.3 else np.zeros(matrix.n)
    return Problem(matrix, p, lower, upper, Free())


def _sum(matrix, weights: np.ndarray, trait: str, rng: np.random.Generator) -> Problem:
    """C-SVC, one-class SVM or SVDD."""
    if rng.random() < 0.5:
        y = _signs(trait, matrix.n, rng)
        upper = _upper(_relative_cost(matrix, trait, rng), weights)
        return Problem(matrix, -y, np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0), Sum(0.0))
    upper, total = _simplex(weights, trait, rng)
    if rng.random() < 0.5:
        return Problem(matrix, np.zeros(matrix.n), np.zeros(matrix.n), upper, Sum(total))
    doubled = Precomputed(2.0 * matrix.rows(np.arange(matrix.n)), is_psd=True)
    return Problem(doubled, -matrix.diagonal(), np.zeros(matrix.n), upper, Sum(total))


def _group_sums(matrix, weights: np.ndarray, trait: str, rng: np.random.Generator) -> Problem:
    """ASVM and ν-SVC: p = 0, α in [0, w/m], one sum per class."""
    y = _signs(trait, matrix.n, rng)
    upper = _upper(_cost(trait, rng) if trait == "unbounded" else 1.0 / matrix.n, weights)
    totals = []
    for sign in (1.0, -1.0):
        room = float(np.where(np.isinf(upper), 1.0, upper)[y == sign].sum())
        totals.append(sign * room * _fraction(trait, rng))
    lower, upper = np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0)
    group = np.where(y > 0, 0, 1)
    return Problem(matrix, np.zeros(matrix.n), lower, upper, GroupSums(group, tuple(totals)))


def _sum_at_most(matrix, weights: np.ndarray, trait: str, rng: np.random.Generator) -> Problem:
    """MIBC with two slacks: p = −1, box [0, C], and a sum that binds, just binds, or leaves room."""
    upper = _upper(_relative_cost(matrix, trait, rng), weights)
    finite = np.where(np.isinf(upper), 1.0 / max(float(matrix.diagonal().mean()), 1e-12), upper)
    total = float(finite.sum()) * rng.choice([0.0, 0.02, 0.3, 1.0, 2.0])
    return Problem(matrix, -np.ones(matrix.n), np.zeros(matrix.n), upper, SumAtMost(total))


def _simplex(weights: np.ndarray, trait: str, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Upper bounds w / (ν n) and a reachable total."""
    if trait == "unbounded":
        return np.full(len(weights), np.inf), 1.0
    nu = _fraction(trait, rng) or 0.5
    upper = weights / (nu * len(weights))
    return upper, min(1.0, float(upper.sum()))


def _fraction(trait: str, rng: np.random.Generator) -> float:
    """How much of what the box can reach a sum asks for."""
    if trait == "rare":
        return float(rng.choice([0.0, 1e-3, 1.0]))
    low, high = {"tiny C": (0.97, 1.0), "huge C": (0.001, 0.03)}.get(trait, (0.05, 0.95))
    return float(rng.uniform(low, high))


_BUILDERS: dict[str, Callable[..., Problem]] = {
    "free": _free,
    "sum": _sum,
    "group_sums": _group_sums,
    "sum_at_most": _sum_at_most,
}
