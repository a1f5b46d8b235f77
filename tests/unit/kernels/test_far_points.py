"""Kernel values of points far out: one cell of 1e12, clusters far apart, sparse rows far from the origin."""

import numpy as np
import pytest
from array_libraries import everywhere, lives_with, put
from scipy import sparse
from scipy.spatial.distance import cdist

from askew.arrays import host
from askew.kernels import RBF, Gram, Linear, Polynomial, Sigmoid, careful
from askew.kernels.bends import NegativeDistance
from askew.kernels.bends.distances import Distances
from askew.kernels.conformal import Conformal
from askew.kernels.stored import Stored
from askew.qp import SignedPoints

N, D = 120, 4


def _near(seed=0):
    return np.random.default_rng(seed).standard_normal((N, D))


def _one_cell(size):
    X = _near()
    X[7, 2] = size
    return X


def _cells(size):
    X = _near()
    X[::3, 1] = size * (1 + 1e-12 * np.arange(len(X[::3])))
    return X


def _clusters(size):
    X = _near()
    X[::2] += size
    X[1::4] -= 3 * size
    return X


def _holes(size):
    X = _near() + size
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0.0
    return X


FAR = {
    **{f"one cell of {size:g}": _one_cell(size) for size in (1e9, 1e10, 1e11, 1e12, 1e30)},
    "one cell of 1e160": _one_cell(1e160),
    **{f"a third at {size:g}": _cells(size) for size in (1e9, 1e12)},
    **{f"three clusters {size:g} apart": _clusters(size) for size in (1e7, 1e9)},
    **{f"offset {size:g}": _near() + size for size in (1e7, 1e8, 1e9)},
    **{f"offset {size:g} but for zeros": _holes(size) for size in (1e7, 1e9)},
    "wide": 1e7 * _near(),
}
every_far = pytest.mark.parametrize("X", FAR.values(), ids=FAR.keys())
every_wrap = pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def _exact(A, B, gamma=0.7):
    with np.errstate(over="ignore"):
        return np.exp(-gamma * cdist(A, B, "sqeuclidean"))


@pytest.mark.filterwarnings("ignore:overflow")
@every_far
@every_wrap
def test_entries_are_those_of_differences(X, wrap):
    gram, exact = Gram(RBF(0.7), wrap(X)), _exact(X, X)
    np.testing.assert_allclose(gram.rows(np.arange(N)), exact, atol=2e-7)
    some = np.array([100, 7, 3, 60, 7])
    np.testing.assert_allclose(gram.block(some), exact[np.ix_(some, some)], atol=2e-7)
    np.testing.assert_allclose(gram.tile(gram.prepare(some, np.float64), slice(5, 70)), exact[some, 5:70], atol=2e-7)
    v = np.random.default_rng(2).standard_normal(N) * (np.arange(N) % 3 != 1)
    np.testing.assert_allclose(gram.matvec(v), exact @ v, atol=2e-6)
    np.testing.assert_allclose(gram.subset(some).rows(np.arange(5)), exact[np.ix_(some, some)], atol=2e-7)


@pytest.mark.filterwarnings("ignore:overflow")
@every_far
@every_wrap
def test_scores_of_other_points_are_those_of_differences(X, wrap):
    Z, coefficients = np.concatenate([X[:20], X[:20] + 0.1, _near(5)]), np.linspace(-1.0, 1.0, N)
    gram = Gram(RBF(0.7), wrap(X))
    np.testing.assert_allclose(gram.weighted_sum(wrap(Z), coefficients), _exact(Z, X) @ coefficients, atol=2e-6)
    np.testing.assert_allclose(gram.cross(wrap(Z)), _exact(Z, X), atol=2e-7)


@every_far
def test_a_matrix_stored_in_float32_has_them_too(X):
    stored = Stored(Gram(RBF(0.7), X), with_float32=True)
    np.testing.assert_allclose(stored.whole(np.float32), _exact(X, X), atol=1e-6)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@everywhere
@every_far
def test_a_matrix_in_another_library_has_them_too(library, X):
    there, exact = Gram(RBF(0.7), put(library, X), tile_bytes=1), _exact(X, X)
    some = np.array([100, 7, 3, 60, 7])
    v = np.random.default_rng(2).standard_normal(N)
    np.testing.assert_allclose(there.rows(np.arange(N)), exact, atol=2e-7)
    np.testing.assert_allclose(there.block(some), exact[np.ix_(some, some)], atol=2e-7)
    np.testing.assert_allclose(there.matvec(v), exact @ v, atol=2e-6)
    np.testing.assert_allclose(there.weighted_sum(put(library, X[:9]), v), exact[:9] @ v, atol=2e-6)
    steps, g = np.arange(5.0), there.home.put(np.zeros(N))
    moved = there.add_product_at(g, there.home.put(some), steps, np.float64)
    np.testing.assert_allclose(host(moved), steps @ exact[some], atol=2e-6)
    assert lives_with(moved, there.points.X)


def test_signed_rows_far_from_the_origin_have_the_distances_of_their_differences():
    """z'z = s's − e², with s and e so large that only their differences are left."""
    rows = _near() + 1e8
    columns = rows.sum(axis=1, keepdims=True) * 0.25
    points = SignedPoints(sparse.csr_array(rows), columns, np.array([-1.0]))
    distance = cdist(rows, rows, "sqeuclidean") - cdist(columns, columns, "sqeuclidean")
    gram = Gram(RBF(0.7), points)
    np.testing.assert_allclose(gram.rows(np.arange(N)), np.exp(-0.7 * np.maximum(distance, 0.0)), atol=1e-6)


def test_points_that_are_not_far_are_left_to_products():
    near = Gram(RBF(1.0), _near())
    assert len(near.points.far) == 0
    assert len(Gram(RBF(1.0), _one_cell(1e12)).points.far) == 1
    assert len(Gram(RBF(1.0), _near() + 1e9).points.far) == 0
    assert len(Gram(RBF(1.0), sparse.csr_array(_near() + 1e9)).points.far) == 0
    assert Gram(RBF(1.0), sparse.csr_array(_near())).points.centre is None


@pytest.mark.parametrize("size", [1.0, 1e2, 3e3, 1e4, 1e5])
@pytest.mark.parametrize("d", [2, 30])
@every_wrap
def test_the_bound_of_the_rounding_is_one(size, d, wrap):
    """Of every kernel, for points at every distance: no product errs by more than the formula says."""
    rng = np.random.default_rng(int(size) + d)
    X = rng.standard_normal((80, d)) + size * (rng.random((80, 1)) < 0.5)
    v = rng.standard_normal(80) * (rng.random(80) < 0.7)
    wide = X.astype(np.longdouble)
    squares = ((wide[:, None] - wide[None]) ** 2).sum(axis=2)
    for function, exact in (
        (RBF(0.5), np.exp(-np.longdouble(0.5) * squares)),
        (Linear(), wide @ wide.T),
        (Polynomial(0.1, 3, 1.0), (np.longdouble(0.1) * (wide @ wide.T) + 1) ** 3),
        (Sigmoid(1e-3, 0.5), np.tanh(np.longdouble(1e-3) * (wide @ wide.T) + np.longdouble(0.5))),
    ):
        gram = Gram(function, wrap(X))
        error = np.abs(gram.matvec(v) - exact @ v).max()
        assert error <= gram.product_rounding(v)
        carefully = np.abs(gram.careful_product(v, np.arange(80)) - exact @ v).max()
        assert carefully <= gram.product_rounding(v)


@every_wrap
def test_careful_products_keep_what_plain_ones_lose(wrap):
    """Along a direction orthogonal to all offsets only the last digits of a'b are left."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) + 1e7
    v = rng.standard_normal(60)
    v -= v.mean()
    wide = X.astype(np.longdouble)
    exact = (wide @ (wide.T @ v.astype(np.longdouble))).astype(np.float64)
    gram = Gram(Linear(), wrap(X))
    lost, kept = (np.abs(found - exact).max() for found in (gram.matvec(v), gram.careful_product(v, np.arange(60))))
    assert kept < 0.05 * lost


def test_bent_and_stored_kernels_pass_the_bound_on():
    X, rng = _cells(1e10), np.random.default_rng(3)
    factor, v, rows = rng.uniform(0.2, 1.5, N), rng.standard_normal(N), np.array([0, 3, 4, 119])
    bent = Conformal(Stored(Gram(RBF(0.7), X), with_float32=False), factor)
    exact = factor[:, None] * _exact(X, X) * factor
    np.testing.assert_allclose(bent.careful_product(v, rows), (exact @ v)[rows], atol=1e-12)
    assert np.abs(bent.matvec(v) - exact @ v).max() <= bent.product_rounding(v)
    assert len(bent.argument_sizes()) == N


def test_duplicate_entries_of_a_sparse_row_count_as_their_sum():
    X = np.round(_near() * 64) / 64 + 1e9
    doubled = sparse.csr_array(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(D), N), 2), np.arange(0, 2 * N * D + 1, 2 * D)),
        X.shape,
    )
    assert not doubled.has_canonical_format
    np.testing.assert_allclose(Gram(RBF(0.7), doubled).rows(np.arange(N)), _exact(X, X), atol=2e-7)


def test_compensated_products_are_exact_where_everything_cancels():
    a, b, out = np.array([[1e16, 1.0, -1e16]]), np.array([[1.0, 0.5, 1.0]]), np.empty((1, 1))
    careful.products(a, b, out)
    assert out[0, 0] == 0.5


@every_wrap
@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_distances_of_rows_far_from_the_origin_are_those_of_the_rows(wrap, offset):
    near = np.round(_near() * 2**10) / 2**10
    found = Distances(Gram(NegativeDistance(), wrap(near + offset))).to_anchors(np.array([5, 80]))
    np.testing.assert_allclose(found, cdist(near, near[[5, 80]], "sqeuclidean"), atol=1e-12)
