"""Tripwires: the certificate accepts optima known in closed form and refuses everything else.

With K = I the programme is the projection of c = −p onto the feasible set: β = clip(c + λ, lower, upper), where λ
makes the sum right, and λ is also the multiplier.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.clarabel_oracle import solve_with_clarabel
from scipy.optimize import brentq

from askew.kernels import Precomputed
from askew.qp import Free, GroupSums, Problem, Sum, SumAtMost, certify

N = 24
GROUP = np.arange(N) % 2
TOL = 1e-9


def problem_of(constraint, upper=1.0):
    c = np.random.default_rng(0).permutation(np.linspace(-1.0, 2.2, N))
    return Problem(Precomputed(np.eye(N)), -c, np.zeros(N), np.full(N, upper), constraint)


def projected(problem):
    """The optimum and the multipliers, by a one-dimensional search per sum."""
    c, beta, multipliers = -problem.linear, np.empty(N), []
    labels, slack = problem.constraint.labels(N), problem.constraint.slack
    for g, total in enumerate(problem.constraint.totals):
        mine = labels == g

        def at(shift, mine=mine):
            return np.clip(c[mine] + shift, problem.lower[mine], problem.upper[mine])

        shift = 0.0
        if slack is None or (slack[0] == 0 and at(0.0).sum() > total):
            shift = brentq(lambda s, at=at, total=total: at(s).sum() - total, -10, 10, xtol=1e-15, rtol=1e-15)
        beta[mine] = at(shift)
        multipliers.append(shift)
    return beta, multipliers


SHAPES = {
    "free": Free(),
    "sum": Sum(9.0),
    "groups": GroupSums(GROUP, (4.0, 6.0)),
    "at most, binding": SumAtMost(8.0),
    "at most, slack": SumAtMost(30.0),
}
every_shape = pytest.mark.parametrize("constraint", SHAPES.values(), ids=SHAPES.keys())


@every_shape
def test_the_optimum_is_accepted_with_its_multipliers(constraint):
    problem = problem_of(constraint)
    beta, multipliers = projected(problem)
    verdict = certify(problem, beta)
    assert verdict.is_optimal(TOL)
    assert verdict.multipliers == pytest.approx(multipliers, abs=1e-12)
    assert 0 <= verdict.duality_gap < 1e-12
    assert verdict.objective == pytest.approx(0.5 * beta @ beta + problem.linear @ beta)


@every_shape
@pytest.mark.parametrize("step", [1e-6, 1e-3, 0.1])
def test_a_perturbed_answer_is_refused(constraint, step):
    """Mass moved between two variables inside their box keeps every sum and is still seen."""
    problem = problem_of(constraint)
    beta, _ = projected(problem)
    labels = constraint.labels(N)
    inside = np.flatnonzero((beta > 0.1) & (beta < 0.9) & (labels == 0))[:2]
    moved = beta.copy()
    moved[inside] += [step, -step]
    verdict = certify(problem, moved)
    assert verdict.infeasibility < 1e-12
    assert not verdict.is_optimal(0.9 * step)
    assert verdict.violation == pytest.approx(2 * step)
    assert verdict.duality_gap >= verdict.objective - certify(problem, beta).objective > 0


@every_shape
@pytest.mark.parametrize("start", ["lower", "upper"])
def test_a_flipped_bound_is_refused(constraint, start):
    problem = problem_of(constraint)
    beta, _ = projected(problem)
    bound, other = (problem.lower, problem.upper) if start == "lower" else (problem.upper, problem.lower)
    i = int(np.flatnonzero(beta == bound)[0])
    flipped = beta.copy()
    flipped[i] = other[i]
    assert not certify(problem, flipped).is_optimal(TOL)
    same_sums = Problem(
        problem.matrix, problem.linear, problem.lower, problem.upper, _with_sums_of(constraint, flipped)
    )
    assert not certify(same_sums, flipped).is_optimal(TOL)  # refused for its gradient, not only for its sum


def _with_sums_of(constraint, beta):
    if isinstance(constraint, GroupSums):
        return GroupSums(GROUP, tuple(beta[g == GROUP].sum() for g in (0, 1)))
    return type(constraint)() if isinstance(constraint, Free) else type(constraint)(float(beta.sum()))


@pytest.mark.parametrize("constraint", [Sum(9.0), GroupSums(GROUP, (4.0, 6.0)), SumAtMost(8.0)])
def test_a_dropped_sum_is_refused(constraint):
    problem = problem_of(constraint)
    beta, _ = projected(problem_of(Free()))
    verdict = certify(problem, beta)
    assert verdict.infeasibility > 0.1
    assert not verdict.is_optimal(TOL)
    assert not verdict.is_optimal(np.inf)


def test_two_sums_are_not_their_total():
    """The optimum under Σβ = 10 has the right total, not the right sum in each group."""
    beta, _ = projected(problem_of(Sum(10.0)))
    verdict = certify(problem_of(GroupSums(GROUP, (4.0, 6.0))), beta)
    assert verdict.infeasibility > 1e-3
    assert not verdict.is_optimal(np.inf)


def test_a_multiplier_of_the_wrong_sign_is_refused():
    """Σβ held above where it would go by itself: right for an equality, wrong for an upper limit."""
    unforced, _ = projected(problem_of(Free()))
    total = float(unforced.sum()) + 1.0
    beta, (multiplier,) = projected(problem_of(Sum(total)))
    assert multiplier > 0
    assert certify(problem_of(Sum(total)), beta).is_optimal(TOL)
    verdict = certify(problem_of(SumAtMost(total)), beta)
    assert verdict.infeasibility < 1e-12
    assert verdict.violation == pytest.approx(multiplier)
    assert verdict.multipliers[0] <= 0


def test_a_limit_that_has_room_has_no_multiplier():
    verdict = certify(problem_of(SumAtMost(30.0)), projected(problem_of(Sum(8.0)))[0])
    assert verdict.multipliers == (0.0,)
    assert not verdict.is_optimal(TOL)


@every_shape
@pytest.mark.parametrize("breach", [1e-6, 0.5])
def test_a_point_outside_its_box_is_refused(constraint, breach):
    problem = problem_of(constraint)
    beta, _ = projected(problem)
    beta[np.argmax(beta)] = 1.0 + breach
    assert certify(problem, beta).infeasibility >= 0.99 * breach
    assert not certify(problem, beta).is_optimal(np.inf)


def test_not_a_number_is_refused():
    beta, _ = projected(problem_of(Sum(9.0)))
    beta[3] = np.nan
    assert not certify(problem_of(Sum(9.0)), beta).is_optimal(np.inf)


def test_feasibility_is_judged_in_the_size_of_the_box():
    """The same relative breach counts the same whether the box is 1e-6 or 1e6 wide."""
    breaches = []
    for size in (1e-6, 1.0, 1e6):
        problem = Problem(Precomputed(np.eye(2)), np.zeros(2), np.zeros(2), np.full(2, size), Sum(size))
        breaches.append(certify(problem, np.array([0.5, 0.51]) * size).infeasibility)
    assert breaches == pytest.approx([breaches[0]] * 3)
    assert breaches[0] == pytest.approx(0.01, rel=0.02)


def test_an_open_box_is_judged_by_what_is_finite():
    problem = problem_of(Sum(9.0), upper=np.inf)
    beta, multipliers = projected(problem)
    verdict = certify(problem, beta)
    assert verdict.is_optimal(TOL)
    assert verdict.multipliers == pytest.approx(multipliers)


@every_shape
def test_a_gradient_at_hand_gives_the_same_verdict(constraint):
    problem = problem_of(constraint)
    beta = np.full(N, 1 / 3)
    assert certify(problem, beta, problem.gradient(beta)) == certify(problem, beta)


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(["free", "sum", "groups", "at_most"]))
def test_the_gap_bounds_the_distance_to_the_optimum(seed, shape):
    """For any feasible point of any convex programme: 0 ≤ objective − optimum ≤ gap."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    factor = rng.standard_normal((n, int(rng.integers(1, n + 1))))
    lower, width = rng.uniform(-1, 0.5, n), rng.uniform(0, 2, n) * (rng.random(n) < 0.9)
    beta = lower + width * rng.choice([0.0, 1.0, 0.3, 0.7], n)
    group = rng.integers(0, 2, n)
    constraint = {
        "free": Free(),
        "sum": Sum(float(beta.sum())),
        "groups": GroupSums(group, (float(beta[group == 0].sum()), float(beta[group == 1].sum()))),
        "at_most": SumAtMost(float(beta.sum()) + rng.choice([0.0, 0.5])),
    }[shape]
    problem = Problem(Precomputed(factor @ factor.T), rng.standard_normal(n), lower, lower + width, constraint)
    verdict = certify(problem, beta)
    _, optimum = solve_with_clarabel(problem)
    assert verdict.infeasibility < 1e-12
    assert verdict.objective >= optimum - 1e-7
    assert verdict.duality_gap >= verdict.objective - optimum - 1e-7
