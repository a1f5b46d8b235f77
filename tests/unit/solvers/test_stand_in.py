"""The solver for dear rows: the same answers as the working-set solver, whatever the stand-in."""

import numpy as np
import pytest

from askew.kernels import RBF, Gram, Precomputed
from askew.kernels.covariance_guided import CovarianceGuided, trace_scale
from askew.kernels.kernel_covariance import KernelCovariance
from askew.methods import one_class
from askew.qp import GroupSums, Problem, Status, certify
from askew.solvers import surrogate as stand_in
from askew.solvers.covariance_sketch import CovarianceSketch
from askew.solvers.working_set import loop as working_set


class Crude:
    """A multiple of Q in place of P, which learns nothing."""

    dtype = np.dtype(np.float64)

    def __init__(self, guided, factor):
        self.guided, self.matrix, self.n, self.is_psd, self.factor = guided, guided.matrix, guided.n, True, factor

    def rest(self, indices, steps):
        return np.zeros(self.n)

    def even_gradient(self):
        return np.zeros(self.n)

    def product(self, move, believed):
        return self.guided.matvec(move)

    def refine(self, move, change, believed):
        return self

    def diagonal(self):
        return self.factor * self.matrix.diagonal()

    def matvec(self, v):
        return self.factor * self.matrix.matvec(v)

    def block(self, indices, dtype=np.float64):
        return self.factor * self.matrix.block(indices, dtype)

    def argument_bound(self):
        return self.matrix.argument_bound()


def make(n=600, eta=0.3, gamma=0.3, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 4))
    covariance = KernelCovariance(Gram(RBF(gamma), X), np.ones(n))
    guided = CovarianceGuided(covariance, eta, trace_scale(covariance))
    return one_class.formulate(guided, 0.2, np.ones(n)), CovarianceSketch(covariance, 20).stand_in(guided)


@pytest.mark.parametrize("eta", [0.0, 0.05, 0.5, 0.95])
@pytest.mark.parametrize("gamma", [0.02, 0.3, 5.0])
def test_it_reaches_the_optimum_of_the_matrix_itself(eta, gamma):
    problem, cheap = make(eta=eta, gamma=gamma)
    solution = stand_in.solve(problem, cheap, tol=1e-5)
    exact = working_set.solve(problem, tol=1e-6)
    assert solution.status is Status.OPTIMAL
    assert certify(problem, solution.beta).is_optimal(1.01e-5)
    excess = solution.objective - exact.objective
    assert -1e-9 * abs(exact.objective) - exact.certificate.duality_gap <= excess <= solution.certificate.duality_gap
    assert excess <= 1e-7 * max(exact.objective, 1.0)


def test_the_gradient_it_reports_is_that_of_the_problem():
    problem, cheap = make()
    solution = stand_in.solve(problem, cheap, tol=1e-4)
    np.testing.assert_allclose(solution.gradient, problem.gradient(solution.beta), rtol=1e-10)


@pytest.mark.parametrize("factor", [0.05, 1.0, 50.0])
def test_a_bad_stand_in_costs_rounds_and_not_the_answer(factor):
    problem, _ = make(n=150)
    solution = stand_in.solve(problem, Crude(problem.matrix, factor), tol=1e-4)
    exact = working_set.solve(problem, tol=1e-6)
    assert certify(problem, solution.beta).is_optimal(1.01e-4)
    assert solution.objective == pytest.approx(exact.objective, rel=1e-6)


def test_a_warm_start_at_the_optimum_takes_hardly_any_step():
    problem, cheap = make()
    cold = stand_in.solve(problem, cheap, tol=1e-4)
    warm = stand_in.solve(problem, cheap, start=cold.beta, tol=1e-4)
    assert warm.n_iter < 0.3 * cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)


def test_a_limit_of_steps_is_kept_and_told():
    problem, cheap = make()
    solution = stand_in.solve(problem, cheap, tol=1e-8, max_iter=20)
    assert solution.status is Status.MAX_ITER
    assert solution.n_iter <= 20
    assert certify(problem, solution.beta).infeasibility <= 1e-10


def test_two_sums_are_kept():
    rng = np.random.default_rng(2)
    n = 80
    group = (rng.random(n) < 0.4).astype(np.int64)
    covariance = KernelCovariance(Gram(RBF(0.4), rng.normal(size=(n, 3))), np.ones(n))
    guided = CovarianceGuided(covariance, 0.5, trace_scale(covariance))
    problem = Problem(guided, rng.normal(size=n), np.zeros(n), np.ones(n), GroupSums(group, (5.0, 3.0)))
    solution = stand_in.solve(problem, CovarianceSketch(covariance, 10).stand_in(guided), tol=1e-6)
    assert certify(problem, solution.beta).is_optimal(1.01e-6)
    exact = working_set.solve(problem, tol=1e-8)
    assert solution.objective == pytest.approx(exact.objective, abs=1e-6)


def test_an_indefinite_matrix_is_called_stationary():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(30, 30))
    matrix = Precomputed(A @ A.T, is_psd=False)
    covariance = KernelCovariance(matrix, np.ones(30))
    guided = CovarianceGuided(covariance, 1.0, 1.0)
    problem = one_class.formulate(guided, 0.3, np.ones(30))
    solution = stand_in.solve(problem, Crude(guided, 1.0), tol=1e-6)
    assert solution.status is Status.STATIONARY


def test_negative_curvature_is_noticed_where_the_formula_does_not_know():
    A = np.random.default_rng(4).normal(size=(40, 40))
    covariance = KernelCovariance(Precomputed(A + A.T), np.ones(40))
    guided = CovarianceGuided(covariance, 1.0, 1.0)
    problem = one_class.formulate(guided, 0.3, np.ones(40))
    start = np.full(40, 0.3)
    assert stand_in.solve(problem, Crude(guided, 1.0), start=start, tol=1e-4).status is Status.STATIONARY
