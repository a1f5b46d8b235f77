"""Memory: a sparse X is never densified whole, and no n×n matrix is ever held."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from askew.kernels import RBF, Gram, Linear, Polynomial

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def tall_and_wide():
    """20,000 × 50,000 with five entries a row: 8 GB if it were dense."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 50_000, (20_000, 5))
    rows = np.repeat(np.arange(20_000), 5)
    return sparse.csr_matrix((rng.standard_normal(100_000), (rows, columns.ravel())), shape=(20_000, 50_000))


def _peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("function", [Linear(), RBF(0.1), Polynomial(1.0, 2, 1.0)], ids=["linear", "rbf", "poly"])
def test_sparse_points_stay_sparse(tall_and_wide, function):
    gram = Gram(function, tall_and_wide)
    some = np.arange(0, 20_000, 400)
    v = np.zeros(20_000)
    v[some] = 1.0

    def work():
        gram.rows(some, np.float32)
        gram.block(np.arange(300))
        gram.matvec(v)
        gram.weighted_sum(tall_and_wide[:40], v)
        gram.diagonal()

    assert _peak(work) < 300  # 7,600 for the whole of X, 3,050 for the whole of K


def test_dense_products_hold_tiles_only():
    X = np.random.default_rng(0).standard_normal((20_000, 5))
    gram = Gram(RBF(0.1), X)
    assert _peak(lambda: gram.matvec(np.ones(20_000))) < 100  # 3,050 for the whole of K
