"""The tests agree with SciPy where it has them, and with a simulation of overlapping splits where it has not."""

import numpy as np
import pytest
from scipy import stats

from studies.protocol.figures import cliques
from studies.protocol.statistics import holm, interval, paired_test, rank


def test_the_naive_p_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 1, 20), rng.normal(0, 1, 20)
    found = paired_test(a, b, test_share=0.6)
    assert found.p_naive == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-10)
    assert found.p_corrected > found.p_naive
    assert paired_test(a, b, test_share=0.0).p_corrected == pytest.approx(found.p_naive, rel=1e-12)


def test_the_correction_holds_its_level_where_the_naive_test_does_not():
    """Two equal scores on overlapping splits of one sample: naive finds far more than 5 %, corrected does not."""
    rng = np.random.default_rng(1)
    n, n_test, repeats = 100, 30, 15
    naive, corrected = 0, 0
    for _ in range(200):
        sample = rng.normal(size=n)
        differences = [sample[rng.permutation(n)[:n_test]].mean() for _ in range(repeats)]
        found = paired_test(differences, np.zeros(repeats), test_share=n_test / (n - n_test))
        naive += found.p_naive < 0.05
        corrected += found.p_corrected < 0.05
    assert naive > 60
    assert corrected < 60


def test_equal_scores_are_no_difference():
    assert paired_test([0.5, 0.5], [0.5, 0.5], test_share=0.3).p_corrected == 1.0
    with pytest.raises(ValueError, match="at least 2 splits; got 1"):
        paired_test([0.5], [0.4], test_share=0.3)


def test_the_interval_is_students():
    scores = np.array([0.8, 0.82, 0.79, 0.85])
    mean, half = interval(scores)
    low, high = stats.t.interval(0.95, 3, loc=scores.mean(), scale=stats.sem(scores))
    assert (mean - half, mean + half) == pytest.approx((low, high))


def test_friedman_agrees_with_scipy_and_nemenyi_with_the_printed_table():
    scores = np.round(np.random.default_rng(2).random((30, 5)), 1)  # with ties
    found = rank(scores)
    assert found.p_friedman == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue, rel=1e-9)
    assert found.mean_ranks.sum() == pytest.approx(15)
    assert found.critical_difference == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), rel=1e-3)


def test_a_missing_score_is_refused():
    with pytest.raises(ValueError, match="a score on every data set"):
        rank([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]])


def test_cliques_join_what_is_not_told_apart():
    assert cliques([1.0, 1.5, 2.4, 4.0], 1.0) == [(0, 1), (1, 2)]
    assert cliques([1.0, 3.0, 5.0], 1.0) == []


def test_a_difference_that_is_constant_up_to_rounding_has_no_spread():
    scores = np.array([0.1, 0.3, 0.9, 0.65, 0.71])
    nothing = paired_test(scores + 0.1 - 0.1, scores, test_share=0.3)
    assert (nothing.p_naive, nothing.p_corrected, nothing.half_width) == (1.0, 1.0, 0.0)
    always = paired_test(scores + 0.01, scores, test_share=0.3)
    assert np.std(scores + 0.01 - scores) > 0
    assert (always.p_naive, always.p_corrected, always.half_width) == (0.0, 0.0, 0.0)
    assert paired_test(scores + 1e-6 * np.arange(5), scores, test_share=0.3).half_width > 0


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
