"""A covariance decomposed where the rows live gives the machine of the host."""

import numpy as np
import pytest
from array_libraries import everywhere, put

from askew import MomentSVC
from askew.arrays import Home
from askew.moments.full import DEVICE_FEATURES, Full


@everywhere
def test_the_eigenvectors_of_a_large_matrix_come_from_where_the_rows_live(library):
    d = DEVICE_FEATURES
    A = np.random.default_rng(0).normal(size=(d, d))
    matrix, there = A @ A.T, Home(put(library, A))
    found = Full(np.zeros(d), matrix).decompose_at(there)
    assert found._eigen is not None
    values, vectors = found.eigen()
    np.testing.assert_allclose(vectors * values @ vectors.T, matrix, rtol=0, atol=1e-9 * values.max())
    assert all(isinstance(part, np.ndarray) for part in found.eigen())
    assert Full(np.zeros(2), np.eye(2)).decompose_at(there)._eigen is None
    assert Full(np.zeros(d), matrix).decompose_at(Home())._eigen is None


@everywhere
@pytest.mark.parametrize("options", [{"rho": 0.1}, {}, {"covariance": "shrunk"}], ids=["given", "auto", "shrunk"])
def test_a_machine_of_many_features_is_that_of_the_host(library, options):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, DEVICE_FEATURES)) * np.linspace(0.5, 2.0, DEVICE_FEATURES)
    y = (X[:, :4].sum(axis=1) > 1.6).astype(int)
    here = MomentSVC(tol=1e-8, **options).fit(X, y)
    there = MomentSVC(tol=1e-8, **options).fit(put(library, X), y)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=0, atol=1e-6 * np.abs(here.coef_).max())
