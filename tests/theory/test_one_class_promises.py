"""Promises of the one-class machines that hold at any tolerance and for any data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew import SVDD, OneClassSVM


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    nu=st.floats(0.02, 1.0),
    tol=st.sampled_from([1e-1, 1e-3, 1e-6]),
    make=st.sampled_from([OneClassSVM, SVDD]),
)
def test_at_most_nu_of_the_rows_are_outside_and_at_least_nu_support(seed, n, nu, tol, make):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * rng.choice([1e-3, 1.0, 1e3])
    model = make(nu=nu, tol=tol).fit(X)
    assert np.mean(model.predict(X) == -1) <= nu + 1e-9
    assert len(model.support_) / n >= nu - 1e-9


def test_the_fraction_outside_approaches_nu():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    for nu in (0.05, 0.2):
        assert np.mean(OneClassSVM(nu=nu).fit(X).predict(X) == -1) == pytest.approx(nu, abs=0.02)


def test_svdd_is_the_smallest_ball():
    """Three points on a circle and one inside: the ball at small nu is the circle, its centre the circle's."""
    angles = np.array([0.3, 2.4, 4.5])
    X = np.vstack([2.0 * np.c_[np.cos(angles), np.sin(angles)] + [7.0, -3.0], [[7.1, -3.2]]])
    model = SVDD(nu=0.1, kernel="linear").fit(X)
    assert model.squared_radius_ == pytest.approx(4.0, rel=1e-6)
    centre = model.dual_coef_[0] @ model.support_vectors_
    np.testing.assert_allclose(centre, [7.0, -3.0], atol=1e-6)
    np.testing.assert_allclose(model.decision_function([[7.0, -3.0], [7.0, 1.0]]), [4.0, -12.0], atol=1e-5)


def test_svdd_with_a_constant_diagonal_is_the_one_class_svm():
    X = np.random.default_rng(1).normal(size=(200, 3))
    ball, plane = SVDD(nu=0.3, tol=1e-8).fit(X), OneClassSVM(nu=0.3, tol=1e-8).fit(X)
    scale = 2.0 / (0.3 * len(X))
    np.testing.assert_allclose(ball.decision_function(X), scale * plane.decision_function(X), atol=1e-8)
