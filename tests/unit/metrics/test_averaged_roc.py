"""Vertical averaging, the band, and TPR at a given FPR."""

import numpy as np
import pytest
from scipy import stats

from askew.exceptions import DataError, ParameterError
from askew.metrics import RocCurve, averaged_roc, tpr_at_fpr


def draw(seed, n=200):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 4
    return y, rng.normal(size=n) + 1.2 * y


def test_curve_reads_the_top_of_vertical_lines_and_between_vertices():
    curve = RocCurve.of([0, 0, 1, 1, 1, 0], [1, 2, 3, 4, 2, 5])
    np.testing.assert_allclose(curve.fpr, [0, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(curve.at([0.0, 1 / 6, 1 / 3, 0.5, 1.0]), [0, 0, 2 / 3, 5 / 6, 1])
    np.testing.assert_allclose(curve.achieved_at([0.0, 1 / 3, 0.5, 1.0]), [0, 2 / 3, 2 / 3, 1])


def test_mean_and_band_are_those_of_the_t_interval():
    curves = [RocCurve.of(*draw(seed)) for seed in range(8)]
    grid = np.linspace(0, 0.3, 31)
    average = averaged_roc(curves, fpr=grid, confidence=0.9)
    each = np.stack([curve.at(grid) for curve in curves])
    np.testing.assert_allclose(average.tpr, each.mean(axis=0))
    low, high = stats.t.interval(0.9, 7, loc=each.mean(axis=0), scale=stats.sem(each))
    inside = each.std(axis=0) > 0
    np.testing.assert_allclose(average.lower[inside], np.clip(low, 0, 1)[inside])
    np.testing.assert_allclose(average.upper[inside], np.clip(high, 0, 1)[inside])
    assert average.n_curves == 8


def test_band_covers_the_true_curve_as_often_as_it_says():
    rng = np.random.default_rng(0)
    truth = stats.norm.sf(stats.norm.isf(0.2) - 1.2)
    covered = 0
    for _ in range(400):
        curves = [RocCurve.of(*draw(rng.integers(2**32), n=2000)) for _ in range(5)]
        average = averaged_roc(curves, fpr=[0.2], confidence=0.8)
        covered += bool(average.lower[0] <= truth <= average.upper[0])
    assert stats.binomtest(covered, 400, 0.8).pvalue > 1e-4


def test_area_of_a_fine_average_is_the_average_area():
    curves = [RocCurve.of(*draw(seed)) for seed in range(5)]
    average = averaged_roc(curves, fpr=np.linspace(0, 0.2, 20_001))
    assert np.trapezoid(average.tpr, average.fpr) == pytest.approx(
        np.mean([curve.area(0.2) for curve in curves]), abs=1e-4
    )


def test_tpr_at_fpr_by_counting():
    for seed in range(10):
        y, score = draw(seed)
        for rate in (0.0, 0.01, 0.05, 0.3, 1.0):
            allowed = [t for t in [*score, np.inf] if (score[~y] >= t).mean() <= rate]
            assert tpr_at_fpr(y, score, rate) == pytest.approx((score[y] >= min(allowed)).mean())
        assert tpr_at_fpr(y, score, 0.003, interpolate=True) >= tpr_at_fpr(y, score, 0.003)


def test_tpr_at_fpr_does_not_split_ties():
    assert tpr_at_fpr([0, 0, 1, 1], [1, 2, 2, 2], 0.4) == 0.0
    assert tpr_at_fpr([0, 0, 1, 1], [1, 2, 2, 2], 0.4, interpolate=True) == pytest.approx(0.8)


def test_refusals():
    curve = RocCurve.of(*draw(0))
    with pytest.raises(DataError, match="at least two ROC curves; got 1"):
        averaged_roc([curve])
    with pytest.raises(ParameterError, match=r"confidence=1.0 must lie in \(0, 1\)"):
        averaged_roc([curve, curve], confidence=1.0)
    for grid in ([], [0.2, 0.1], [0.0, 1.1], [[0.1]], [np.nan, 0.5]):
        with pytest.raises(ParameterError, match="increasing rates"):
            averaged_roc([curve, curve], fpr=grid)
    with pytest.raises(ParameterError, match=r"fpr=1.2 must be a false positive rate in \[0, 1\]"):
        tpr_at_fpr(*draw(0), 1.2)
