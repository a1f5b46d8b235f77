"""The number behind gamma="scale" and "auto"."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from askew.exceptions import ParameterError
from askew.kernels import resolve_gamma


def _data(seed=0):
    rng = np.random.default_rng(seed)
    return 3.0 + rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.5), rng.integers(1, 4, 30)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25])
def test_gamma_is_that_of_scikit_learn(wrap, gamma):
    X, y = wrap(_data()[0]), np.arange(30) % 2
    assert resolve_gamma(gamma, X) == pytest.approx(SVC(gamma=gamma).fit(X, y)._gamma, rel=1e-5)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_weights_are_repetitions(wrap):
    X, counts = _data()
    repeated = np.repeat(X, counts, axis=0)
    assert resolve_gamma("scale", wrap(X), counts) == pytest.approx(resolve_gamma("scale", wrap(repeated)), rel=1e-10)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_a_row_of_weight_zero_does_not_count(wrap):
    X, _ = _data()
    weight = np.r_[np.zeros(5), np.full(25, 2.0)]
    assert resolve_gamma("scale", wrap(X), weight) == pytest.approx(resolve_gamma("scale", wrap(X[5:])), rel=1e-10)


def test_an_offset_costs_the_variance_no_digits():
    X = np.random.default_rng(1).standard_normal((1000, 3))
    assert resolve_gamma("scale", X + 1e7) == pytest.approx(resolve_gamma("scale", X), rel=1e-6)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_constant_data_have_gamma_one(wrap):
    assert resolve_gamma("scale", wrap(np.full((5, 2), 7.0))) == 1.0


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf])
def test_a_number_out_of_bounds_is_refused(gamma):
    with pytest.raises(ParameterError, match="gamma must be a finite number"):
        resolve_gamma(gamma, np.eye(2))


def test_an_unknown_word_is_refused():
    with pytest.raises(ParameterError, match='"scale", "auto" or a positive number; got \'wide\''):
        resolve_gamma("wide", np.eye(2))
