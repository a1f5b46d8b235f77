"""The chosen ridge: deterministic, blind to order and repetition, and better than none where it matters."""

from functools import partial

import numpy as np
from scipy import sparse

from askew.methods.moment import Formulation
from askew.methods.moment_ridge import MOST_POINTS, Trial, choose_ridge, distinct_rows, smallest_good
from askew.moments import CovarianceModel, Moments
from askew.solvers.dispatch import solve

SOLVE = partial(solve, max_iter=20_000)


def chosen(X, weight, negatives, **formulation):
    structure = CovarianceModel().build(Moments.of(negatives))
    trial = Trial(structure, X, weight, float(len(negatives)))
    return choose_ridge([trial], Formulation(**formulation), SOLVE)


def test_order_and_repetition_do_not_matter():
    rng = np.random.default_rng(0)
    X, negatives = rng.normal(size=(30, 8)) + 0.5, rng.normal(size=(60, 8))
    weight = rng.integers(1, 4, 30)
    expected = chosen(X, weight.astype(float), negatives)
    repeated = np.repeat(X, weight, axis=0)
    shuffled = rng.permutation(len(repeated))
    assert chosen(repeated[shuffled], np.ones(len(repeated)), negatives) == expected
    nu = chosen(X, weight.astype(float), negatives, name="nu")
    assert chosen(repeated[shuffled], np.ones(len(repeated)), negatives, name="nu") == nu


def test_distinct_rows_sum_their_weights_sparse_or_dense():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [1.0, 0.0]])
    rows, weight = distinct_rows(X, np.array([1.0, 2.0, 3.0, 4.0]))
    assert dict(zip(rows.sum(axis=1), weight, strict=True)) == {1.0: 8.0, 2.0: 2.0}
    again, same = distinct_rows(sparse.csr_array(X), np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(again.toarray(), rows)
    np.testing.assert_array_equal(same, weight)
    many = np.random.default_rng(1).normal(size=(1000, 2))
    assert distinct_rows(many, np.ones(1000))[0].shape == (MOST_POINTS, 2)


def test_a_wide_problem_gets_a_real_ridge():
    rng = np.random.default_rng(2)
    negatives = rng.normal(size=(30, 100))  # fewer rows than features: Σ is singular
    X = rng.normal(size=(20, 100)) + 0.3
    assert chosen(X, np.ones(20), negatives) > 0.05


def test_many_negatives_need_little_ridge():
    rng = np.random.default_rng(3)
    scale = np.array([1.0, 1.0, 0.01])  # the small feature carries the signal
    negatives = rng.normal(size=(5000, 3)) * scale
    X = rng.normal(size=(40, 3)) * scale + [0, 0, 0.05]
    assert chosen(X, np.ones(40), negatives) < 1e-3


def test_one_positive_or_no_variance_still_gives_a_ridge():
    rng = np.random.default_rng(4)
    negatives = rng.normal(size=(50, 3))
    one = chosen(np.ones((1, 3)), np.ones(1), negatives)
    assert one == np.trace(Moments.of(negatives).covariance) / 3
    assert chosen(rng.normal(size=(5, 3)), np.ones(5), np.zeros((10, 3))) == 1.0


def test_every_formulation_finds_a_ridge():
    rng = np.random.default_rng(5)
    X, negatives = rng.normal(size=(15, 4)), rng.normal(size=(40, 4))  # a hard margin is infeasible here
    for name in ("C", "nu", "two_slack", "hard"):
        assert chosen(X, np.ones(15), negatives, name=name) > 0


def test_the_smallest_of_equals_wins():
    losses = np.array([[1.0, 1.1, 1.0], [0.51, 0.49, 0.501], [0.5, 0.5, 0.5]])  # the second is as good as the third
    assert smallest_good(losses, np.ones(3)) == 1
    assert smallest_good(np.array([[2.0, 2.0], [1.0, 1.0]]), np.ones(2)) == 1
