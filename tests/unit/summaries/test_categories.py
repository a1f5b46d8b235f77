"""Categories beside numbers in moments: exact, and the same however the rows are cut."""

import numpy as np
import pytest

from askew.exceptions import DataError
from askew.moments import DiagonalMoments, LowRankMoments, Moments, append_columns, place_moments
from askew.summaries.categories import Levels, expanded, level_numbers
from askew.tables import one_hot


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(500, 3)) + 1e6, rng.integers(1, 4, 500).astype(float)
    return X, np.column_stack([rng.integers(0, 4, 500), rng.integers(0, 2, 500)]).astype(np.int32), weight


@pytest.mark.parametrize("kind", [Moments, DiagonalMoments])
def test_moments_are_those_of_the_matrix_with_marks(rows, kind):
    X, codes, weight = rows
    whole = np.hstack([X, one_hot(codes, [4, 2]).toarray()])
    expected = kind.of(whole, weight)
    found = append_columns(kind.of(X, weight), X, one_hot(codes, [4, 2]), weight)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-14)
    np.testing.assert_allclose(found.scatter, expected.scatter, rtol=1e-9, atol=1e-7)


def test_a_part_that_knows_fewer_categories_merges_exactly(rows):
    X, codes, weight = rows
    first, second = codes[:, 0] < 2, codes[:, 0] >= 2
    names, parts = ("country", "kind"), []
    for mine, levels in ((first, (("a", "b"), ("x", "y"))), (second, (("c", None), ("x", "y")))):
        local = codes[mine] - np.array([0 if levels[0][0] == "a" else 2, 0], np.int32)
        found = append_columns(Moments.of(X[mine], weight[mine]), X[mine], one_hot(local, [2, 2]), weight[mine])
        parts.append((Levels.of(names, 10, levels, local, weight[mine]), found))
    (a, mine), (b, theirs) = parts
    both = b.joined(a)
    assert both.keys == (("a", "b", "c", None), ("x", "y"))
    total = a.fitted(mine, both) + b.fitted(theirs, both)
    expected = append_columns(Moments.of(X, weight), X, one_hot(codes, [4, 2]), weight)
    np.testing.assert_allclose(total.covariance, expected.covariance, rtol=1e-9, atol=1e-9)
    assert both.weights[0]["c"] == weight[codes[:, 0] == 2].sum()


def test_order_of_features_and_rows_that_are_kept():
    levels = Levels(("country",), 10, ({"de": 1.0, "fr": 0.0, None: 2.0},)).kept()
    assert levels.keys == (("de", None),)
    assert levels.order(("age", "country", "amount")).tolist() == [0, 2, 3, 1]
    kept = np.column_stack([[5.0, 6.0], level_numbers((None, "de"))])
    np.testing.assert_array_equal(expanded(kept, levels), [[5, 0, 1], [6, 1, 0]])


def test_numbers_of_levels_are_their_own():
    assert level_numbers(("fr", "de"))[0] == level_numbers(("it", "fr"))[1]
    many = level_numbers(tuple(f"level {k}" for k in range(10_000)))
    assert len(np.unique(many)) == 10_000
    assert many.max() < 2.0**53


def test_too_many_levels_and_a_sketch_are_refused(rows):
    X, codes, weight = rows
    with pytest.raises(DataError, match="column 'country' has at least 4 different values, and max_categories=3"):
        Levels.of(("country",), 3, (tuple("abcd"),), codes[:, :1], weight)
    with pytest.raises(DataError, match="takes numbers alone"):
        append_columns(LowRankMoments.of(X, weight, rank=2), X, one_hot(codes, [4, 2]), weight)


def test_features_can_be_left_out_and_added():
    X = np.random.default_rng(1).normal(size=(30, 3))
    placed = place_moments(Moments.of(X), np.array([2, -1, 0]), 4)
    expected = np.zeros((30, 4))
    expected[:, [2, 0]] = X[:, [0, 2]]
    np.testing.assert_allclose(placed.scatter, Moments.of(expected).scatter, atol=1e-13)
