"""The solver for dear rows: the same answers as the working-set solver, whatever the surrogate."""

import numpy as np
import pytest

from askew.exceptions import ParameterError
from askew.kernels import RBF, Gram, Precomputed
from askew.kernels.covariance_guided import CovarianceGuided, trace_scale
from askew.kernels.kernel_covariance import KernelCovariance
from askew.methods import one_class
from askew.qp import GroupSums, Problem, Status, certify
from askew.solvers import prepare, route_of, solve


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
    return one_class.formulate(guided, 0.2, np.ones(n))


class CrudeSketch:
    """Makes crude surrogates."""

    dtype = np.dtype(np.float64)

    def __init__(self, factor):
        self.factor = factor

    def surrogate(self, guided):
        return Crude(guided, self.factor)


def by_crude_surrogate(monkeypatch, problem, factor, **options):
    monkeypatch.setattr("askew.solvers.surrogate.CovarianceSketch", lambda covariance: CrudeSketch(factor))
    return solve(problem, route="surrogate", **options)


@pytest.mark.parametrize("eta", [0.0, 0.05, 0.5, 0.95])
@pytest.mark.parametrize("gamma", [0.02, 0.3, 5.0])
def test_it_reaches_the_optimum_of_the_matrix_itself(eta, gamma):
    problem = make(eta=eta, gamma=gamma)
    solution = solve(problem, route="surrogate", tol=1e-5)
    exact = solve(problem, route="by_rows", tol=1e-6)
    assert solution.status is Status.OPTIMAL
    assert certify(problem, solution.beta).is_optimal(1.01e-5)
    excess = solution.objective - exact.objective
    assert -1e-9 * abs(exact.objective) - exact.certificate.duality_gap <= excess <= solution.certificate.duality_gap
    assert excess <= 1e-7 * max(exact.objective, 1.0)


def test_the_gradient_it_reports_is_that_of_the_problem():
    problem = make()
    solution = solve(problem, route="surrogate", tol=1e-4)
    np.testing.assert_allclose(solution.gradient, problem.gradient(solution.beta), rtol=1e-10)


@pytest.mark.parametrize("factor", [0.05, 1.0, 50.0])
def test_a_bad_surrogate_costs_rounds_and_not_the_answer(monkeypatch, factor):
    problem = make(n=150)
    solution = by_crude_surrogate(monkeypatch, problem, factor, tol=1e-4)
    exact = solve(problem, route="by_rows", tol=1e-6)
    assert certify(problem, solution.beta).is_optimal(1.01e-4)
    assert solution.objective == pytest.approx(exact.objective, rel=1e-6)


def test_a_warm_start_at_the_optimum_takes_hardly_any_step():
    problem = make()
    cold = solve(problem, route="surrogate", tol=1e-4)
    warm = solve(problem, route="surrogate", start=cold.beta, tol=1e-4)
    assert warm.n_iter < 0.3 * cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)


def test_a_limit_of_steps_is_kept_and_told():
    problem = make()
    solution = solve(problem, route="surrogate", tol=1e-8, max_iter=20)
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
    solution = solve(problem, route="surrogate", tol=1e-6)
    assert certify(problem, solution.beta).is_optimal(1.01e-6)
    exact = solve(problem, route="by_rows", tol=1e-8)
    assert solution.objective == pytest.approx(exact.objective, abs=1e-6)


def test_an_indefinite_kernel_has_no_surrogate():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(30, 30))
    covariance = KernelCovariance(Precomputed(A @ A.T, is_psd=False), np.ones(30))
    problem = one_class.formulate(CovarianceGuided(covariance, 0.5, 1.0), 0.3, np.ones(30))
    with pytest.raises(ParameterError, match="positive semi-definite"):
        solve(problem, route="surrogate")
    assert solve(problem, tol=1e-6).status is Status.STATIONARY


def test_negative_curvature_is_noticed_where_the_formula_does_not_know(monkeypatch):
    A = np.random.default_rng(4).normal(size=(40, 40))
    covariance = KernelCovariance(Precomputed(A + A.T), np.ones(40))
    problem = one_class.formulate(CovarianceGuided(covariance, 1.0, 1.0), 0.3, np.ones(40))
    found = by_crude_surrogate(monkeypatch, problem, 1.0, start=np.full(40, 0.3), tol=1e-4)
    assert found.status is Status.STATIONARY


def test_a_look_ahead_learns_the_trace_and_leads_to_the_same_answer():
    """One pass over the pairs of points serves the trace and a product; every η after it finds products known."""
    X = np.random.default_rng(5).normal(size=(700, 4))
    covariance = KernelCovariance(Gram(RBF(0.3), X), np.ones(700))

    def pose(trace):
        return one_class.formulate(CovarianceGuided(covariance, 0.4, trace_scale(covariance, trace)), 0.2, np.ones(700))

    assert route_of(pose(1.0)).name == "surrogate"
    with prepare(covariance) as prepared:
        prepared.look_ahead(pose, tol=1e-4)
        assert covariance._trace is not None
        problem = one_class.formulate(CovarianceGuided(covariance, 0.4, trace_scale(covariance)), 0.2, np.ones(700))
        ahead, alone = prepared.solve(problem, tol=1e-5), solve(problem, route="by_rows", tol=1e-6)
        assert certify(problem, ahead.beta).is_optimal(1.01e-5)
        assert ahead.objective == pytest.approx(alone.objective, rel=1e-6)
        again = prepared.solve(problem, start=ahead.beta, tol=1e-5)
        assert again.n_iter == 0
