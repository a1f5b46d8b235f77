"""Cantelli's bound: its inverse, its tightness, and that no sample exceeds it."""

import numpy as np
import pytest

from askew.methods.moment import cantelli


def test_bound_and_kappa_are_inverse():
    t = np.array([1.0, 0.5, 0.1, 1e-3, 1e-9])
    np.testing.assert_allclose(cantelli.bound(cantelli.kappa_for(t)), t, rtol=1e-12)


def test_extremes_stay_in_the_unit_interval():
    kappa = np.array([-np.inf, -1.0, 0.0, 1e-200, 1e200, np.inf])
    np.testing.assert_allclose(cantelli.bound(kappa), [1, 1, 1, 1, 0, 0], atol=1e-300)


def test_no_sample_exceeds_the_bound_of_its_own_moments():
    rng = np.random.default_rng(0)
    for draw in (rng.normal, rng.exponential, rng.standard_cauchy):
        for _ in range(50):
            score = draw(size=200)
            thresholds = np.quantile(score, [0.1, 0.5, 0.9, 0.99])
            bound = cantelli.bound(cantelli.kappa_of(thresholds, score.mean(), score.std()))
            assert ((score[:, None] >= thresholds).mean(axis=0) <= bound + 1e-12).all()


def test_two_points_attain_it():
    # Mass t at distance √((1−t)/t) deviations above the mean, the rest below.
    t = 0.04
    score = np.repeat([np.sqrt((1 - t) / t), -np.sqrt(t / (1 - t))], [4, 96])
    threshold = cantelli.threshold_for(t, score.mean(), score.std())
    assert threshold == pytest.approx(score[0])
    assert cantelli.bound(cantelli.kappa_of(score[0], score.mean(), score.std())) == pytest.approx(t)


def test_a_mean_within_a_radius_moves_the_threshold_by_that_many_deviations():
    plain = cantelli.threshold_for(0.1, 1.0, 2.0)
    assert cantelli.threshold_for(0.1, 1.0, 2.0, mean_radius=0.5) == pytest.approx(plain + 1.0)
    assert cantelli.kappa_of(plain + 1.0, 1.0, 2.0, mean_radius=0.5) == pytest.approx(3.0)


def test_a_score_without_spread_is_certain():
    assert cantelli.kappa_of([0.9, 1.0, 1.1], 1.0, 0.0).tolist() == [-np.inf, -np.inf, np.inf]
    assert cantelli.bound(cantelli.kappa_of([1.0, 1.1], 1.0, 0.0)).tolist() == [1.0, 0.0]


def test_the_normal_estimate_is_never_above_the_bound_for_positive_kappa():
    kappa = np.linspace(0.01, 20, 500)
    assert (cantelli.gaussian_estimate(kappa) < cantelli.bound(kappa)).all()
