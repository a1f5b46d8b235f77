"""Nyström features, the matrices that stand on them, and the landmarks they come from."""

import numpy as np
import pytest
from scipy import sparse

from askew.kernels import RBF, Gram, Linear, Polynomial
from askew.kernels.landmarks import RULES, choose_landmarks, draw_keys, draw_pool
from askew.kernels.low_rank import LowRank
from askew.kernels.low_rank_covariance import LowRankCovariance
from askew.kernels.nystroem import Nystroem
from askew.kernels.recomputed import HeldRows, Recomputed


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((300, 4))


@pytest.mark.parametrize("function", [RBF(0.3), Linear(), Polynomial(0.5, 2, 1.0)], ids=lambda f: type(f).__name__)
def test_every_point_a_landmark_gives_the_kernel_itself(X, function):
    Z = Nystroem(function, X).features(X)
    K = Gram(function, X).rows(np.arange(len(X)))
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-9 * np.abs(K).max())


def test_features_are_as_many_as_the_landmarks_span(X):
    assert Nystroem(Linear(), X).rank == 4
    twice = np.concatenate([X[:20], X[:20]])
    assert Nystroem(RBF(1.0), twice).rank == 20


def test_the_approximation_never_exceeds_the_kernel_and_is_exact_on_landmarks(X):
    origin = Nystroem(RBF(0.5), X[:40])
    squares = np.square(origin.features(X)).sum(axis=1)
    np.testing.assert_allclose(squares[:40], 1.0, atol=1e-9)
    assert np.all(squares <= 1.0 + 1e-9)
    assert squares[40:].min() < 0.999


def test_sparse_rows_have_the_features_of_dense_ones(X):
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    packed = Nystroem(RBF(0.5), sparse.csr_array(X[:30])).features(sparse.csr_array(X))
    plain = Nystroem(RBF(0.5), X[:30]).features(X)
    np.testing.assert_allclose(packed @ packed.T, plain @ plain.T, atol=1e-9)


def _held_and_not(X, block=37):
    origin = Nystroem(RBF(0.5), X[:30])
    scales = np.random.default_rng(1).uniform(0.2, 2.0, origin.rank)
    held = LowRank(origin.features(X), scales, origin)
    return held, Recomputed(origin, HeldRows(X, block), scales)


def test_a_low_rank_matrix_answers_like_the_array_it_stands_for(X):
    held, _ = _held_and_not(X)
    K = (held.features * held.scales) @ held.features.T
    v, some = np.random.default_rng(2).standard_normal(300), np.array([3, 250, 7])
    np.testing.assert_allclose(held.diagonal(), np.diagonal(K))
    np.testing.assert_allclose(held.matvec(v), K @ v)
    np.testing.assert_allclose(held.rows(some), K[some])
    np.testing.assert_allclose(held.block(some), K[np.ix_(some, some)])
    np.testing.assert_allclose(held.subset(some).matvec(v[:3]), K[np.ix_(some, some)] @ v[:3])
    g = v.copy()
    for dtype, atol in ((np.float64, 1e-12), (np.float32, 1e-5)):
        moved = held.add_product_at(g.copy(), some, np.array([1.0, -2.0, 0.5]), dtype)
        np.testing.assert_allclose(moved, g + K[:, some] @ [1.0, -2.0, 0.5], atol=atol)


@pytest.mark.parametrize("block", [1, 64, 300, 1000])
def test_blocks_of_any_size_give_what_held_features_give(X, block):
    held, anew = _held_and_not(X, block)
    v, some = np.random.default_rng(3).standard_normal((300, 2)), np.array([3, 9, 250])
    np.testing.assert_allclose(anew.matvec(v[:, 0]), held.matvec(v[:, 0]), rtol=1e-9)
    np.testing.assert_allclose(anew.combine(v), held.combine(v), atol=1e-9)
    np.testing.assert_allclose(anew.landmark_weights(v), held.landmark_weights(v), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(anew.diagonal(), held.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(anew.block(some), held.block(some), rtol=1e-9)
    np.testing.assert_allclose(anew.gather(some).rows(np.arange(3)), held.block(some), rtol=1e-9)
    np.testing.assert_allclose(anew.subset(some).matvec(v[:3, 0]), held.subset(some).matvec(v[:3, 0]), rtol=1e-9)


def test_weights_of_landmarks_score_like_weights_of_rows(X):
    held, _ = _held_and_not(X)
    plain = held.scaled(np.ones(held.rank))
    v = np.random.default_rng(4).standard_normal(300)
    scores = held.origin.gram.weighted_sum(X, held.landmark_weights(v))
    np.testing.assert_allclose(scores, plain.matvec(v), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("is_held", [True, False])
def test_the_covariance_of_features_is_that_of_the_kernel(X, is_held):
    pair = _held_and_not(X)
    matrix = pair[not is_held].scaled(np.ones(pair[0].rank))
    weight = np.random.default_rng(5).uniform(0.5, 2.0, 300)
    Q = matrix.scaled(np.ones(matrix.rank)).block(np.arange(300))
    C = np.diag(weight) - np.outer(weight, weight) / weight.sum()
    covariance = LowRankCovariance(matrix, weight)
    np.testing.assert_allclose(covariance.trace(), weight @ np.diagonal(Q @ C @ Q), rtol=1e-9)
    P = covariance.guided(0.3, 0.02).block(np.arange(300))
    np.testing.assert_allclose(P, 0.3 * Q + 0.02 * Q @ C @ Q, atol=1e-9)
    np.testing.assert_allclose(matrix.block(np.arange(300)), Q, atol=1e-9)  # turned, not changed


def _chosen(X, count, rule, seed=0, strata=None):
    rng = np.random.default_rng(seed)
    strata = np.zeros(X.shape[0], np.int64) if strata is None else strata
    pool = draw_pool(draw_keys(np.ones(X.shape[0]), rng), strata, count)
    return choose_landmarks(X[pool], strata[pool], count, rule, RBF(0.5), rng)


def _as_set(rows):
    return {tuple(row) for row in np.asarray(rows.toarray() if sparse.issparse(rows) else rows)}


@pytest.mark.parametrize("rule", RULES)
def test_landmarks_are_rows_and_the_same_for_the_same_seed(X, rule):
    first, again, other = (_chosen(X, 20, rule, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert 15 <= len(first) <= 20
    assert _as_set(first) <= _as_set(X)
    assert _as_set(first) != _as_set(other)


@pytest.mark.parametrize("rule", RULES)
def test_as_many_landmarks_as_rows_are_all_of_them(X, rule):
    repeated = np.concatenate([X[:30], X[:30]])
    assert _as_set(_chosen(repeated, 60, rule)) == _as_set(X[:30])


@pytest.mark.parametrize("rule", RULES)
def test_a_rare_class_gets_its_share(X, rule):
    strata = np.zeros(300, np.int64)
    strata[:12] = 1
    rare = _as_set(X[:12])
    assert len(_as_set(_chosen(X, 20, rule, strata=strata)) & rare) >= 7
    assert len(_as_set(_chosen(X, 100, rule, strata=strata)) & rare) == 12  # all there are, the rest from the others


@pytest.mark.parametrize("rule", ["kmeans", "leverage"])
def test_a_rule_sees_the_small_cluster_that_chance_may_miss(rule):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (2000, 2)), rng.normal(8, 0.3, (10, 2))])

    def left(chosen):
        return float(np.mean(1 - np.square(Nystroem(RBF(0.5), chosen).features(X[2000:])).sum(axis=1)))

    assert np.mean([left(_chosen(X, 30, rule, seed)) for seed in range(8)]) < 0.2
    assert np.mean([left(_chosen(X, 30, "uniform", seed)) for seed in range(8)]) > 0.5


def test_sparse_landmarks_are_those_of_dense_rows(X):
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    for rule in RULES:
        packed = _chosen(sparse.csr_array(X), 20, rule)
        assert sparse.issparse(packed)
        assert _as_set(packed) == _as_set(_chosen(X, 20, rule))


def test_heavier_rows_enter_a_pool_more_often():
    weight = np.repeat([1.0, 9.0], 5000)
    keys = draw_keys(weight, np.random.default_rng(0))
    first = np.argsort(-keys)[:1000]
    assert 0.86 < np.mean(first >= 5000) < 0.94
