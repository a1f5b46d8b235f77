"""A start is made feasible with as little change as the sums allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.kernels import Precomputed
from askew.qp import Free, GroupSums, Problem, Sum, SumAtMost
from askew.qp.certificate import infeasibility
from askew.solvers.start import feasible_start


def _problem(rng, shape):
    n = int(rng.integers(1, 12))
    lower = rng.uniform(-1, 0.5, n)
    upper = lower + rng.uniform(0, 2, n) * (rng.random(n) < 0.8)
    inside = lower + (upper - lower) * rng.random(n)
    group = rng.integers(0, 2, n)
    constraint = {
        "free": Free(),
        "sum": Sum(float(inside.sum())),
        "edge": Sum(float(upper.sum())),
        "groups": GroupSums(group, tuple(float(inside[group == g].sum()) for g in (0, 1))),
        "at_most": SumAtMost(float(inside.sum())),
    }[shape]
    return Problem(Precomputed(np.eye(n)), np.zeros(n), lower, upper, constraint), inside


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(["free", "sum", "edge", "groups", "at_most"]))
def test_any_point_becomes_feasible_and_a_feasible_one_stays(seed, shape):
    rng = np.random.default_rng(seed)
    problem, inside = _problem(rng, shape)
    for near in (None, 10.0 * rng.standard_normal(problem.n), np.zeros(problem.n)):
        beta = feasible_start(problem, near)
        assert np.all((problem.lower <= beta) & (beta <= problem.upper))
        assert infeasibility(problem, beta) < 1e-12
    if shape != "edge":
        np.testing.assert_allclose(feasible_start(problem, inside), inside, atol=1e-12)


def test_with_open_bounds_the_sum_is_still_met():
    problem = Problem(Precomputed(np.eye(3)), np.zeros(3), np.zeros(3), np.full(3, np.inf), Sum(5.0))
    assert feasible_start(problem).sum() == pytest.approx(5.0)


def test_what_is_missing_goes_to_variables_that_are_in_use():
    problem = Problem(Precomputed(np.eye(4)), np.zeros(4), np.zeros(4), np.ones(4), Sum(1.5))
    np.testing.assert_allclose(feasible_start(problem, np.array([0.0, 0.5, 0.0, 0.5])), [0, 1.0, 0, 0.5])
