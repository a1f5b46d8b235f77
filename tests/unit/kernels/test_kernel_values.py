"""Kernel values against scikit-learn's pairwise functions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from askew.exceptions import ParameterError
from askew.kernels import RBF, Gram, Linear, Polynomial, Sigmoid, make_function

CASES = {
    "linear": (Linear(), pairwise.linear_kernel),
    "rbf": (RBF(0.7), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.7)),
    "rbf narrow": (RBF(50.0), lambda A, B: pairwise.rbf_kernel(A, B, gamma=50.0)),
    "poly": (Polynomial(0.3, 3, 1.0), lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.3, coef0=1.0)),
    "poly 1": (Polynomial(2.0, 1, -1.0), lambda A, B: pairwise.polynomial_kernel(A, B, 1, gamma=2.0, coef0=-1.0)),
    "sigmoid": (Sigmoid(0.2, 0.1), lambda A, B: pairwise.sigmoid_kernel(A, B, gamma=0.2, coef0=0.1)),
}
every_kernel = pytest.mark.parametrize(("function", "reference"), CASES.values(), ids=CASES.keys())


def _data(seed=0):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((40, 7)), rng.standard_normal((11, 7))
    return (A * (rng.random(A.shape) < 0.5)).astype(np.float32), (B * (rng.random(B.shape) < 0.5)).astype(np.float32)


@every_kernel
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("stored", [np.float32, np.float64])
@pytest.mark.parametrize("asked", [np.float32, np.float64])
def test_values_are_those_of_scikit_learn(function, reference, wrap, stored, asked):
    """To the rounding of the precision asked for, whatever the precision the points are stored in."""
    A, B = _data()
    expected = reference(A.astype(np.float64), B.astype(np.float64))
    gram = Gram(function, wrap(A.astype(stored)))
    tolerance = 8 * np.finfo(asked).eps * max(1.0, gram.argument_bound())
    cross = gram.cross(wrap(B.astype(stored)), asked)
    assert cross.dtype == asked
    np.testing.assert_allclose(cross, expected.T, rtol=tolerance, atol=tolerance)
    rows = gram.rows(np.arange(40), asked)
    np.testing.assert_allclose(
        rows, reference(A.astype(np.float64), A.astype(np.float64)), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("asked", [np.float32, np.float64])
def test_rbf_keeps_its_digits_far_from_the_origin(asked):
    """An offset of 1e4 costs 2γx'x about 1e8 in size; centred points do not pay for it."""
    rng = np.random.default_rng(1)
    near = rng.standard_normal((60, 5))
    exact = pairwise.rbf_kernel(near, gamma=0.2)
    got = Gram(RBF(0.2), near + 1e4).rows(np.arange(60), asked)
    np.testing.assert_allclose(got, exact, atol=1e-5 if asked is np.float32 else 1e-9)


def test_rbf_of_a_point_with_itself_is_one_and_never_more():
    X = np.random.default_rng(2).standard_normal((50, 30))
    wild, tame = Gram(RBF(10.0), 1e4 * X), Gram(RBF(0.01), X)
    assert np.all(wild.diagonal() == 1.0)
    assert wild.rows(np.arange(50)).max() <= 1.0
    assert tame.rows(np.arange(50), np.float32).max() <= 1.0 + 1e-6


def test_integers_are_points_too():
    X = np.arange(12).reshape(4, 3)
    np.testing.assert_allclose(Gram(Linear(), X).matvec(np.ones(4)), X @ X.T @ np.ones(4))
    np.testing.assert_allclose(Gram(RBF(0.1), X).rows(np.arange(4)), pairwise.rbf_kernel(X, gamma=0.1))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("linear", Linear()),
        ("rbf", RBF(2.0)),
        ("poly", Polynomial(2.0, 4, 0.5)),
        ("polynomial", Polynomial(2.0, 4, 0.5)),
        ("sigmoid", Sigmoid(2.0, 0.5)),
    ],
)
def test_a_name_stands_for_a_function(name, expected):
    assert make_function(name, 2.0, 4, 0.5) == expected


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"one of 'linear', 'rbf', .*'precomputed'; got 'gaussian'"):
        make_function("gaussian")
