"""Each bend against its formula written out point by point, and its derivatives against differences."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from askew.kernels import RBF, Gram, Linear
from askew.kernels.bends import (
    Adaptive,
    Asymmetric,
    Boundary,
    Distances,
    NegativeDistance,
    Sight,
    Support,
    Symmetric,
    balanced_share,
    on_rows,
    with_unit_mean_square,
)

RNG = np.random.default_rng(3)
X = RNG.standard_normal((30, 4))
SCORE = RNG.standard_normal(30)
ROWS = np.array([1, 4, 9, 11, 17, 22, 28])
IS_MINORITY = np.array([True, False, False, True, False, False, True])
INPUT = Distances(Gram(NegativeDistance(), X))
FEATURE = Distances(Gram(RBF(0.4), X))


def _feature_distance(a, b, gamma=0.4):
    return 2.0 - 2.0 * np.exp(-gamma * np.sum((a - b) ** 2))


def _blind(score):
    return Sight(score, np.empty((len(score), 0)))


def test_distances_in_feature_space_are_those_of_the_kernel_trick():
    found = FEATURE.to_anchors(ROWS)
    expected = [[_feature_distance(x, X[a]) for a in ROWS] for x in X]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_in_input_space_do_not_suffer_from_an_offset(offset):
    moved = Distances(Gram(NegativeDistance(), X + offset))
    np.testing.assert_allclose(moved.to_anchors(ROWS), cdist(X, X[ROWS], "sqeuclidean"), rtol=1e-6, atol=1e-8)


def test_symmetric_is_one_at_the_boundary_and_exp_minus_k_at_the_farthest_row():
    bend = Symmetric.of(SCORE, 2.5)
    values = np.exp(bend.log_factor(_blind(np.append(SCORE, 0.0))))
    assert values[-1] == 1.0
    np.testing.assert_allclose(values[np.argmax(np.abs(SCORE))], np.exp(-2.5))
    np.testing.assert_allclose(values[:-1], np.exp(-2.5 * SCORE**2 / np.max(SCORE**2)))


@pytest.mark.parametrize("majority_sign", [-1.0, 1.0])
def test_asymmetric_gives_each_side_the_k_of_its_role(majority_sign):
    bend = Asymmetric.of(SCORE, majority_sign, k_majority=3.0, k_minority=0.5)
    says_majority = np.sign(SCORE) == majority_sign
    expected = np.where(says_majority, 3.0, 0.5) * SCORE**2 / np.max(SCORE**2)
    np.testing.assert_allclose(bend.log_factor(_blind(SCORE)), -expected)


def test_asymmetric_with_equal_strengths_is_symmetric():
    both = Asymmetric.of(SCORE, -1.0, 1.7, 1.7), Symmetric.of(SCORE, 1.7)
    np.testing.assert_array_equal(*(bend.log_factor(_blind(SCORE)) for bend in both))


def test_a_score_of_zero_everywhere_bends_nothing():
    zero = np.zeros(5)
    assert np.all(Symmetric.of(zero, 4.0).log_factor(_blind(zero)) == 0.0)


def test_support_is_the_sum_over_support_vectors_in_units_of_their_spread():
    bend = Support.of(ROWS, INPUT, 3.0)
    apart = cdist(X[ROWS], X[ROWS], "sqeuclidean")
    spread = apart.sum() / (len(ROWS) * (len(ROWS) - 1))
    expected = np.exp(-3.0 * cdist(X, X[ROWS], "sqeuclidean") / spread).mean(axis=1)
    np.testing.assert_allclose(np.exp(on_rows(bend, SCORE, INPUT)), expected, rtol=1e-10)


def _act_widths():
    """τ² of every support vector, by loops."""
    widths = []
    for i, a in enumerate(ROWS):
        others = [_feature_distance(X[a], X[b]) for b in ROWS if b != a]
        reach = 0.5 * (min(others) + max(others))
        opposite = [_feature_distance(X[a], X[b]) for j, b in enumerate(ROWS) if IS_MINORITY[j] != IS_MINORITY[i]]
        near = [d for d in opposite if d < reach]
        width = np.mean(near) if near else reach
        ratio = (~IS_MINORITY).sum() / IS_MINORITY.sum()
        widths.append(width * ratio if IS_MINORITY[i] else width)
    return np.array(widths)


def test_adaptive_has_the_width_of_each_support_vectors_surroundings():
    bend = Adaptive.of(ROWS, IS_MINORITY, FEATURE, 1.0)
    np.testing.assert_allclose(bend.rates, 1.0 / _act_widths(), rtol=1e-10)
    expected = [
        np.mean([np.exp(-r * _feature_distance(x, X[a])) for r, a in zip(bend.rates, ROWS, strict=True)]) for x in X
    ]
    np.testing.assert_allclose(np.exp(on_rows(bend, SCORE, FEATURE)), expected, rtol=1e-10)


def test_boundary_points_lie_between_nearest_opposites():
    """With the linear kernel φ(x) = x, so that the boundary points can be written down."""
    share, linear = 0.7, Distances(Gram(Linear(), X))
    bend = Boundary.of(ROWS, IS_MINORITY, linear, share, 1.0)
    n_pairs = len(bend.lengths)
    plus, minus = X[bend.rows[:n_pairs]], X[bend.rows[n_pairs:]]
    minority, majority = X[ROWS[IS_MINORITY]], X[ROWS[~IS_MINORITY]]
    pairs = {(tuple(p), tuple(majority[cdist([p], majority).argmin()])) for p in minority}
    pairs |= {(tuple(minority[cdist([q], minority).argmin()]), tuple(q)) for q in majority}
    assert {(tuple(p), tuple(q)) for p, q in zip(plus, minus, strict=True)} == pairs
    between = (1 - share) * plus + share * minus
    to_support = cdist(between, X[ROWS], "sqeuclidean")
    reach = 0.5 * (to_support.min(axis=1) + to_support.max(axis=1))
    widths = np.array([d[d < m].mean() for d, m in zip(to_support, reach, strict=True)])
    expected = np.exp(-cdist(X, between, "sqeuclidean") / widths).mean(axis=1)
    np.testing.assert_allclose(np.exp(on_rows(bend, SCORE, linear)), expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_boundary_is_moved_to_the_least_balanced_hinge_loss(seed):
    rng = np.random.default_rng(seed)
    is_minority = np.arange(60) < 9
    score = rng.standard_normal(60) * 1.5 - 1.2 + rng.uniform(0, 2) * is_minority
    weight = rng.integers(1, 4, 60).astype(float)
    z, cost = np.where(is_minority, 1.0, -1.0), np.empty(60)
    for mine in (is_minority, ~is_minority):
        cost[mine] = weight[mine] / weight[mine].sum()
    loss = lambda s: np.sum(cost * np.maximum(0.0, 1.0 - z * (score + 2 * s - 1)))  # noqa: E731
    found = balanced_share(score, is_minority, weight)
    assert 0.5 <= found <= 1.0
    assert loss(found) <= min(loss(s) for s in np.linspace(0.5, 1.0, 2001)) + 1e-9


def _bends():
    yield "symmetric", Symmetric.of(SCORE, 2.0), None
    yield "asymmetric", Asymmetric.of(SCORE, -1.0, 3.0, 0.5), None
    yield "support", Support.of(ROWS, INPUT, 3.0), INPUT
    yield "adaptive", Adaptive.of(ROWS, IS_MINORITY, FEATURE, 2.0), FEATURE
    yield "boundary", Boundary.of(ROWS, IS_MINORITY, FEATURE, 0.8, 2.0), FEATURE


every_bend = pytest.mark.parametrize(
    ("bend", "distances"), [(b, d) for _, b, d in _bends()], ids=[n for n, *_ in _bends()]
)


@every_bend
def test_slopes_are_the_derivatives_of_log_d(bend, distances):
    seen = np.empty((30, 0)) if distances is None else distances.to_anchors(bend.anchors) + 0.1
    slopes, h = bend.slopes(Sight(SCORE, seen)), 1e-6
    by_score = (bend.log_factor(Sight(SCORE + h, seen)) - bend.log_factor(Sight(SCORE - h, seen))) / (2 * h)
    np.testing.assert_allclose(slopes.by_score, by_score, atol=1e-7)
    for a in range(seen.shape[1]):
        step = h * (np.arange(seen.shape[1]) == a)
        by_distance = (bend.log_factor(Sight(SCORE, seen + step)) - bend.log_factor(Sight(SCORE, seen - step))) / (
            2 * h
        )
        np.testing.assert_allclose(slopes.by_distance[:, a], by_distance, atol=1e-7)


@pytest.mark.parametrize("name", ["support", "adaptive", "boundary"])
def test_the_unit_of_a_radial_bend_leaves_c_its_meaning(name):
    bend, distances = next((b, d) for n, b, d in _bends() if n == name)
    weight = RNG.uniform(0.5, 2.0, 30)
    unit = with_unit_mean_square(bend, SCORE, distances, weight)
    factor = np.exp(on_rows(unit, SCORE, distances))
    np.testing.assert_allclose(np.average(factor**2, weights=weight), 1.0)
    np.testing.assert_allclose(np.ptp(np.log(factor) - on_rows(bend, SCORE, distances)), 0.0, atol=1e-12)


@pytest.mark.parametrize("k", [0.0, 1.0, 50.0])
def test_one_support_vector_per_class_is_an_empty_neighbourhood_that_falls_back(k):
    pair, minority = np.array([3, 8]), np.array([True, False])
    apart = _feature_distance(X[3], X[8])
    np.testing.assert_allclose(Adaptive.of(pair, minority, FEATURE, k).rates, k / apart)
    for bend, distances in (
        (Support.of(pair, INPUT, k), INPUT),
        (Adaptive.of(pair, minority, FEATURE, k), FEATURE),
        (Boundary.of(pair, minority, FEATURE, 0.5, k), FEATURE),
    ):
        assert np.all(np.isfinite(on_rows(bend, SCORE, distances)))


def test_anchors_on_top_of_each_other_do_not_divide_by_zero():
    same = np.tile(X[:1], (4, 1))
    matrix = Distances(Gram(RBF(0.4), same))
    minority = np.array([True, False, True, False])
    for bend in (
        Support.of(np.arange(4), matrix, 1.0),
        Adaptive.of(np.arange(4), minority, matrix, 1.0),
        Boundary.of(np.arange(4), minority, matrix, 0.6, 1.0),
    ):
        np.testing.assert_array_equal(on_rows(bend, np.ones(4), matrix), 0.0)


@pytest.mark.parametrize("name", ["support", "adaptive", "boundary"])
def test_far_from_every_anchor_log_d_is_still_finite(name):
    bend, _ = next((b, d) for n, b, d in _bends() if n == name)
    sight = Sight(np.zeros(1), np.full((1, len(bend.anchors)), 1e7))
    assert np.isfinite(bend.log_factor(sight)).all()
    assert np.isfinite(bend.slopes(sight).by_distance).all()
