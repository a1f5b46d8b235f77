"""The certificate of MomentSVC: it always holds on the moments' own data, and worst cases reach it."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm

from askew.estimators.moment_svc import MomentSVC
from askew.exceptions import ParameterError
from askew.moments import DiagonalMoments, LowRankMoments, Moments


def hostile_negatives(rng, n, d):
    """Heavy tails, skew, clusters and lattices: whatever a bound must survive."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.standard_t(1.5, size=(n, d))
    if kind == 1:
        return rng.exponential(size=(n, d)) ** 2
    if kind == 2:
        return rng.normal(size=(n, d)) * 0.01 + 10.0 * rng.integers(0, 2, (n, 1))
    return rng.integers(-1, 2, (n, d)).astype(float) @ rng.normal(size=(d, d))


@pytest.mark.parametrize("covariance", ["full", "diagonal", "identity", "factor", "shrunk"])
@pytest.mark.parametrize("formulation", ["C", "nu", "two_slack"])
def test_the_bound_holds_on_its_own_data_at_every_threshold(covariance, formulation):
    rng = np.random.default_rng(0)
    for _ in range(8):
        d = int(rng.integers(1, 6))
        negatives = hostile_negatives(rng, 200, d)
        positives = negatives[:8] + rng.normal(size=(8, d)) + rng.choice([0.0, 3.0])
        X, y = np.vstack([negatives, positives]), np.repeat([0, 1], [200, 8])
        model = MomentSVC(covariance=covariance, n_factors=2, formulation=formulation).fit(X, y)
        scores = np.sort(model.decision_function(negatives))
        thresholds = np.concatenate([scores, scores + 1e-9, [0.0, scores[-1] + 1.0]])
        for threshold in thresholds[::3]:
            rate = np.mean(scores >= threshold)
            assert rate <= model.false_positive_bound(threshold) + 1e-9
        assert np.mean(model.predict(negatives)) <= model.false_positive_bound_ + 1e-9


@pytest.mark.parametrize("kind", [Moments, DiagonalMoments, LowRankMoments])
def test_it_holds_when_only_moments_were_given(kind):
    rng = np.random.default_rng(1)
    for _ in range(10):
        negatives = hostile_negatives(rng, 300, 4)
        model = MomentSVC(covariance="diagonal").fit_from_moments(negatives[:10] + 2.0, kind.of(negatives))
        for threshold in np.quantile(model.decision_function(negatives), [0.1, 0.5, 0.9, 0.99, 1.0]):
            rate = np.mean(model.decision_function(negatives) >= threshold)
            assert rate <= model.false_positive_bound(threshold) + 1e-9


def test_it_holds_for_labels_of_sparse_data():
    X = sparse.random(500, 1200, 0.02, format="csr", random_state=0)
    Y = np.asarray((X[:, :5] != 0).toarray(), dtype=int)
    for covariance in ("diagonal", "factor"):
        model = MomentSVC(covariance=covariance, n_factors=3).fit(X, Y)
        scores = model.decision_function(X)
        for threshold in (-0.9, -0.5, 0.0):
            bounds = model.false_positive_bound(threshold)
            for k in range(5):
                assert np.mean(scores[Y[:, k] == 0, k] >= threshold) <= bounds[k] + 1e-9


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.4])
def test_a_two_point_distribution_reaches_the_bound(rate):
    n = 1000
    along = np.where(np.arange(n) < rate * n, 1.0, 0.0)  # a share ``rate`` at 1, the rest at 0
    side = np.tile([1.0, -1.0], n // 2)
    negatives = np.column_stack([along, 1e-3 * side])
    model = MomentSVC(C=1e6, rho=0.0, tol=1e-9).fit_from_moments(np.array([[2.0, 0.0]]), Moments.of(negatives))
    threshold = model.decision_function(np.array([[1.0, 0.0]]))[0]
    reached = np.mean(model.decision_function(negatives) >= threshold - 1e-9)
    assert reached >= rate - 1e-12
    assert model.false_positive_bound(threshold) == pytest.approx(rate, rel=1e-4)


def test_threshold_for_inverts_the_bound():
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(500, 3)), rng.normal(size=(20, 3)) + 2])
    y = np.repeat([0, 1], [500, 20])
    for radius in (0.0, 0.2):
        model = MomentSVC(mean_radius=radius).fit(X, y)
        for tolerance in (0.5, 0.1, 0.01, 1e-6):
            assert model.false_positive_bound(model.threshold_for(tolerance)) == pytest.approx(tolerance, rel=1e-9)
    for wrong in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="tolerance must be in"):
            model.threshold_for(wrong)


def test_uncertain_moments_only_weaken_the_certificate():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(500, 3)), rng.normal(size=(20, 3)) + 2])
    y = np.repeat([0, 1], [500, 20])
    sure, unsure = MomentSVC(rho=0.1).fit(X, y), MomentSVC(rho=0.1, mean_radius=0.5).fit(X, y)
    np.testing.assert_array_equal(sure.coef_, unsure.coef_)
    assert unsure.false_positive_bound_ > sure.false_positive_bound_
    w = sure.coef_[0]
    deviation = np.sqrt(w @ (np.cov(X[:500].T, bias=True) + 0.1 * np.eye(3)) @ w)
    kappa = -(float(w @ X[:500].mean(axis=0)) + sure.intercept_[0]) / deviation
    assert sure.false_positive_bound_ == pytest.approx(1 / (1 + kappa**2))
    assert unsure.false_positive_bound_ == pytest.approx(1 / (1 + (kappa - 0.5) ** 2))
    assert sure.false_positive_estimate() == pytest.approx(norm.sf(kappa))


def test_the_gaussian_estimate_is_close_for_gaussian_negatives():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal(size=(50_000, 3)), rng.normal(size=(30, 3)) + 1.5])
    model = MomentSVC(rho=0.0).fit(X, np.repeat([0, 1], [50_000, 30]))
    scores = model.decision_function(rng.normal(size=(50_000, 3)))
    for threshold in (-0.5, 0.0):
        rate = np.mean(scores >= threshold)
        assert model.false_positive_estimate(threshold) == pytest.approx(rate, abs=4 * np.sqrt(rate / 50_000) + 1e-3)


def test_the_first_class_can_be_certified_too():
    rng = np.random.default_rng(5)
    X = np.vstack([rng.normal(size=(30, 3)) + 2, rng.normal(size=(500, 3))])
    y = np.repeat([0, 1], [30, 500])
    model = MomentSVC(pos_label=0).fit(X, y)
    scores = -model.decision_function(X[y == 1])  # of the positive class, as the notes say
    for threshold in (-0.5, 0.0, 0.5):
        assert np.mean(scores >= threshold) <= model.false_positive_bound(threshold)


def test_a_kernel_score_has_no_certificate():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3 == 0
    model = MomentSVC(kernel="rbf").fit(X, y)
    assert not hasattr(model, "false_positive_bound_")
    with pytest.raises(AttributeError, match="linear score only"):
        model.threshold_for(0.1)
