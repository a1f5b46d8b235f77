"""Covariance structures: their whitened points, solves and traces against matrices spelled out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import graphical_lasso, ledoit_wolf, oas

from askew.exceptions import DataError, ParameterError
from askew.moments import CovarianceModel, DiagonalMoments, LowRankMoments, Moments
from askew.moments.factor import Factor, factors_of_data
from askew.moments.full import Full

MODELS = [
    CovarianceModel("full"),
    CovarianceModel("diagonal"),
    CovarianceModel("identity"),
    CovarianceModel("factor", n_factors=2),
    CovarianceModel("factor", n_factors=6),
    CovarianceModel("shrunk"),
    CovarianceModel("shrunk", shrinkage="ledoit_wolf"),
    CovarianceModel("sparse_inverse", alpha=0.2),
]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6)) + 3.0


def matrix_of(structure):
    if isinstance(structure, Full):
        return structure.matrix
    return np.diag(structure.diagonal) + structure.factors @ structure.factors.T


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name}-{m.n_factors}-{m.shrinkage}")
def test_points_solve_variance_and_trace(model, X):
    moments = Moments.of(X)
    structure = model.build(moments, (X, None)).with_ridge(0.1)
    M = matrix_of(structure)
    A = np.linalg.inv(M + 0.1 * np.eye(6))
    centred, v = X - moments.mean, np.arange(6.0)
    expected = centred @ A @ centred.T
    Z = structure.whiten(X)
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-9)
    S = structure.whiten(sparse.csr_array(X))
    if not isinstance(S, np.ndarray):
        assert sparse.issparse(S.rows)
        S = (S.rows @ S.rows.T).toarray() + (S.columns * S.signs) @ S.columns.T
        np.testing.assert_allclose(S, expected, atol=1e-9)
    np.testing.assert_allclose(structure.solve(v), A @ v, atol=1e-10)
    np.testing.assert_allclose(structure.solve(np.stack([v, -v], axis=1))[:, 1], -A @ v, atol=1e-10)
    np.testing.assert_allclose(structure.model_variance(v), v @ (M + 0.1 * np.eye(6)) @ v)
    np.testing.assert_allclose(structure.mean_variance(), np.trace(M) / 6)
    np.testing.assert_allclose(structure.feature_variances(), np.diagonal(M))
    spread = centred @ A @ M @ A @ centred.T
    for rows in (X, sparse.csr_array(X), sparse.csr_array(X[:20].astype(np.float32))):
        n, atol = rows.shape[0], 1e-9 if rows.dtype == np.float64 else 1e-4
        *_, (K, V, free) = structure.trials(rows, np.array([3.0, 0.1]))
        np.testing.assert_allclose(K, expected[:n, :n], atol=atol)
        np.testing.assert_allclose(V, spread[:n, :n], atol=atol)
        np.testing.assert_allclose(free, np.trace(M @ A))


def test_eigenvectors_and_cholesky_give_one_geometry(X):
    by_root = CovarianceModel().build(Moments.of(X)).with_ridge(0.2)
    other = CovarianceModel().build(Moments.of(X))
    other.eigen()
    by_eigen = other.with_ridge(0.2)
    np.testing.assert_allclose(by_root.whiten(X) @ by_root.whiten(X).T, by_eigen.whiten(X) @ by_eigen.whiten(X).T)
    np.testing.assert_allclose(by_root.solve(np.ones(6)), by_eigen.solve(np.ones(6)))


def test_factor_limits(X):
    moments = Moments.of(X)
    whole = CovarianceModel("factor", n_factors=6).build(moments)
    np.testing.assert_allclose(matrix_of(whole), moments.covariance, atol=1e-10)
    none = CovarianceModel("factor", n_factors=0).build(moments)
    np.testing.assert_allclose(matrix_of(none), np.diag(moments.variance))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_factor_bounds_the_covariance_from_both_sides(X, k):
    moments = Moments.of(X)
    structure = CovarianceModel("factor", n_factors=k).build(moments)
    inner = structure.factors @ structure.factors.T
    assert np.linalg.eigvalsh(matrix_of(structure) - moments.covariance).min() > -1e-9
    assert np.linalg.eigvalsh(moments.covariance - inner).min() > -1e-9


def test_factors_by_lanczos_equal_factors_of_the_matrix(X):
    wide = np.hstack([X, np.full((200, 1), 2.0)])  # with a constant feature
    moments = Moments.of(wide)
    exact = CovarianceModel("factor", n_factors=2).build(moments)
    for data in (wide, sparse.csr_array(wide)):
        found = Factor(moments.mean, *factors_of_data(data, None, DiagonalMoments.of(wide), 2))
        np.testing.assert_allclose(matrix_of(found), matrix_of(exact), atol=1e-7)
    weight = np.random.default_rng(1).integers(0, 3, 200).astype(float)
    weighted = Factor(moments.mean, *factors_of_data(wide, weight, DiagonalMoments.of(wide, weight), 2))
    again = CovarianceModel("factor", n_factors=2).build(Moments.of(wide, weight))
    np.testing.assert_allclose(matrix_of(weighted), matrix_of(again), atol=1e-7)


def test_factors_from_a_sketch(X):
    exact = CovarianceModel("factor", n_factors=2).build(Moments.of(X))
    sketch = LowRankMoments.of(X[:90], rank=6) + LowRankMoments.of(X[90:], rank=6)
    found = CovarianceModel("factor", n_factors=2).build(sketch)
    np.testing.assert_allclose(matrix_of(found), matrix_of(exact), atol=1e-7)


def test_shrinkage_is_scikit_learns(X):
    moments = Moments.of(X)
    np.testing.assert_allclose(CovarianceModel("shrunk").build(moments).matrix, oas(X)[0])
    by_rows = CovarianceModel("shrunk", shrinkage="ledoit_wolf")
    np.testing.assert_allclose(by_rows.build(moments, (X, None)).matrix, ledoit_wolf(X)[0])
    np.testing.assert_allclose(by_rows.build(moments, (sparse.csr_array(X), None)).matrix, ledoit_wolf(X)[0])
    with pytest.raises(ParameterError, match="shrinkage='oas'"):
        by_rows.build(moments)


def test_sparse_inverse_is_the_graphical_lasso_on_correlations(X):
    structure = CovarianceModel("sparse_inverse", alpha=0.2).build(Moments.of(X))
    scale = X.std(axis=0)
    expected = graphical_lasso(np.corrcoef(X.T), alpha=0.2, max_iter=200)[0] * np.outer(scale, scale)
    np.testing.assert_allclose(structure.matrix, expected, rtol=1e-6)
    constant = np.hstack([X, np.ones((200, 1))])
    assert np.isfinite(CovarianceModel("sparse_inverse", alpha=0.2).build(Moments.of(constant)).matrix).all()


def test_singular_covariances_are_refused_without_a_ridge(X):
    repeated = np.hstack([X, X[:, :1]])
    structure = CovarianceModel().build(Moments.of(repeated))
    with pytest.raises(DataError, match=r"singular with rho=0.*rho='auto'"):
        structure.whiten(repeated)
    structure.eigen()
    with pytest.raises(DataError, match="singular"):
        structure.with_ridge(0.0).whiten(repeated)
    constant = np.hstack([X, np.ones((200, 1))])
    with pytest.raises(DataError, match="1 features of the negatives have no variance"):
        CovarianceModel("diagonal").build(Moments.of(constant)).whiten(constant)


def test_structures_say_which_moments_they_need(X):
    with pytest.raises(DataError, match="needs full moments"):
        CovarianceModel("full").build(DiagonalMoments.of(X))
    with pytest.raises(DataError, match="LowRankMoments"):
        CovarianceModel("factor").build(DiagonalMoments.of(X))
