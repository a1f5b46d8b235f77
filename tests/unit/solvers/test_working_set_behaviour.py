"""How the working-set solver behaves: warm starts, limits, precision, memory, and matrices that are not convex."""

import subprocess
import sys
import tracemalloc
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from oracle.clarabel_oracle import answered, gradient_unit, objective_scale
from oracle.zoo import SHAPES, trait_of
from scipy import sparse
from sklearn.svm import SVC, OneClassSVM
from threadpoolctl import threadpool_limits

from askew.kernels import RBF, Gram, Linear, Precomputed, Sigmoid
from askew.qp import Free, GroupSums, Problem, Status, Sum, SumAtMost, certify
from askew.solvers import solve as solve_by_any_route

solve = partial(solve_by_any_route, route="by_rows")
SEEDS = [seed for seed in range(40) if trait_of(seed) not in ("huge C", "one point")]


def two_classes(n, d=4, seed=0, overlap=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    return rng.standard_normal((n, d)) + (1.0 - overlap / 2) * y[:, None], y


def classification(n, C=1.0, function=None, wrap=np.asarray, **shape):
    """A C-SVC on two overlapping clouds."""
    X, y = two_classes(n, **shape)
    lower, upper = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return Problem(Gram(function or RBF(0.5), wrap(X)), -y, lower, upper, Sum(0.0))


def rows_in(monkeypatch, dtype):
    """Rows of K in a precision, whatever the size of the problem."""
    monkeypatch.setattr("askew.solvers.working_set.loop.row_precision", lambda *_: np.dtype(dtype))


def sets_of(monkeypatch, size):
    """Working sets of so many variables."""
    monkeypatch.setattr("askew.solvers.working_set.loop.default_size", lambda *_: size)


def one_class(n, nu=0.2):
    X, _ = two_classes(n)
    return Problem(Gram(RBF(0.5), X), np.zeros(n), np.zeros(n), np.full(n, 1.0 / (nu * n)), Sum(1.0))


# Warm starts


@pytest.mark.parametrize("n", [300, 2500])
def test_starting_at_the_answer_there_is_nothing_left_to_do(n):
    problem = classification(n)
    cold = solve(problem, tol=1e-4)
    warm = solve(problem, tol=1e-4, start=cold.beta)
    assert warm.status is Status.OPTIMAL
    assert warm.n_iter <= 0.02 * cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_an_answer_at_other_bounds_is_repaired_and_saves_work(factor):
    before, after = classification(2500, C=1.0), classification(2500, C=factor)
    cold = solve(after, tol=1e-4)
    warm = solve(after, tol=1e-4, start=solve(before, tol=1e-4).beta)
    assert warm.certificate.is_optimal(1e-4)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert warm.n_iter < 0.9 * cold.n_iter


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("start", ["far out", "random", "other total"])
def test_any_start_leads_to_the_optimum(shape, start):
    """A start outside the box, or with wrong sums, is made feasible and not believed."""
    for seed in SEEDS:
        problem, beta, optimum = answered(shape, seed)
        rng = np.random.default_rng(seed)
        size = np.abs(beta).max() or 1.0
        near = {
            "far out": 1e3 * size * rng.choice([-1.0, 1.0], problem.n),
            "random": size * rng.standard_normal(problem.n),
            "other total": np.clip(np.full(problem.n, 0.9 * size), problem.lower, problem.upper),
        }[start]
        tol = 1e-6 * gradient_unit(problem)
        solution = solve(problem, tol=tol, start=near)
        assert solution.certificate.is_optimal(tol, 1e-10), seed
        assert abs(solution.objective - optimum) <= 1e-6 * objective_scale(problem, beta, optimum), seed


def test_the_start_is_not_written_to():
    problem = classification(100)
    start = np.full(100, 7.0)
    solve(problem, start=start)
    assert np.all(start == 7.0)


# Limits


@pytest.mark.parametrize("max_iter", [0, 1, 50])
def test_a_limit_of_steps_is_kept_and_said(max_iter):
    problem = classification(1000, C=10.0)
    solution = solve(problem, tol=1e-4, max_iter=max_iter)
    assert solution.status is Status.MAX_ITER
    assert not solution.status.has_converged
    assert solution.n_iter <= max_iter
    assert solution.certificate.infeasibility <= 1e-12
    assert solution.certificate.violation > 1e-4


def test_more_steps_never_make_it_worse():
    problem = classification(400, C=10.0)
    objectives = [solve(problem, max_iter=steps).objective for steps in (0, 10, 100, 1000, -1)]
    assert np.all(np.diff(objectives) <= 1e-12)
    assert objectives[-1] < objectives[0]


def test_an_impossible_tolerance_ends():
    solution = solve(classification(300, C=100.0), tol=1e-30)
    assert solution.status in (Status.STALLED, Status.OPTIMAL)
    assert solution.certificate.violation < 1e-9


def test_a_solver_neither_warns_nor_prints(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(classification(300), max_iter=3)
        solve(one_class(50))
    assert capfd.readouterr() == ("", "")


# Precision


@pytest.mark.parametrize("C", [1.0, 1000.0])
def test_float32_rows_meet_a_tolerance_judged_in_float64(monkeypatch, C):
    rows_in(monkeypatch, np.float32)
    problem = classification(2000, C=C)
    solution = solve(problem, tol=1e-3)
    verdict = certify(problem, solution.beta)  # gradient made here, in float64
    assert solution.status is Status.OPTIMAL
    assert verdict.violation <= 1e-3
    assert verdict.violation == pytest.approx(solution.certificate.violation, rel=1e-6)


def test_float32_rows_give_way_where_they_are_too_coarse(monkeypatch):
    rows_in(monkeypatch, np.float32)
    problem = classification(600, C=100.0)
    solution = solve(problem, tol=1e-8)
    assert solution.status is Status.OPTIMAL
    assert certify(problem, solution.beta).violation <= 1e-8


@pytest.mark.parametrize("shape", SHAPES)
def test_float32_rows_and_small_working_sets_find_the_same_optimum(monkeypatch, shape):
    """The outer loop at work: problems many times larger than their working set and their cache."""
    rows_in(monkeypatch, np.float32)
    sets_of(monkeypatch, 16)
    for seed in SEEDS:
        problem, beta, optimum = answered(shape, seed)
        if trait_of(seed) == "badly scaled":
            continue  # float32 cannot hold it; the solver then goes on in float64, tested above
        tol = 1e-6 * gradient_unit(problem)
        solution = solve(problem, tol=tol, memory=5_000)
        assert solution.status is Status.OPTIMAL, seed
        assert certify(problem, solution.beta).is_optimal(tol, 1e-10), seed
        assert abs(solution.objective - optimum) <= 1e-6 * objective_scale(problem, beta, optimum), seed


# Memory and threads


@pytest.mark.parametrize("memory", [0, 50_000, 2**30])
def test_the_cache_changes_the_cost_and_not_the_answer(memory):
    problem = one_class(2500)
    tol = 1e-3 / 2500
    solution = solve(problem, tol=tol, memory=memory)
    reference = solve(problem, tol=tol)
    assert solution.certificate.is_optimal(tol)
    assert solution.objective == pytest.approx(reference.objective, rel=1e-6)


def test_memory_stays_within_the_budget():
    """6,000 points: their float32 matrix would be 137 MB; a cache of 8 MB and the working set's block are allowed."""
    problem = classification(6000, d=3, overlap=1.6)
    solve(classification(50))  # compilation is not the solver's memory
    tracemalloc.start()
    try:
        solution = solve(problem, memory=8 * 2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert solution.status is Status.OPTIMAL
    assert peak < 60 * 2**20


def test_one_thread_or_two_the_answer_is_certified_and_the_same():
    problem = classification(2500, C=10.0)
    solutions = []
    for count in (1, 2):
        with threadpool_limits(count):
            solutions.append(solve(problem, tol=1e-4))
    assert all(s.certificate.is_optimal(1e-4) for s in solutions)
    assert solutions[0].objective == pytest.approx(solutions[1].objective, rel=1e-7)


def test_two_solves_give_the_same_bits():
    problem = classification(800, C=5.0)
    np.testing.assert_array_equal(solve(problem).beta, solve(problem).beta)


@pytest.mark.parametrize("function", [RBF(0.5), Linear()])
def test_sparse_points_give_the_dense_answer(function):
    dense = solve(classification(400, function=function), tol=1e-5)
    thin = solve(classification(400, function=function, wrap=sparse.csr_matrix), tol=1e-5)
    assert thin.objective == pytest.approx(dense.objective, rel=1e-7)


def test_importing_the_solver_does_not_load_numba():
    program = "import sys, askew.solvers; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# Matrices that are not positive semi-definite


@pytest.mark.parametrize("coef0", [-1.0, 0.5])
def test_a_sigmoid_programme_ends_and_says_what_it_found(coef0):
    problem = classification(500, C=10.0, function=Sigmoid(0.5, coef0))
    solution = solve(problem, tol=1e-4)
    assert solution.status is Status.STATIONARY
    assert certify(problem, solution.beta).is_optimal(1e-4)


def test_a_stored_matrix_shows_its_negative_curvature():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((80, 80))
    p, box = -np.ones(80), np.ones(80)
    indefinite = Problem(Precomputed(A + A.T), p, np.zeros(80), box, Sum(20.0))
    convex = replace(indefinite, matrix=Precomputed(A @ A.T))
    assert solve(indefinite, tol=1e-6).status is Status.STATIONARY
    assert solve(convex, tol=1e-6).status is Status.OPTIMAL


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_psd", [True, None])
def test_rounding_is_not_mistaken_for_negative_curvature(monkeypatch, dtype, is_psd):
    """Points that occur many times have a curvature of exactly zero between them."""
    rows_in(monkeypatch, dtype)
    X, y = two_classes(40)
    X, y = np.tile(X, (5, 1)), np.tile(y, 5)
    K = Gram(RBF(0.5), X).rows(np.arange(200))
    problem = Problem(Precomputed(K, is_psd=is_psd), -y, np.minimum(0, 3 * y), np.maximum(0, 3 * y), Sum(0.0))
    assert solve(problem, tol=1e-4).status is Status.OPTIMAL


# Against scikit-learn, on the same programme


def test_the_objective_of_scikit_learn_is_reached():
    X, y = two_classes(1500)
    ours = solve(classification(1500, C=10.0), tol=1e-6)
    theirs = SVC(C=10.0, gamma=0.5, tol=1e-6).fit(X, y)
    beta = np.zeros(1500)
    beta[theirs.support_] = theirs.dual_coef_[0]
    problem = classification(1500, C=10.0)
    assert ours.objective == pytest.approx(problem.objective(beta), rel=1e-7)
    scores = ours.gradient + y - ours.multipliers[0]  # Kβ − λ, with −λ the intercept
    np.testing.assert_allclose(scores, theirs.decision_function(X), atol=1e-4)


def test_the_one_class_scores_of_scikit_learn_are_reached():
    n, nu = 800, 0.2
    problem = one_class(n, nu)
    ours = solve(problem, tol=1e-7 / n)
    X, _ = two_classes(n)
    theirs = OneClassSVM(gamma=0.5, nu=nu, tol=1e-8).fit(X)
    scores = nu * n * (ours.gradient - ours.multipliers[0])
    np.testing.assert_allclose(scores, theirs.decision_function(X), atol=1e-4)


# The smallest problems


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (Free(), [1.0, 1.0]),
        (Sum(0.5), [0.0, 0.5]),
        (SumAtMost(0.5), [0.0, 0.5]),
        (SumAtMost(9.0), [1.0, 1.0]),
        (GroupSums(np.array([0, 1]), (0.25, 0.75)), [0.25, 0.75]),
    ],
)
def test_two_variables_have_the_answer_one_finds_by_hand(constraint, expected):
    """K = I and p = (−1, −2) in the unit box."""
    problem = Problem(Precomputed(np.eye(2)), np.array([-1.0, -2.0]), np.zeros(2), np.ones(2), constraint)
    np.testing.assert_allclose(solve(problem, tol=1e-9).beta, expected, atol=1e-9)
