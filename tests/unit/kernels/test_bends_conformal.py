"""DKD is one symmetric matrix, positive semi-definite where K is."""

import numpy as np
import pytest
from scipy import sparse

from askew.exceptions import ParameterError
from askew.kernels import RBF, Gram, Linear, Polynomial, Precomputed, Sigmoid
from askew.kernels.conformal import Conformal
from askew.qp import Ability

N = 33
X = np.random.default_rng(0).standard_normal((N, 5)) * (np.random.default_rng(1).random((N, 5)) < 0.7)
FACTOR = np.exp(-np.random.default_rng(2).exponential(2.0, N))
FACTOR[4] = 0.0
BASES = {
    "rbf": Gram(RBF(0.3), X),
    "rbf sparse": Gram(RBF(0.3), sparse.csr_array(X)),
    "linear": Gram(Linear(), X),
    "poly": Gram(Polynomial(0.2, 3, 1.0), X),
    "sigmoid": Gram(Sigmoid(0.1, -0.2), X),
    "precomputed": Precomputed(X @ X.T),
    "precomputed subset": Precomputed(np.pad(X @ X.T, (0, 3))).subset(np.arange(N)),
}
every_base = pytest.mark.parametrize("base", BASES.values(), ids=BASES.keys())


def _dense(base):
    return FACTOR[:, None] * base.rows(np.arange(N)) * FACTOR


@every_base
def test_rows_tiles_blocks_and_products_are_those_of_dkd(base):
    bent, K = Conformal(base, FACTOR), _dense(base)
    some = np.array([5, 0, 31, 4])
    assert bent.n == N
    assert bent.is_psd == base.is_psd
    np.testing.assert_allclose(bent.rows(some), K[some], atol=1e-12)
    np.testing.assert_allclose(bent.block(some), K[np.ix_(some, some)], atol=1e-12)
    np.testing.assert_allclose(bent.diagonal(), np.diagonal(K), atol=1e-12)
    out = np.empty((4, 10))
    tile = bent.tile(bent.prepare(some, np.float64), slice(7, 17), out)
    assert tile is out
    np.testing.assert_allclose(out, K[some, 7:17], atol=1e-12)
    v = np.random.default_rng(3).standard_normal(N)
    np.testing.assert_allclose(bent.matvec(v), K @ v, atol=1e-10)
    np.testing.assert_allclose(bent.subset(some).rows(np.arange(4)), K[np.ix_(some, some)], atol=1e-12)
    assert bent.rows(some, np.float32).dtype == np.float32


@every_base
def test_bending_leaves_the_base_alone(base):
    before = base.rows(np.arange(N)).copy()
    bent = Conformal(base, FACTOR)
    bent.block(np.arange(N))
    bent.rows(np.arange(N))
    np.testing.assert_array_equal(base.rows(np.arange(N)), before)


@every_base
def test_a_bent_kernel_is_symmetric_and_keeps_positive_semi_definiteness(base):
    K = Conformal(base, FACTOR).rows(np.arange(N))
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    if base.is_psd:
        assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)


def test_a_bent_matrix_hands_out_the_stored_array_and_the_bend_and_no_second_array():
    base = BASES["precomputed"]
    held = Conformal(base, FACTOR)
    assert held.whole(np.float64) is base.whole(np.float64)
    assert held.whole(np.float32) is None
    np.testing.assert_array_equal(held.bend, FACTOR)
    assert Ability.WHOLE not in Conformal(BASES["rbf"], FACTOR).abilities


@pytest.mark.parametrize("factor", [FACTOR[:-1], -FACTOR, np.full(N, np.nan), np.full(N, np.inf)])
def test_a_factor_that_cannot_bend_is_refused(factor):
    with pytest.raises(ParameterError, match="one finite factor ≥ 0 per point"):
        Conformal(BASES["rbf"], factor)
