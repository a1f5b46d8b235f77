"""Fits on points that products are no good for: what they claim is what differences show, and they end."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from askew import SVC, AsymmetricSVC, KernelScaledSVC, OneClassSVM
from askew.kernels import RBF, Gram
from askew.kernels.stored import Stored
from askew.methods import c_svc
from askew.qp import Status, certify
from askew.solvers import solve

CLAIMED = 1.05  # times what is claimed: the rounding of the judge


def classes(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return rng.normal(size=(n, d)) + y[:, None] * 1.2, y


def cell(X, size, rows=0):
    X = X.copy()
    X[rows, 0] = size
    return X


def true_violation(machine, X, y, C=1.0):
    """KKT violation by differences in float64, from nothing but what the machine stores."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    K, signs = np.exp(-machine.gamma_ * cdist(X, X, "sqeuclidean")), np.where(y == 1, 1.0, -1.0)
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    g, lower, upper = K @ beta - signs, np.minimum(C * signs, 0), np.maximum(C * signs, 0)
    return g[beta > lower].max() - g[beta < upper].min()


def is_true(machine, X, y):
    return true_violation(machine, X, y) <= CLAIMED * machine.kkt_violation_.max() + 1e-6


@pytest.mark.parametrize("n", [300, 500, 2500])
@pytest.mark.parametrize("size", [1e9, 1e10, 1e11, 1e12])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_cell_far_away_does_not_make_the_certificate_false(n, size, dtype):
    X, y = classes(n)
    Z = cell(X, size).astype(dtype)
    machine = SVC(gamma=1.0).fit(Z, y)
    assert machine.status_ == "optimal"
    assert is_true(machine, Z, y)


@pytest.mark.parametrize("rows", [slice(0, 3), slice(0, 60), slice(0, 400)])
def test_nor_do_many(rows):
    X, y = classes(500)
    Z = cell(X, 1e11, rows)
    machine = SVC(gamma=1.0).fit(Z, y)
    assert machine.status_ == "optimal"
    assert is_true(machine, Z, y)


@pytest.mark.parametrize("offset", [1e7, 1e8, 1e9])
@pytest.mark.parametrize("share", [0.0, 0.2], ids=["full", "with zeros"])
def test_sparse_rows_far_from_the_origin_give_what_dense_ones_give(offset, share):
    X, y = classes(500)
    Z = X + offset
    Z[np.random.default_rng(4).random(Z.shape) < share] = 0.0
    dense, thin = SVC(gamma=1.0, tol=1e-5).fit(Z, y), SVC(gamma=1.0, tol=1e-5).fit(sparse.csr_array(Z), y)
    assert dense.status_ == thin.status_ == "optimal"
    assert is_true(dense, Z, y)
    assert is_true(thin, Z, y)
    scores = dense.decision_function(Z)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(Z)), scores, atol=1e-3)
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(Z)), dense.predict(Z))


@pytest.mark.parametrize("offset", [1e7, 1e9])
def test_the_width_of_sparse_rows_far_from_the_origin_is_that_of_dense_ones(offset):
    X, y = classes(300)
    assert SVC().fit(sparse.csr_array(X + offset), y).gamma_ == pytest.approx(SVC().fit(X + offset, y).gamma_, rel=1e-9)


def test_the_fit_that_never_ended_ends():
    """Two columns, one cell of 2e10: with an inconsistent row the steps went round and round."""
    X, y = classes(300, 2)
    for seed in range(6):
        X, y = classes(300, 2, seed)
        Z = cell(X, 2e10)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            machine = SVC(gamma=0.7, max_iter=20_000).fit(Z, y)
        assert machine.status_ == "optimal"
        assert is_true(machine, Z, y)


@pytest.mark.parametrize("size", [1e4, 1e5, 1e10])
def test_steps_that_only_round_end_as_stalled(size):
    """A cubic kernel of 1e12 and more: float64 holds no gradient to 1e-3, and the solve says so in bounded time."""
    X, y = classes(300, 2)
    begin = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="scale the features"):
        machine = SVC(kernel="poly", gamma=0.7).fit(cell(X, size), y)
    assert machine.status_ == "stalled"
    assert time.perf_counter() - begin < 60


# 2^-16 and 2^30: sums of such numbers are exact, so the translated data are the same data
def exactly(X):
    return np.round(X * 2**16) / 2**16


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: SVC(gamma=0.5, tol=1e-6),
        lambda: SVC(gamma=0.5, tol=1e-6, approximation="nystroem", n_landmarks=60, random_state=0),
        lambda: OneClassSVM(gamma=0.5, tol=1e-6),
        lambda: AsymmetricSVC(gamma=0.5),
        lambda: KernelScaledSVC(gamma=0.5),
    ],
    ids=["SVC", "Nystroem", "OneClassSVM", "AsymmetricSVC", "KernelScaledSVC"],
)
def test_a_translation_changes_nothing(make, wrap):
    X, y = classes(400)
    X = exactly(X)
    there = X + np.array([2.0**30, -(2.0**28), 2.0**29])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        here, moved = make().fit(wrap(X), y), make().fit(wrap(there), y)
    assert here.status_ == moved.status_
    scores = here.decision_function(wrap(X))
    np.testing.assert_allclose(moved.decision_function(wrap(there)), scores, atol=2e-3 * np.abs(scores).max())


@pytest.mark.parametrize("offset", [1e7, 1e9])
def test_the_method_for_stored_matrices_claims_what_is_true(offset):
    X, y = classes(400)
    Z, signs = sparse.csr_array(X + offset), np.where(y == 1, 1.0, -1.0)
    problem = c_svc.formulate(Stored(Gram(RBF(1.0), Z), with_float32=True), signs, np.ones(400))
    found = solve(problem, tol=1e-3, route="explicit")
    exact = np.exp(-cdist(X + offset, X + offset, "sqeuclidean")) @ found.beta - signs
    assert found.status is Status.OPTIMAL
    assert certify(problem, found.beta, exact).violation <= 1.05e-3
