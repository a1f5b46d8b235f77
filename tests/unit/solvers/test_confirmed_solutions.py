"""The second look of a certificate: rows that do not share the rounding of the solver's matrix."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from askew import OneClassSVM
from askew.kernels import RBF, Gram, Linear, Polynomial
from askew.methods import c_svc
from askew.qp import Certificate, Solution, Status, Sum, certify
from askew.qp.certificate import recomputed_gradient
from askew.solvers import solve


def classes(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, d)) + y[:, None] * 1.2, y


class Rough(Gram):
    """A kernel matrix whose products lose digits as if its points were far out, and whose bound says so."""

    def _finish(self, products):
        finished = super()._finish(products)
        return finished * (1 + 0.3 * np.sin(1e3 * finished))

    def subset(self, indices):
        some = Rough(self.function, self.points.X[indices])
        some.points = self.points.subset(indices)
        return some

    def product_rounding(self, v):
        return float(np.abs(v).sum())

    def careful_product(self, v, indices):
        return Gram(self.function, self.points.X).careful_product(v, indices)


@pytest.mark.parametrize("n", [300, 2500])
def test_a_solve_that_differences_refute_is_no_optimum(n):
    X, y = classes(n)
    signs = np.where(y == 1, 1.0, -1.0)
    problem = c_svc.formulate(Rough(RBF(1.0), X), signs, np.ones(n))
    found = solve(problem, route="by_rows", max_iter=100_000)
    assert found.status is not Status.OPTIMAL
    exact = certify(c_svc.formulate(Gram(RBF(1.0), X), signs, np.ones(n)), found.beta).violation
    assert 0.3 * exact <= found.certificate.violation <= exact * 1.5
    assert found.certificate.violation > 1e-2


def test_where_the_bound_is_far_below_tol_nothing_is_computed_anew():
    X, y = classes(300)
    problem = c_svc.formulate(Gram(RBF(1.0), X), np.where(y == 1, 1.0, -1.0), np.ones(300))
    found = solve(problem, route="by_rows")
    assert recomputed_gradient(problem, found.beta, found.gradient, 1e-3) is None
    assert found.confirmed(problem, 1e-3) is found
    anew = recomputed_gradient(problem, found.beta, found.gradient, 1e-15)
    np.testing.assert_allclose(anew, found.gradient, atol=1e-11)


def test_a_false_claim_is_replaced_and_a_true_one_stays():
    X, y = classes(300)
    signs = np.where(y == 1, 1.0, -1.0)
    problem = c_svc.formulate(Gram(RBF(1.0), X + 0.0), signs, np.full(300, 1e6))
    zero, claim = np.zeros(300), Certificate(0.0, 0.0, 0.0, 0.0, (0.0,))
    beta = zero.copy()
    beta[np.flatnonzero(y == 1)[0]], beta[np.flatnonzero(y == 0)[0]] = 1e6, -1e6
    false = Solution(beta, zero, Status.OPTIMAL, claim, 1, 1, {})
    judged = false.confirmed(problem, 1e-9)
    assert judged.status is Status.STALLED
    assert judged.certificate.violation == pytest.approx(certify(problem, beta).violation, rel=1e-9)
    limited = replace(false, status=Status.MAX_ITER).confirmed(problem, 1e-9)
    assert limited.status is Status.MAX_ITER
    assert limited.certificate.violation == judged.certificate.violation
    true = replace(judged, status=Status.STALLED)
    assert true.confirmed(problem, 1e-9) is true


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_linear_machine_that_is_right_is_not_accused(offset):
    """Its bound says nothing at 1e6; two compensated products say that it is right."""
    X, y = classes(300, 2)
    signs = np.where(y == 1, 1.0, -1.0)
    problem = c_svc.formulate(Gram(Linear(), X + offset), signs, np.ones(300))
    found = solve(problem, route="by_rows")
    wide = (X + offset).astype(np.longdouble)
    exact = (wide @ (wide.T @ found.beta) - signs).astype(np.float64)
    assert (found.status is Status.OPTIMAL) == (certify(problem, found.beta, exact).violation <= 1.1e-3)


def test_a_sum_constraint_alone_is_confirmed_too():
    X, _ = classes(300)
    machine = OneClassSVM(gamma=1.0).fit(sparse.csr_array(X + 1e9))
    K, beta = np.exp(-cdist(X + 1e9, X + 1e9, "sqeuclidean")), np.zeros(300)
    beta[machine.support_] = machine.dual_coef_[0]
    problem = c_svc.formulate(Gram(Polynomial(), X), np.ones(300), np.ones(300))
    one_class = replace(
        problem, linear=np.zeros(300), upper=np.full(300, beta.max()), constraint=Sum(float(beta.sum()))
    )
    assert certify(one_class, beta, K @ beta).violation <= 1.5 * machine.tol * max(1.0, beta.max())
