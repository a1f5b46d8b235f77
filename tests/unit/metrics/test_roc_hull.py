"""The hull against a generic convex hull and against brute force over costs."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from askew.exceptions import DataError, ParameterError
from askew.metrics import RocCurve, hull_of_curves, roc_hull


def draw(seed, *, n=300, tied=False, shift=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [False, True]
    score = rng.normal(size=n) + shift * y
    return y, np.round(score, 1) if tied else score


def generic_upper_hull(curve):
    points = np.column_stack([np.append(curve.fpr, 1.0), np.append(curve.tpr, 0.0)])
    vertices = points[ConvexHull(points).vertices]
    above = vertices[vertices[:, 1] > 0.0]
    return above[np.lexsort((above[:, 1], above[:, 0]))]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_vertices_are_those_of_a_generic_hull(seed, tied):
    y, score = draw(seed, tied=tied)
    hull = roc_hull(y, score)
    assert hull.fpr[0] == hull.tpr[0] == 0.0
    np.testing.assert_allclose(
        np.column_stack([hull.fpr, hull.tpr])[1:], generic_upper_hull(RocCurve.of(y, score)), atol=1e-12
    )
    assert (np.diff(hull.slopes) < 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_best_vertex_has_the_lowest_cost_of_all_thresholds(seed):
    y, score = draw(seed)
    other = -np.abs(score - 1.5)
    curves = {"a": RocCurve.of(y, score), "b": RocCurve.of(y, other)}
    hull = hull_of_curves(curves)
    for slope in (0.0, 0.01, 0.3, 1.0, 4.0, 50.0, 1e9):
        utilities = {name: (curve.tpr - slope * curve.fpr).max() for name, curve in curves.items()}
        best = hull.best_at(slope)
        assert best.tpr - slope * best.fpr == pytest.approx(max(utilities.values()), abs=1e-9)
        if best.names:
            assert utilities[best.names[0]] == pytest.approx(max(utilities.values()), abs=1e-9)


def test_threshold_of_a_vertex_reaches_it():
    y, score = draw(4)
    for point in roc_hull(y, score).points[1:-1]:
        said = score >= point.threshold
        assert (said[~y].mean(), said[y].mean()) == pytest.approx((point.fpr, point.tpr))


def test_ranges_tile_the_slopes_between_the_trivial_ends():
    y, score = draw(7)
    rng = np.random.default_rng(0)
    sharp = np.where(y & (rng.random(len(y)) < 0.4), 10.0, score - 5.0 * y * (rng.random(len(y)) < 0.5))
    hull = roc_hull(y, {"broad": score, "sharp": sharp, "noise": rng.normal(size=len(y))})
    ranges = hull.ranges
    assert {each.name for each in ranges} == {"broad", "sharp"}
    assert ranges[0].name == "sharp"
    assert ranges[0].slope_high == np.inf
    assert [a.slope_low for a in ranges[:-1]] == [b.slope_high for b in ranges[1:]]
    assert all(a.fpr_high <= b.fpr_low for a, b in itertools.pairwise(ranges))
    for each in ranges:
        assert hull.best_at(np.sqrt(max(each.slope_low, 1e-3) * min(each.slope_high, 1e3))).names == (each.name,)


def test_scores_that_share_a_vertex_share_its_range():
    y, score = draw(3)
    hull = roc_hull(y, {"a": score, "twice": 2.0 * score})
    assert all(point.names == ("a", "twice") for point in hull.points[1:-1])
    assert len(hull.ranges) == 2


def test_costs_and_prevalence_give_the_slope():
    y, score = draw(1)
    hull = roc_hull(y, score)
    assert hull.best_for(prevalence=0.01) == hull.best_at(99.0)
    assert hull.best_for(prevalence=0.5, false_positive_cost=3.0) == hull.best_at(3.0)
    # An infinite price of false positives still takes the positives that cost none.
    free = roc_hull([0, 1, 1], [1.0, 0.0, 2.0])
    assert (free.best_at(np.inf).fpr, free.best_at(np.inf).tpr) == (0.0, 0.5)


def test_a_useless_score_leaves_the_diagonal():
    hull = roc_hull([0, 0, 1, 1], [1, 1, 1, 1])
    assert hull.fpr.tolist() == [0.0, 1.0]
    assert hull.ranges == ()
    assert hull.area == 0.5


def test_rows_of_weight_zero_do_not_matter():
    y, score = draw(2)
    weight = np.ones(len(y))
    weight[::3] = 0.0
    weight[:2] = 1.0
    kept = weight > 0.0
    with_zero, without = roc_hull(y, score, sample_weight=weight), roc_hull(y[kept], score[kept])
    np.testing.assert_allclose(with_zero.fpr, without.fpr)
    np.testing.assert_allclose(with_zero.tpr, without.tpr)


def test_a_million_rows():
    y, score = draw(0, n=1_000_000)
    hull = roc_hull(y, score)
    assert hull.area >= RocCurve.of(y, score).area()
    assert (np.diff(hull.slopes) < 0.0).all()


def test_refusals():
    y, score = draw(0)
    with pytest.raises(DataError, match="at least one score"):
        roc_hull(y, {})
    hull = roc_hull(y, score)
    with pytest.raises(ParameterError, match="slope=-1"):
        hull.best_at(-1)
    with pytest.raises(ParameterError, match=r"prevalence=1\.0"):
        hull.best_for(prevalence=1.0)
    with pytest.raises(ParameterError, match="costs must be > 0"):
        hull.best_for(prevalence=0.1, false_negative_cost=0.0)
