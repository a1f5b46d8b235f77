"""A tolerance relative to the spread of the scores, the Newton step it uses, and the solver for stored kernels."""

import numpy as np
import pytest

from askew.kernels import RBF, Gram
from askew.kernels.stored import Stored
from askew.methods import asymmetric, c_svc
from askew.qp import Status, certify, relative_violation, spread
from askew.solvers import prepare, solve
from askew.solvers.newton.active_set import polish


def overlapping(n=400, width=0.02, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 8, 1.0, -1.0)
    X = rng.standard_normal((n, 4)) + 0.7 * (y[:, None] > 0)
    return Gram(RBF(width), X), y


def nearly_touching():
    matrix, y = overlapping()
    return asymmetric.formulate(matrix, y, np.ones(matrix.n), 0.2 * (y > 0).mean(), 0.0)


def test_an_absolute_tolerance_can_leave_noise_and_the_relative_one_does_not():
    problem = nearly_touching()
    absolute = solve(problem, tol=1e-3)
    settled = solve(problem, tol_unit="spread", tol=1e-3)
    finer = solve(problem, tol_unit="spread", tol=1e-6)
    assert relative_violation(problem, absolute) > 0.1  # "optimal" at 1e-3, and yet
    assert settled.status is Status.OPTIMAL
    assert relative_violation(problem, settled) <= 1e-3
    unit = spread(problem, finer.gradient)
    assert np.abs(settled.gradient - finer.gradient).max() < 0.01 * unit
    assert np.abs(absolute.gradient - finer.gradient).max() > 0.3 * unit


def test_a_limit_of_steps_is_kept_and_told():
    problem = nearly_touching()
    stopped = solve(problem, tol_unit="spread", tol=1e-6, max_iter=500)
    assert stopped.status is Status.MAX_ITER
    assert stopped.n_iter <= 500


def test_hulls_that_meet_end_as_stalled_and_soon():
    """w = 0 exactly: all scores are equal, and no tolerance relative to their spread can be met."""
    X = np.zeros((40, 1))
    y = np.where(np.arange(40) < 20, 1.0, -1.0)
    problem = asymmetric.formulate(Gram(RBF(1.0), X), y, np.ones(40), 0.2, 0.0)
    solution = solve(problem, tol_unit="spread", tol=1e-3)
    assert spread(problem, solution.gradient) < 1e-12
    assert solution.n_iter <= 4_000


def test_a_newton_step_lowers_the_objective_and_keeps_the_constraints():
    problem = nearly_touching()
    rough = solve(problem, tol=1e-3)
    better = certify(problem, polish(problem, rough.beta, rough.gradient))
    assert better.objective < 0.9 * rough.objective
    assert better.infeasibility < 1e-9


def test_a_newton_step_leaves_an_optimum_alone():
    problem = nearly_touching()
    best = solve(problem, tol_unit="spread", tol=1e-8)
    after = certify(problem, polish(problem, best.beta, best.gradient))
    assert after.objective == pytest.approx(best.objective, rel=1e-9)


@pytest.mark.parametrize("n", [300, 1800])  # float64 only, and float32 rows with float64 judgement
def test_the_solver_for_stored_kernels_agrees_with_the_general_one(n):
    matrix, y = overlapping(n, width=0.3)
    stored = Stored(matrix, with_float32=n > 1500)
    for problem, same in (
        (c_svc.formulate(matrix, y, np.full(n, 3.0)), c_svc.formulate(stored, y, np.full(n, 3.0))),
        (
            asymmetric.formulate(matrix, y, np.ones(n), 0.08, 0.01),
            asymmetric.formulate(stored, y, np.ones(n), 0.08, 0.01),
        ),
    ):
        general, ours = solve(problem, tol=1e-4), solve(same, tol=1e-4, route="explicit")
        assert ours.status is Status.OPTIMAL
        assert certify(problem, ours.beta).is_optimal(1e-4)
        assert ours.objective == pytest.approx(general.objective, rel=1e-4)


def test_ties_do_not_hide_the_worst_violators():
    """Points on a few places: equal gradients everywhere, more of them than a working set takes."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, 1.0, -1.0)
    stored = Stored(Gram(RBF(1.0), np.round(rng.standard_normal((200, 1)) + (y[:, None] > 0))), with_float32=False)
    for part in range(3):
        weight = (np.arange(200) % 3 != part).astype(float)
        share = weight[y > 0].sum() / weight.sum()
        problem = asymmetric.formulate(stored, y, weight, 0.95 * share, 0.0)
        assert solve(problem, tol=1e-6, route="explicit").status is Status.OPTIMAL


def test_a_warm_start_with_its_scores_takes_fewer_steps():
    matrix, y = overlapping(600, width=0.3)
    stored, ones = Stored(matrix, with_float32=False), np.ones(600)
    prepared = prepare(stored)
    first = prepared.solve(asymmetric.formulate(stored, y, ones, 0.08, 0.0), tol=1e-5)
    problem = asymmetric.formulate(stored, y, ones, 0.085, 0.0)
    cold = solve(problem, tol=1e-5, route="explicit")
    warm = prepared.solve(problem, start=first.beta, start_scores=first.gradient, tol=1e-5)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)


def test_the_stored_solver_keeps_its_limit_of_steps():
    matrix, y = overlapping(300, width=0.3)
    stored = Stored(matrix, with_float32=False)
    stopped = solve(c_svc.formulate(stored, y, np.full(300, 100.0)), tol=1e-9, max_iter=7, route="explicit")
    assert stopped.status is Status.MAX_ITER
    assert stopped.n_iter <= 7
