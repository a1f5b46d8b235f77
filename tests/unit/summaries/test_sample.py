"""Rows are known by what they hold: not by place, precision or container."""

import numpy as np
import pytest
from scipy import sparse

from askew.summaries import draw_by_number, row_identity

RNG = np.random.default_rng(0)
X = np.round(RNG.standard_normal((200, 6)), 1) * (RNG.random((200, 6)) < 0.5)
X[100:] = X[RNG.integers(0, 100, 100)]


def test_equal_rows_and_only_those_share_a_number():
    found = row_identity(X)
    _, expected = np.unique(X + 0.0, axis=0, return_inverse=True)
    assert len(set(zip(found, expected.ravel(), strict=True))) == len(set(found)) == len(set(expected.ravel()))
    assert set(found) == set(range(len(set(found))))


@pytest.mark.parametrize(
    "wrap",
    [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.asfortranarray, lambda X: np.where(X == 0, -0.0, X)],
)
def test_the_numbers_do_not_depend_on_the_container(wrap):
    np.testing.assert_array_equal(row_identity(wrap(X)), row_identity(X))


def test_stored_zeros_and_repeated_entries_of_a_sparse_row_do_not_count():
    plain = sparse.csr_array(np.array([[0.0, 3.0], [1.0, 0.0], [0.0, 3.0]]))
    odd = sparse.csr_array(
        (np.array([0.0, 3.0, 1.0, 1.0, 2.0]), np.array([0, 1, 0, 1, 1]), np.array([0, 2, 3, 5])), (3, 2)
    )
    np.testing.assert_array_equal(row_identity(odd), row_identity(plain))
    assert row_identity(plain)[0] == row_identity(plain)[2]


def test_the_numbers_follow_the_rows_when_these_are_shuffled_or_repeated():
    distinct = np.unique(X, axis=0)
    order = RNG.permutation(np.repeat(np.arange(len(distinct)), 2))
    np.testing.assert_array_equal(row_identity(distinct[order]), row_identity(distinct)[order])


def test_small_whole_numbers_do_not_collide():
    """Their bit patterns end in fifty zeros: a hash that only multiplies would lose them."""
    grid = np.stack(np.meshgrid(np.arange(60.0), np.arange(60.0), np.arange(4.0)), axis=-1).reshape(-1, 3)
    assert len(np.unique(row_identity(grid))) == len(grid)


def test_draws_are_uniform_and_independent_of_blocks():
    whole = draw_by_number(0, 100_000, seed=3)
    np.testing.assert_array_equal(whole, np.concatenate([draw_by_number(s, 10, 3) for s in range(0, 100_000, 10)]))
    assert whole.min() >= 0
    assert whole.max() < 1
    counts, _ = np.histogram(whole, bins=50, range=(0, 1))
    assert ((counts - 2000) ** 2 / 2000).sum() < 100  # chi squared, 49 degrees of freedom
    for other in (draw_by_number(0, 100_000, seed=4), np.roll(whole, 1)):
        assert abs(np.corrcoef(whole, other)[0, 1]) < 0.015
