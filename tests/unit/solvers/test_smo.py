"""The compiled inner solver is the Python one, and both solve the block."""

from itertools import pairwise
from types import FunctionType

import numpy as np
import pytest

from askew.kernels import Precomputed
from askew.qp import GroupSums, Problem, Sum, certify
from askew.solvers.working_set import smo as inner

COMPILED = ("move_gradient", "promise", "place_of", "move_pair")


def block(seed, groups=1, q=24, dtype=np.float64):
    """A working set with every variable at its lower end, except what the sums need."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((q, 3))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    beta, p = np.full(q, 0.3), -rng.uniform(0.5, 1.5, q)
    starts = np.linspace(0, q, groups + 1).astype(np.int64)
    g = K @ beta + p
    return K.astype(dtype), np.diagonal(K).astype(dtype), g.astype(dtype), beta, np.zeros(q), np.ones(q), starts, p


def run(solve_block, seed, groups, dtype, tol=1e-6, max_steps=10_000):
    K, diagonal, g, beta, lower, upper, starts, p = block(seed, groups, dtype=dtype)
    steps, violation, curvature = solve_block(K, diagonal, g, beta, lower, upper, starts, tol, max_steps)
    return beta, g, steps, violation, curvature, p


@pytest.fixture(scope="module")
def uncompiled():
    """The inner solver as plain Python, down to the functions it calls; the compiled one is left as it is."""
    plain = dict(vars(inner))
    for name in COMPILED:
        plain[name] = FunctionType(getattr(inner, name).py_func.__code__, plain)
    return FunctionType(inner.solve_block.py_func.__code__, plain)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_uncompiled_and_compiled_take_the_same_way(uncompiled, seed, groups):
    plain, fast = run(uncompiled, seed, groups, np.float64), run(inner.solve_block, seed, groups, np.float64)
    np.testing.assert_allclose(plain[0], fast[0], atol=1e-8)
    np.testing.assert_allclose(plain[1], fast[1], atol=1e-8)
    assert abs(plain[2] - fast[2]) <= max(3, 0.1 * fast[2])  # fused arithmetic may turn at a tie


@pytest.mark.parametrize("groups", [1, 2])
def test_uncompiled_and_compiled_agree_in_float32(uncompiled, groups):
    plain = run(uncompiled, 0, groups, np.float32, tol=1e-3)
    fast = run(inner.solve_block, 0, groups, np.float32, tol=1e-3)
    np.testing.assert_allclose(plain[0], fast[0], atol=1e-2)
    assert max(plain[3], fast[3]) <= 1e-3


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_a_block_is_solved_with_its_sums_kept_and_its_gradient_moved(seed, groups):
    beta, g, _, violation, curvature, p = run(inner.solve_block, seed, groups, np.float64, tol=1e-10)
    K, _, _, start, lower, upper, starts, _ = block(seed, groups)
    sums = [float(start[a:z].sum()) for a, z in pairwise(starts)]
    group = np.repeat(np.arange(groups), np.diff(starts))
    constraint = Sum(sums[0]) if groups == 1 else GroupSums(group, tuple(sums))
    verdict = certify(Problem(Precomputed(K), p, lower, upper, constraint), beta)
    assert verdict.is_optimal(1e-8, 1e-12)
    assert verdict.violation == pytest.approx(violation, abs=1e-9)
    assert curvature > 0
    np.testing.assert_allclose(g, K @ beta + p, atol=1e-10)


def test_steps_are_counted_and_limited():
    beta, _, steps, violation, *_ = run(inner.solve_block, 0, 1, np.float64, max_steps=3)
    assert steps == 3
    assert violation > 1e-6
    assert np.count_nonzero(beta != 0.3) <= 6


def test_negative_curvature_is_reported():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    beta, lower, upper = np.array([0.5, 0.5]), np.zeros(2), np.ones(2)
    g = K @ beta + np.array([-1.0, 0.0])
    *_, curvature = inner.solve_block(K, np.zeros(2), g, beta, lower, upper, np.array([0, 2]), 1e-6, 100)
    assert curvature == pytest.approx(-2.0)
    np.testing.assert_array_equal(beta, [1.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_places_out_of_use_may_hold_anything(dtype):
    """A block on a path leaves room for newcomers at either end, in memory that nobody has written to."""
    K, diagonal, g, beta, lower, upper, starts, _ = block(0, groups=2, dtype=dtype)
    wide = np.full((len(g) + 6, len(g) + 6), np.nan, dtype)
    wide[3:-3, 3:-3] = K
    padded = [np.pad(v, 3) for v in (diagonal, g, beta, lower, upper)]
    steps, _, _ = inner.solve_block(wide, *padded, starts + 3, 1e-6, 10_000)
    expected = inner.solve_block(K, diagonal, g, beta, lower, upper, starts, 1e-6, 10_000)[0]
    assert steps == expected > 0
    assert np.array_equal(padded[2][3:-3], beta)
