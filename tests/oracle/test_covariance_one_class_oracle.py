"""CovarianceOneClassSVM's programme against Clarabel on random problems: objective and scores, never β."""

import numpy as np
import pytest
from oracle.clarabel_oracle import objective_scale, solve_with_clarabel

from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from askew.kernels import RBF, Gram, Linear, Polynomial, Precomputed
from askew.kernels.covariance_guided import CovarianceGuided, scale_of
from askew.kernels.kernel_covariance import KernelCovariance
from askew.methods import one_class
from askew.methods.covariance_one_class import fit_at
from askew.qp import Solution, Status, certify
from askew.solvers import solve

SEEDS = 240
CHUNK = 40
KERNELS = ("rbf", "linear", "poly", "precomputed")
SCALES = ("raw", "mean", "trace")


def draw(seed):
    """Δ on random points, and η, scale, ν."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 70)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-0.5, 0.5, d) + rng.uniform(0, 1.5)
    if seed % 5 == 0:
        X = X[rng.integers(0, max(1, n // 2), n)]  # repeated rows: β is not unique
    weight = rng.uniform(0.2, 3.0, n) if seed % 3 == 0 else np.ones(n)
    gamma = 10.0 ** rng.uniform(-1, 1) / (d * (X.var() or 1.0))
    kernel = KERNELS[seed % 4]
    if kernel == "precomputed":
        matrix = Precomputed(Gram(RBF(gamma), X).rows(np.arange(n)), is_psd=True)
    else:
        matrix = Gram({"rbf": RBF(gamma), "linear": Linear(), "poly": Polynomial(gamma, 2, 1.0)}[kernel], X)
    covariance = KernelCovariance(matrix, weight)
    eta = 1.0 if seed % 10 == 9 else float(rng.uniform(0.05, 1.0))
    return covariance, eta, scale_of(covariance, SCALES[seed % 3]), float(rng.uniform(0.05, 0.9))


def by_rows(problem, start):
    return solve(problem, start=start, tol=1e-8, route="by_rows")


def by_surrogate(problem, start):
    return solve(problem, start=start, tol=1e-8 * problem.matrix.size, route="surrogate")


def by_formed(problem, start):
    problem.matrix.covariance.form()
    return solve(problem, start=start, tol=1e-8, route="by_rows")


def by_clarabel(problem, start):
    beta, _ = solve_with_clarabel(problem)
    gradient = problem.gradient(beta)
    certificate = certify(problem, beta, gradient)
    return Solution(beta, gradient, Status.OPTIMAL, certificate, 0, 0, {})


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_objective_and_scores_are_those_of_the_oracle(first):
    wrong = []
    for seed in range(first, first + CHUNK):
        covariance, eta, scale, nu = draw(seed)
        theirs = fit_at(covariance, eta, scale, nu, by_clarabel)
        for solve_one in (by_rows, by_surrogate, by_formed):
            errors = compare(fit_at(covariance, eta, scale, nu, solve_one), theirs, nu)
            if not np.all(errors <= [1e-6, 1e-5, 1e-5]):
                wrong.append(f"seed {seed}, {solve_one.__name__}: n={covariance.n} eta={eta:.3f} nu={nu:.3f}: {errors}")
    assert not wrong, "\n".join(wrong)


def compare(ours, theirs, nu):
    """Relative differences of the objective, of the plain scores and of the modified ones.

    Scores are in units of the largest a sum of so many kernels can have: a hull around the origin has scores of 0.
    """
    covariance, optimum = ours.matrix.covariance, theirs.solution.objective
    total = nu * covariance.total
    problem = one_class.formulate(ours.matrix, nu, covariance.weight)
    return np.array(
        [
            abs(ours.solution.objective - optimum) / objective_scale(problem, ours.solution.beta, optimum),
            np.abs(ours.plain - theirs.plain).max() / (total * covariance.matrix.diagonal().max()),
            np.abs(ours.solution.gradient - theirs.solution.gradient).max() / (total * ours.matrix.diagonal().max()),
        ]
    )


def test_the_oracle_refuses_a_perturbed_answer():
    covariance, eta, scale, nu = draw(1)
    stage = fit_at(covariance, eta, scale, nu, by_rows)
    problem = one_class.formulate(CovarianceGuided(covariance, eta, scale), nu, covariance.weight)
    beta = stage.solution.beta.copy()
    assert certify(problem, beta).is_optimal(1e-6)
    high, low = int(np.argmax(beta)), int(np.argmin(beta))
    step = 0.1 * min(beta[high], covariance.weight[low] - beta[low])
    beta[high], beta[low] = beta[high] - step, beta[low] + step
    assert not certify(problem, beta).is_optimal(1e-6)


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_the_estimator_scores_with_the_oracle_s_solution(seed):
    """Through the whole estimator: scores of new points, plain and modified, with kernels written out."""
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(50, 3)), rng.normal(size=(20, 3))
    eta, nu, gamma = float(rng.uniform(0.1, 0.95)), float(rng.uniform(0.1, 0.6)), 0.4
    covariance = KernelCovariance(Gram(RBF(gamma), X), np.ones(50))
    scale = scale_of(covariance, "trace")
    stage = fit_at(covariance, eta, scale, nu, by_clarabel)
    cross = Gram(RBF(gamma), X).cross(Z)
    centring = np.eye(50) - 1.0 / 50
    bent = eta * cross + (1 - eta) * scale * cross @ centring @ covariance.matrix.rows(np.arange(50))
    for kind, kernel in (("plain", cross), ("modified", bent)):
        model = CovarianceOneClassSVM(eta, nu, gamma=gamma, score_kernel=kind).fit(X)
        expected = kernel @ stage.solution.beta
        np.testing.assert_allclose(model.score_samples(Z), expected, atol=2e-4 * np.abs(expected).max())
