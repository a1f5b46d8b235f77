"""What every kernel matrix promises: rows, blocks, products and sums are those of one symmetric matrix."""

import numpy as np
import pytest
from scipy import sparse

from askew.kernels import RBF, Gram, Linear, Polynomial, Precomputed, Sigmoid

N, D = 37, 6
FUNCTIONS = {
    "linear": Linear(),
    "rbf": RBF(0.3),
    "poly 2": Polynomial(0.4, 2, 0.0),
    "poly 3": Polynomial(0.2, 3, 1.0),
    "sigmoid": Sigmoid(0.1, -0.2),
}
CONTAINERS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "csr array": sparse.csr_array,
}


def _points(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)) * (rng.random((n, D)) < 0.6)
    return X.astype(np.float32).astype(np.float64)  # the same numbers in both precisions


def _stored(seed=0):
    X = _points(seed)
    return X @ X.T


def _grams():
    for kernel, function in FUNCTIONS.items():
        for container, wrap in CONTAINERS.items():
            yield f"{kernel}, {container}", Gram(function, wrap(_points()))
    some = np.array([30, 2, 2, 17, 5, 11, 8])
    yield "rbf, subset", Gram(FUNCTIONS["rbf"], _points()).subset(some)
    yield "poly 3, csr subset", Gram(FUNCTIONS["poly 3"], sparse.csr_matrix(_points())).subset(some)


def _matrices():
    yield from _grams()
    yield "precomputed", Precomputed(_stored())
    yield "precomputed float32", Precomputed(_stored().astype(np.float32))
    yield "precomputed subset", Precomputed(_stored()).subset(np.array([30, 2, 2, 17, 5, 11, 8]))
    yield "precomputed subset twice", Precomputed(_stored()).subset(np.arange(5, 30)).subset(np.array([9, 0, 3]))


def _each(cases):
    names, values = zip(*cases, strict=True)
    return pytest.mark.parametrize("matrix", values, ids=names)


every_matrix = _each(_matrices())
every_gram = _each(_grams())


def _whole(matrix):
    return matrix.rows(np.arange(matrix.n))


@every_matrix
def test_it_is_symmetric_with_its_diagonal(matrix):
    K = _whole(matrix)
    assert K.shape == (matrix.n, matrix.n)
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(K), matrix.diagonal(), rtol=1e-6, atol=1e-9)


@every_matrix
def test_rows_come_in_the_order_and_precision_asked_for(matrix):
    K, some = _whole(matrix), np.array([3, 1, matrix.n - 1, 1]) % matrix.n
    np.testing.assert_allclose(matrix.rows(some), K[some], rtol=1e-12, atol=1e-12)
    single = matrix.rows(some, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, K[some], rtol=2e-5, atol=2e-5)


@every_matrix
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_are_cut_from_the_rows(matrix, dtype):
    some, columns = np.array([0, matrix.n - 1]), slice(1, matrix.n - 1)
    prepared, expected = matrix.prepare(some, dtype), matrix.rows(some, dtype)[:, columns]
    np.testing.assert_allclose(matrix.tile(prepared, columns), expected, rtol=1e-5, atol=1e-6)
    out = np.empty(expected.shape, dtype)
    assert matrix.tile(prepared, columns, out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
    assert matrix.tile_width(2, out.itemsize) >= 1


@every_matrix
def test_rows_are_fresh(matrix):
    before, taken = _whole(matrix), matrix.rows(np.array([0, 1]))
    taken[:] = 99.0
    np.testing.assert_array_equal(_whole(matrix), before)


@every_matrix
def test_a_block_is_cut_from_the_rows(matrix):
    K, some = _whole(matrix), np.array([2, 0, matrix.n - 1])
    np.testing.assert_allclose(matrix.block(some), K[np.ix_(some, some)], rtol=1e-12, atol=1e-12)
    single = matrix.block(some, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, K[np.ix_(some, some)], rtol=2e-5, atol=2e-5)


@every_matrix
def test_products_are_those_of_the_rows(matrix):
    rng, K = np.random.default_rng(1), _whole(matrix)
    dense = rng.standard_normal(matrix.n)
    for v in (dense, np.where(rng.random(matrix.n) < 0.2, dense, 0.0), np.zeros(matrix.n)):
        product = matrix.matvec(v)
        assert product.dtype == np.float64
        np.testing.assert_allclose(product, K @ v, rtol=1e-9, atol=1e-9)


@every_matrix
def test_a_kernel_called_positive_semi_definite_is(matrix):
    smallest = np.linalg.eigvalsh(_whole(matrix))[0]
    if matrix.is_psd:
        assert smallest > -1e-10 * np.abs(matrix.diagonal()).max()
    else:
        assert matrix.is_psd is None or isinstance(matrix.function, Sigmoid)


def test_the_sigmoid_is_not_called_positive_semi_definite_and_is_not():
    gram = Gram(Sigmoid(1.0, -1.0), _points())
    assert gram.is_psd is False
    assert np.linalg.eigvalsh(_whole(gram))[0] < -0.1


@pytest.mark.parametrize(
    ("function", "expected"),
    [(Polynomial(1.0, 3, 0.0), True), (Polynomial(1.0, 3, -0.5), False), (Polynomial(1.0, 2.5, 1.0), False)],
)
def test_a_polynomial_is_positive_semi_definite_for_a_whole_degree_and_no_negative_term(function, expected):
    assert Gram(function, _points()).is_psd is expected


@every_matrix
def test_a_subset_is_the_matrix_on_fewer_points(matrix):
    some = np.array([matrix.n - 1, 0, 2])
    K = _whole(matrix)[np.ix_(some, some)]
    subset = matrix.subset(some)
    assert subset.n == 3
    assert subset.is_psd == matrix.is_psd
    np.testing.assert_allclose(_whole(subset), K, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(subset.diagonal(), matrix.diagonal()[some], rtol=1e-12)


@every_gram
def test_new_points_meet_the_old_ones_by_the_same_function(matrix):
    """Against its own points, cross is the matrix; weighted sums are products with cross."""
    Z = matrix.points.X
    K = _whole(matrix)
    np.testing.assert_allclose(matrix.cross(Z), K, rtol=1e-9, atol=1e-9)
    coefficients = np.random.default_rng(2).standard_normal((matrix.n, 3))
    np.testing.assert_allclose(matrix.weighted_sum(Z, coefficients), K @ coefficients, rtol=1e-9, atol=1e-9)
    single = matrix.weighted_sum(Z[:4], coefficients[:, 0])
    assert single.shape == (4,)
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, (K @ coefficients[:, 0])[:4], rtol=1e-9, atol=1e-9)


def test_sums_over_a_stored_kernel_take_the_columns_of_the_subset():
    K, some = _stored(), np.array([4, 1, 30])
    coefficients = np.array([1.0, -2.0, 0.5])
    got = Precomputed(K).subset(some).weighted_sum(K[:5], coefficients)
    np.testing.assert_allclose(got, K[:5][:, some] @ coefficients)


def test_tiles_do_not_show():
    """More points than one tile holds, more rows than one piece of work: the same numbers."""
    rng = np.random.default_rng(3)
    X, Z, v = rng.standard_normal((5000, 3)), rng.standard_normal((700, 3)), rng.standard_normal(5000)
    for wrap in (np.asarray, sparse.csr_matrix):
        gram = Gram(RBF(0.5), wrap(X))
        squared = ((Z[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        np.testing.assert_allclose(gram.weighted_sum(wrap(Z), v), np.exp(-0.5 * squared) @ v, rtol=1e-8, atol=1e-8)
