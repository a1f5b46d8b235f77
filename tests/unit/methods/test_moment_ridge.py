"""The chosen ridge: deterministic, blind to order and repetition, and better than none where it matters."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

from askew.methods.moment import Formulation, choose_ridge, distinct_rows, left_out_losses, smallest_good
from askew.methods.moment.ridge import MOST_POINTS, _left_out
from askew.moments import CovarianceModel, Moments
from askew.moments.structure import Structure


class Trial(NamedTuple):
    structure: Structure
    X: Any
    weight: np.ndarray
    n_negatives: float


def chosen(X, weight, negatives, **formulation):
    structure = CovarianceModel().build(Moments.of(negatives))
    trial = Trial(structure, X, weight, float(len(negatives)))
    return choose_ridge([trial], Formulation(**formulation))


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


@pytest.mark.parametrize("n", [12, 900])
def test_the_last_digits_of_the_rows_do_not_matter(n):
    """Also where rows are repeated, and repetitions then differ by their last digits."""
    rng = np.random.default_rng(7)
    X, negatives = rng.normal(size=(n, 6)) + 0.4, rng.normal(size=(80, 6))
    X = np.concatenate([X, X[: n // 2]])
    structure = CovarianceModel().build(Moments.of(negatives))
    grid = structure.ridge_grid()

    def losses(rows):
        return left_out_losses(Trial(structure, rows, np.ones(len(rows)), 80.0), grid, Formulation())[0]

    expected = losses(X)
    for seed in range(3):
        moved = X * (1.0 + 1e-15 * np.random.default_rng(seed).normal(size=X.shape))
        np.testing.assert_allclose(losses(moved[np.random.default_rng(seed).permutation(len(X))]), expected, rtol=1e-7)


def test_leaving_out_in_closed_form_is_leaving_out():
    """Each left-out score over its deviation, against the machine with squared slacks solved without that point."""
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(9, 4)) + 1.0
    K, root = Z @ Z.T, rng.normal(size=(4, 4))
    spread, cost = Z @ (root @ root.T) @ Z.T, rng.uniform(0.2, 2.0, 9)
    kappa, supports = _left_out(K, spread, cost, np.ones(9, dtype=bool))
    for i in np.flatnonzero(supports):
        rest = np.flatnonzero(supports & (np.arange(9) != i))
        alpha = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(1.0 / cost[rest]), np.ones(len(rest)))
        deviation = np.sqrt(alpha @ spread[np.ix_(rest, rest)] @ alpha)
        assert kappa[i] == pytest.approx(K[i, rest] @ alpha / deviation)
    some = np.flatnonzero(supports)
    alpha = np.linalg.solve(K[np.ix_(some, some)] + np.diag(1.0 / cost[some]), np.ones(len(some)))
    assert (alpha > 0).all()
    assert (K[np.ix_(~supports, supports)] @ alpha >= 1.0 - 1e-9).all()


def test_a_ridge_that_leaves_no_room_for_the_margin_is_not_taken():
    """Few positives far out in two features: a ridge of a thousand variances would let none reach its margin."""
    rng = np.random.default_rng(9)
    negatives = rng.normal(size=(100, 2))
    X = rng.normal(size=(4, 2)) + 1.0
    structure = CovarianceModel().build(Moments.of(negatives))
    trial = Trial(structure, X, np.ones(4), 100.0)
    grid = structure.ridge_grid()
    few, _ = left_out_losses(trial, grid, Formulation("C", C=1.0))
    assert np.isinf(few[-1]).all()
    assert np.isfinite(few[grid <= structure.safe_ridge()]).all()
    many, _ = left_out_losses(trial, grid, Formulation("C", C=1e6))
    assert np.isfinite(many).all()


def test_distinct_rows_sum_their_weights_sparse_or_dense():
    X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, -0.0], [1.0, 0.0]])
    rows, weight = distinct_rows(X, np.array([1.0, 2.0, 3.0, 4.0]), np.ones(2))
    assert dict(zip(rows.sum(axis=1), weight, strict=True)) == {1.0: 8.0, 2.0: 2.0}
    again, same = distinct_rows(sparse.csr_array(X), np.array([1.0, 2.0, 3.0, 4.0]), np.ones(2))
    np.testing.assert_array_equal(again.toarray(), rows)
    np.testing.assert_array_equal(same, weight)
    many = np.random.default_rng(1).normal(size=(1000, 2))
    assert distinct_rows(many, np.ones(1000), np.ones(2))[0].shape == (MOST_POINTS, 2)


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
