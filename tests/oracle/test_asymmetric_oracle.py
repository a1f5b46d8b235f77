"""AsymmetricSVC's programme against Clarabel on the paper's dual, inequality and all, on random problems."""

from functools import cache

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import NuSVC

from askew.kernels import RBF, Gram, Linear, Polynomial
from askew.methods import asymmetric
from askew.solvers import solve

PROBLEMS = 240
CHUNK = 40
over_the_problems = pytest.mark.parametrize("first", range(0, PROBLEMS, CHUNK))


def draw(seed):
    """Kernel, labels, weights, μ and τ: every third with τ = 0, every third with a τ that drives γ to 0."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 150)), int(rng.integers(1, 6))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.6), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.standard_normal((n, d)) + rng.uniform(0, 2) * (y[:, None] > 0)
    function = (RBF(10 ** rng.uniform(-1.5, 1)), Linear(), Polynomial(1.0, 2, 1.0))[seed // 3 % 3]
    weight = np.ones(n) if seed % 2 else rng.uniform(0.2, 3.0, n)
    share = weight[y > 0].sum() / weight.sum()
    if seed % 3 == 0:
        mu, tau = rng.uniform(0.05, 0.95) * min(share, 1 - share), 0.0
    elif seed % 3 == 1:
        mu = rng.uniform(0.05, 0.95) * min(share, 1 - share)
        tau = rng.uniform(0, 1) * (share - mu)
    else:
        mu = rng.uniform(0, 0.1) * min(share, 1 - share)
        tau = rng.uniform(0.3, 0.95) * (share - mu)
    return Gram(function, X), y, weight, mu, tau


@cache
def solved(seed):
    """The machine of a problem, solved once for all tests."""
    return ours(*draw(seed))


def ours(matrix, y, weight, mu, tau):
    def settle(problem, start):
        return solve(problem, start=start, tol=1e-7, tol_unit="spread")

    return asymmetric.fit(matrix, y, weight, mu, tau, settle)


def by_clarabel(matrix, y, weight, mu, tau):
    """minimise ½ α'(yy'∘K)α, Σ y α = τ, Σ₋α ≥ μ, 0 ≤ α ≤ s/Σs, in units of the mean bound and of K."""
    n, unit = matrix.n, 1.0 / matrix.n
    K = matrix.rows(np.arange(n))
    height = unit * float(np.mean(np.diagonal(K)))
    Q = (y[:, None] * y) * (0.5 * (K + K.T)) * (unit / height)
    A = sparse.vstack(
        [sparse.csc_matrix(y), sparse.csc_matrix(-(y < 0).astype(float)), sparse.identity(n), -sparse.identity(n)],
        format="csc",
    )
    b = np.concatenate([[tau], [-mu], weight / weight.sum(), np.zeros(n)]) / unit
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, 500
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n + 1)]
    found = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(Q)), np.zeros(n), A, b, cones, settings).solve()
    beta = y * np.asarray(found.x) * unit
    return beta, K @ beta, float(beta @ K @ beta)


@over_the_problems
def test_the_objective_and_the_scores_are_the_oracles(first):
    for seed in range(first, first + CHUNK):
        problem = draw(seed)
        matrix, tau = problem[0], problem[-1]
        found = solved(seed)
        _, scores, objective = by_clarabel(*problem)
        beta = np.zeros(matrix.n)
        beta[found.expansion.support] = found.expansion.coefficients
        no_cancelling = float(np.abs(beta) @ np.abs(matrix.rows(np.arange(matrix.n))) @ np.abs(beta))
        assert abs(found.norm**2 - objective) <= 1e-6 * objective + 1e-9 * no_cancelling, seed
        mine = matrix.matvec(beta)
        # an objective within ε of the optimum leaves the scores within √ε
        assert np.max(np.abs(mine - scores)) <= 2e-4 * np.max(np.abs(scores)) + 3e-5 * np.sqrt(no_cancelling), seed
        assert abs(beta.sum() - tau) <= 1e-12, seed


@over_the_problems
def test_the_primal_margins_close_the_duality_gap(first):
    """At ρ, γ and the slacks they leave, the primal objective equals minus the dual: γ ≥ 0 is honoured exactly."""
    touching = 0
    for seed in range(first, first + CHUNK):
        matrix, y, weight, mu, tau = draw(seed)
        found = solved(seed)
        assert found.gamma >= 0, seed
        touching += found.gamma == 0
        beta = np.zeros(matrix.n)
        beta[found.expansion.support] = found.expansion.coefficients
        scores = matrix.matvec(beta)
        slack = np.maximum(0, np.where(y > 0, found.rho - scores, scores - (found.rho - found.gamma)))
        primal = 0.5 * found.norm**2 - tau * found.rho - mu * found.gamma + weight @ slack / weight.sum()
        scale = found.norm**2 + float(np.ptp(scores)) * max(mu, tau)
        rounding = 1e-9 * float(matrix.diagonal().mean()) * (mu + tau)  # all there is where the hulls meet and w = 0
        assert abs(primal + 0.5 * found.norm**2) <= 1e-5 * scale + rounding, seed
    assert touching >= CHUNK // 12


@over_the_problems
def test_outlier_fractions_keep_the_theorems_bounds(first):
    for seed in range(first, first + CHUNK):
        mu, tau = draw(seed)[-2:]
        found = solved(seed)
        assert found.negative_mass >= mu - 1e-12, seed
        if found.gamma > 0:
            assert found.negative_mass == pytest.approx(mu, abs=1e-12), seed
        for outliers, inside, mass in zip(
            found.outlier_fractions,
            found.inside_fractions,
            (found.negative_mass, found.negative_mass + tau),
            strict=True,
        ):
            assert mass - inside - 1e-12 <= outliers <= mass + 1e-12, seed


@pytest.mark.parametrize("seed", range(30))
def test_tau_zero_is_the_nu_svc(seed):
    """Same direction and threshold, up to the margin that ν-SVC divides by."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(100) < rng.integers(15, 60), 1.0, -1.0)
    matrix = Gram(RBF(rng.uniform(0.3, 2.0)), rng.standard_normal((100, 4)) + 0.7 * (y[:, None] > 0))
    mu = rng.uniform(0.2, 0.95) * min((y > 0).mean(), (y < 0).mean())
    found = ours(matrix, y, np.ones(100), mu, 0.0)
    K = matrix.rows(np.arange(100))
    mine = K[:, found.expansion.support] @ found.expansion.coefficients + found.expansion.intercept
    theirs = NuSVC(nu=2 * mu, kernel="precomputed", tol=1e-7).fit(K, y).decision_function(K)
    np.testing.assert_allclose(mine / (0.5 * found.gamma), theirs, atol=1e-4 * np.abs(theirs).max())
