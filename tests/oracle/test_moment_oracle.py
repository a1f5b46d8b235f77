"""MIBC against its primal programmes, written as the papers write them and solved by a generic convex solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from askew.estimators.moment_svc import MomentSVC
from askew.moments import Moments

PROBLEMS = 200
TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def random_moments_problem(rng, n_most=14):
    """Negatives' moments (full rank), positives away from the mean, and a few probes to score."""
    d = int(rng.integers(2, 6))
    n = int(rng.integers(3, n_most))
    negatives = rng.normal(size=(40, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    moments = Moments.of(negatives)
    away = rng.normal(size=d)
    positives = moments.mean + rng.uniform(0.5, 3.0) * away + 0.8 * rng.normal(size=(n, d))
    probes = np.vstack([positives, moments.mean + rng.normal(size=(5, d))])
    return moments, positives, probes


def solved(objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    return problem


def primal_scores(name, parameters, Z, Z_probes, root):
    """Scores by the primal in features z, where w'Σw = ‖root w‖²; None when b is not unique."""
    n, r = Z.shape
    w, xi = cp.Variable(r), cp.Variable(n, nonneg=True)
    length = cp.sum_squares(root @ w)
    if name == "hard":
        solved(length, [Z @ w >= 1])
        return Z_probes @ w.value - 1
    if name == "two_slack":
        eta, shift = cp.Variable(nonneg=True), cp.Variable()  # shift = b − x̄'w
        balance = shift >= 1 - eta
        cost = cp.sum(xi) / (parameters["nu_positive"] * n) + eta / parameters["nu_negative"]
        margins = Z @ w - shift >= -xi
        solved(length + cost, [balance, margins])
        alpha = margins.dual_value
        inside = (alpha > 1e-5 * alpha.max()) & (alpha < (1 - 1e-5) / (parameters["nu_positive"] * n))
        return Z_probes @ w.value - shift.value if inside.any() else None
    cost = parameters["C"] if name == "C" else 1 / (2 * parameters["nu"] * n)
    solved(0.5 * length + cost * cp.sum(xi), [Z @ w >= 1 - xi])
    return Z_probes @ w.value - 1


def random_parameters(name, rng):
    return {
        "C": {"C": float(10 ** rng.uniform(-2, 1.5))},
        "nu": {"nu": float(rng.uniform(0.05, 0.9))},
        "two_slack": {
            "nu_positive": float(rng.uniform(0.05, 0.9)),
            "nu_negative": float(rng.uniform(0.05, 1.0)),
        },
        "hard": {},
    }[name]


@pytest.mark.parametrize("name", ["C", "nu", "two_slack", "hard"])
def test_formulations_agree_with_their_primal(name):
    rng = np.random.default_rng(["C", "nu", "two_slack", "hard"].index(name))
    compared, binding = 0, 0
    while compared < PROBLEMS:
        moments, positives, probes = random_moments_problem(rng)
        parameters, rho = random_parameters(name, rng), float(rng.choice([0.0, 0.1]))
        centred = positives - moments.mean
        if name == "hard" and (centred @ centred.mean(axis=0)).min() <= 0:
            continue  # perhaps infeasible
        root = np.linalg.cholesky(moments.covariance + rho * np.eye(len(moments.mean))).T
        expected = primal_scores(name, parameters, centred, probes - moments.mean, root)
        if expected is None:
            continue
        model = MomentSVC(formulation=name, rho=rho, tol=1e-9, **parameters).fit_from_moments(positives, moments)
        scores = model.decision_function(probes)
        np.testing.assert_allclose(scores, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))
        binding += model._score_means[0] > -1 + 1e-6
        compared += 1
    if name == "two_slack":
        assert 20 <= binding <= PROBLEMS - 20  # the second slack was used in some problems and idle in others


def figure_two_kernel(kernel, gamma, degree, coef0, A, mean, X, Y):
    """K̂ as the paper's figure 2 prints it, with Σ⁻¹ = A spelled out."""
    products = (X - mean) @ A @ (Y - mean).T
    if kernel == "rbf":
        lengths = [np.einsum("ij,jk,ik->i", P - mean, A, P - mean) for P in (X, Y)]
        return np.exp(-gamma * (lengths[0][:, None] + lengths[1][None] - 2 * products))
    return (gamma * products + coef0) ** degree if kernel == "poly" else np.tanh(gamma * products + coef0)


def random_kernel(kernel, rng):
    if kernel == "rbf":
        return {"gamma": float(10 ** rng.uniform(-2, 0.3))}
    if kernel == "poly":
        return {"gamma": float(rng.uniform(0.05, 0.3)), "coef0": float(rng.uniform(0, 1)), "degree": 2}
    return {"gamma": float(10 ** rng.uniform(-3, -1.5)), "coef0": float(rng.uniform(0, 0.1))}


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_kernels_agree_with_the_primal_in_feature_space(kernel):
    rng = np.random.default_rng(7)
    compared = 0
    while compared < PROBLEMS:
        # the sigmoid is positive semi-definite only now and then: few points, small gamma
        moments, positives, probes = random_moments_problem(rng, n_most=5 if kernel == "sigmoid" else 12)
        options = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **random_kernel(kernel, rng)}
        A = np.linalg.inv(moments.covariance + 0.05 * np.eye(len(moments.mean)))
        K = figure_two_kernel(kernel, *options.values(), A, moments.mean, positives, positives)
        values, vectors = np.linalg.eigh(K)
        if values.min() < (1e-4 if kernel == "sigmoid" else -1e-9) * values.max():
            continue
        keep = values > 1e-10 * values.max()
        features = vectors[:, keep] * np.sqrt(values[keep])
        to_features = vectors[:, keep] / np.sqrt(values[keep])
        C = float(10 ** rng.uniform(-1, 1))
        w, xi = cp.Variable(keep.sum()), cp.Variable(len(K), nonneg=True)
        solved(0.5 * cp.sum_squares(w) + C * cp.sum(xi), [features @ w >= 1 - xi])
        cross = figure_two_kernel(kernel, *options.values(), A, moments.mean, probes, positives)
        expected = cross @ to_features @ w.value - 1
        model = MomentSVC(C, kernel=kernel, rho=0.05, tol=1e-9, **options).fit_from_moments(positives, moments)
        scores = model.decision_function(probes)
        np.testing.assert_allclose(scores, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))
        compared += 1
