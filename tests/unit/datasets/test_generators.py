"""Generated sets have the truth they state."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

import askew.datasets
from askew.datasets import make_ijcnn1_like, make_ring, make_skewed, make_two_gaussians
from askew.exceptions import ParameterError

GENERATORS = [make_skewed, make_two_gaussians, make_ring, make_ijcnn1_like]


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_set_and_other_seed_another(make):
    one, same, other = make(200, random_state=3), make(200, random_state=3), make(200, random_state=4)
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    assert not np.array_equal(one.X, other.X)
    assert one.X.shape == (200, len(one.feature_names))
    assert set(one.y.tolist()) == {-1, 1}


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("rare", [0.0, 1.0, -0.1, float("nan")])
def test_rare_is_a_fraction(make, rare):
    with pytest.raises(ParameterError, match="rare must lie in"):
        make(100, rare=rare)


@pytest.mark.parametrize("make", GENERATORS)
def test_too_few_rows_are_refused(make):
    with pytest.raises(ParameterError, match="n_samples must be at least"):
        make(1)


def test_other_bounds_are_stated():
    with pytest.raises(ParameterError, match="condition must be at least 1"):
        make_skewed(condition=0.5)
    with pytest.raises(ParameterError, match="n_features must be at least 1; got 0"):
        make_skewed(n_features=0)
    with pytest.raises(ParameterError, match="radius and noise must be positive"):
        make_ring(noise=0.0)


def test_skewed_has_the_moments_it_states():
    data = make_skewed(60_000, rare=0.3, n_features=4, separation=3.0, condition=25.0, random_state=0)
    assert data.n_positive == 18_000
    for k, sign in enumerate((1, -1)):
        rows = data.X[data.y == sign]
        np.testing.assert_allclose(rows.mean(axis=0), data.truth.means[k], atol=0.12)
        np.testing.assert_allclose(np.cov(rows.T), data.truth.covariances[k], atol=0.6)
    negative = data.truth.covariances[1]
    difference = data.truth.means[0] - data.truth.means[1]
    assert np.linalg.cond(negative) == pytest.approx(25.0)
    assert np.sqrt(difference @ np.linalg.solve(negative, difference)) == pytest.approx(3.0)


@pytest.mark.parametrize("make", [make_skewed, make_two_gaussians])
def test_bayes_score_is_the_log_odds(make):
    data = make(100, rare=0.2, random_state=0)
    odds = [
        multivariate_normal(mean, covariance).logpdf(data.X)
        for mean, covariance in zip(data.truth.means, data.truth.covariances, strict=True)
    ]
    np.testing.assert_allclose(data.truth.bayes_score(data.X), odds[0] - odds[1] + np.log(0.2 / 0.8))


@pytest.mark.parametrize("make", [make_two_gaussians, make_ring])
def test_log_odds_are_calibrated(make):
    """Among rows whose Bayes score promises a probability, that fraction is positive."""
    data = make(100_000, rare=0.3, random_state=0)
    promised = 1 / (1 + np.exp(-data.truth.bayes_score(data.X)))
    for low, high in ((0.05, 0.3), (0.3, 0.7), (0.7, 0.95)):
        inside = (promised > low) & (promised < high)
        noise = np.sqrt(np.mean(promised[inside] * (1 - promised[inside])) / inside.sum())
        assert noise < 0.05
        assert np.mean(data.y[inside] == 1) == pytest.approx(promised[inside].mean(), abs=4 * noise)


def test_no_line_separates_the_ring():
    data = make_ring(2000, rare=0.3, random_state=0)
    linear = LogisticRegression().fit(data.X, data.y).decision_function(data.X)
    assert roc_auc_score(data.y, linear) < 0.6
    assert roc_auc_score(data.y, data.truth.bayes_score(data.X)) > 0.95


def test_ijcnn1_like_is_as_skewed_and_as_curved_as_the_real_set():
    data = make_ijcnn1_like(6000, random_state=0)
    train, test = data.take(slice(0, 3000)), data.take(slice(3000, None))
    assert data.n_positive == 600
    np.testing.assert_array_equal(data.X[:, :10].sum(axis=1), 1.0)
    curved = SVC(C=32, gamma=2).fit(train.X, train.y).decision_function(test.X)
    straight = SVC(C=32, kernel="linear").fit(train.X, train.y).decision_function(test.X)
    assert 0.96 < np.mean(np.sign(curved) == test.y) < 0.99
    assert np.mean(np.sign(straight) == test.y) < np.mean(np.sign(curved) == test.y) - 0.01


def test_the_examples_of_the_docstrings_run():
    for module in pkgutil.iter_modules(askew.datasets.__path__, "askew.datasets."):
        assert doctest.testmod(importlib.import_module(module.name)).failed == 0
