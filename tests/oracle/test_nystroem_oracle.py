"""Programmes of low rank against Clarabel, and estimators with every row a landmark against the exact ones."""

import numpy as np
import pytest
from oracle.clarabel_oracle import solve_with_clarabel

from askew import SVC, AsymmetricSVC, CovarianceOneClassSVM, OneClassSVM
from askew.kernels import RBF
from askew.kernels.low_rank import LowRank
from askew.kernels.nystroem import Nystroem
from askew.kernels.recomputed import HeldRows, Recomputed
from askew.methods import asymmetric, c_svc, one_class
from askew.qp import certify
from askew.solvers import solve
from askew.solvers.coordinate.low_rank import descend
from askew.solvers.newton.smoothed_dual import approach
from askew.solvers.start import feasible_start

TOL = 1e-6
PROGRAMMES = ("c_svc", "one_class", "asymmetric", "touching")


def _draw(name, seed):
    """Rows, landmarks, scales, and how a programme is posed on a matrix of them."""
    rng = np.random.default_rng([PROGRAMMES.index(name), seed])
    n, d = int(rng.integers(20, 260)), int(rng.integers(1, 8))
    y = np.where(rng.random(n) < rng.uniform(0.1, 0.5), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.standard_normal((n, d)) + 0.6 * (y > 0)[:, None]
    if seed % 5 == 0:
        X = X[rng.integers(0, n // 3, n)]
    weight = rng.uniform(0.5, 2.0, n)
    marks = rng.choice(n, int(rng.integers(2, min(n, 60))), replace=False)
    origin = Nystroem(RBF(10 ** rng.uniform(-1, 1) / d), X[marks])
    scales = rng.uniform(0.2, 3.0, origin.rank) if seed % 2 else np.ones(origin.rank)
    positives, total = weight[y > 0].sum(), weight.sum()
    least = min(positives, total - positives)
    cost, nu = 10 ** rng.uniform(-2, 2), rng.uniform(0.05, 0.95)
    mu, tau = rng.uniform(0.1, 0.7) * least / total, rng.uniform(0.05, 0.3) * positives / total

    def pose(matrix):
        if name == "c_svc":
            return c_svc.formulate(matrix, y, cost * weight)
        if name == "one_class":
            return one_class.formulate(matrix, nu, weight)
        if name == "asymmetric":
            return asymmetric.formulate(matrix, y, weight, mu, tau)
        return asymmetric.formulate_touching(matrix, y, weight, tau)

    return X, origin, scales, pose


def hold(monkeypatch, rows):
    """Memory for the features of so few rows."""
    monkeypatch.setattr("askew.solvers.out_of_core.rows_held", lambda *_: rows)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("name", PROGRAMMES)
def test_the_programme_of_low_rank_is_solved(monkeypatch, name, seed):
    monkeypatch.setattr("askew.solvers.coordinate.low_rank.FEW", 0)
    X, origin, scales, pose = _draw(name, seed)
    problem = pose(LowRank(origin.features(X), scales, origin))
    _, objective = solve_with_clarabel(problem)
    room = 1e-6 * max(1.0, abs(objective))
    swept = solve(problem, tol=TOL, route="low_rank")
    assert swept.status.has_converged
    assert certify(problem, swept.beta).is_optimal(TOL)
    assert swept.objective == pytest.approx(objective, abs=room)
    hold(monkeypatch, max(len(X) // 2, 20))
    chunked = solve(pose(Recomputed(origin, HeldRows(X, 50), scales)), tol=TOL)
    assert (swept.route, chunked.route) == ("low_rank", "out_of_core")
    assert chunked.status.has_converged
    assert certify(problem, chunked.beta).is_optimal(2 * TOL)
    assert chunked.objective == pytest.approx(objective, abs=room)


@pytest.mark.parametrize("cost", [1.0, 100.0])
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_chunks_far_smaller_than_what_must_move_end_at_the_optimum(monkeypatch, cost, balanced, seed):
    """One positive in fifty, a score that is nearly flat, and room for one row in thirty."""
    rng = np.random.default_rng([99, seed])
    n = 600
    y = np.where(np.arange(n) % 50 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, 3)) * [1.0, 2.0, 3.0] + (y > 0)[:, None]
    origin = Nystroem(RBF(0.1), X[rng.choice(n, 12, replace=False)])
    weight = np.where(y > 0, 25.0, 0.51) if balanced else np.ones(n)

    def pose(matrix):
        return c_svc.formulate(matrix, y, cost * weight)

    _, objective = solve_with_clarabel(pose(LowRank(origin.features(X), None, origin)))
    problem = pose(Recomputed(origin, HeldRows(X, 250)))
    hold(monkeypatch, 20)
    found = solve(problem, tol=1e-4)
    assert found.status.has_converged
    assert found.certificate.infeasibility < 1e-12
    assert certify(problem, found.beta).is_optimal(2e-4)
    assert found.objective == pytest.approx(objective, rel=1e-4)
    assert found.n_outer <= 60


@pytest.mark.parametrize("name", PROGRAMMES)
def test_newton_steps_alone_meet_their_smoothing(name):
    X, origin, scales, pose = _draw(name, 11)
    problem = pose(Recomputed(origin, HeldRows(X, 50), scales))
    _, objective = solve_with_clarabel(pose(LowRank(origin.features(X), scales, origin)))
    beta = feasible_start(problem)
    labels, verdict = problem.constraint.labels(problem.n), certify(problem, beta)
    for delta in 0.1 / 8.0 ** np.arange(5):
        reduced = problem.gradient(beta) - np.array(verdict.multipliers)[labels]
        beta, moves, _ = approach(problem, beta, reduced, delta, rows_held=17)
        verdict = certify(problem, beta)
        assert verdict.violation <= 1.5 * delta
        assert verdict.infeasibility < 1e-12
    assert moves > 0
    assert verdict.objective == pytest.approx(objective, abs=1e-4 * max(1.0, abs(objective)))


def test_sweeps_alone_come_near_the_optimum():
    X, origin, scales, pose = _draw("c_svc", 3)
    problem = pose(LowRank(origin.features(X), scales, origin))
    beta, moves = descend(problem, None, 1e-3, -1)
    _, objective = solve_with_clarabel(problem)
    assert moves > 0
    assert abs(beta.sum()) <= 0.05 * np.abs(beta).sum()
    assert problem.objective(beta) == pytest.approx(objective, rel=0.02)


def test_a_limit_of_steps_is_kept_and_told(monkeypatch):
    X, origin, scales, pose = _draw("c_svc", 7)
    monkeypatch.setattr("askew.solvers.coordinate.low_rank.FEW", 0)
    hold(monkeypatch, 20)
    for matrix in (LowRank(origin.features(X), scales, origin), Recomputed(origin, HeldRows(X), scales)):
        found = solve(pose(matrix), max_iter=3)
        assert found.status.value == "max_iter"
        assert found.certificate.infeasibility < 1e-9


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 3)) * [2.0, 1.0, 0.4]
    y = (X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.standard_normal(240) > 2.5).astype(int)
    return X, y, y + (X[:, 2] > 0.3), rng.uniform(0.5, 2.0, 240)


CASES = [
    (SVC(C=10.0), "two"),
    (SVC(kernel="poly", coef0=1.0), "three"),
    (OneClassSVM(nu=0.2), None),
    (OneClassSVM(nu=0.2, gamma="support"), None),
    (AsymmetricSVC(), "two"),
    (AsymmetricSVC(tau=0.0), "three"),
    (CovarianceOneClassSVM(), None),
    (CovarianceOneClassSVM(eta=0.3, covariance_scale="raw", score_kernel="modified"), None),
]


@pytest.mark.parametrize(("model", "target"), CASES, ids=str)
@pytest.mark.parametrize("rule", ["kmeans", "uniform"])
def test_with_every_row_a_landmark_the_fit_is_the_exact_one(model, target, rule, rows):
    X, two, three, weight = rows
    y = {"two": two, "three": three, None: None}[target]
    exact = model.fit(X, y, sample_weight=weight).decision_function(X)
    settings = model.get_params() | {"approximation": "nystroem", "landmarks": rule, "random_state": 0}
    near = type(model)(**settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(near.decision_function(X), exact, atol=1e-5 * np.abs(exact).max())
    assert near.n_landmarks_ == 240
