"""AsymmetricSVC as a scikit-learn classifier: inputs, messages, and a ranking that tol does not change."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import NuSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew.estimators.asymmetric_svc import AsymmetricSVC
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.metrics import tolerance_auc_score


@parametrize_with_checks([AsymmetricSVC(), AsymmetricSVC(kernel="linear", tau=0.0)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def rare(n=300, share=0.2, shift=1.2, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1, -1)
    X = rng.standard_normal((n, d)) + shift * (y[:, None] > 0)
    order = rng.permutation(n)
    return X[order], y[order]


def test_the_margins_and_the_score_are_those_of_the_paper():
    X, y = rare()
    model = AsymmetricSVC(0.1, 0.03, gamma=0.3).fit(X, y)
    scores = model.decision_function(X)
    w_squared = float(model.dual_coef_[0] @ rbf_kernel(model.support_vectors_, gamma=0.3) @ model.dual_coef_[0])
    assert model.norm_[0] == pytest.approx(np.sqrt(w_squared))
    gamma, rho = model.class_margin_ * model.norm_[0], model.core_margin_ * model.norm_[0]
    assert model.intercept_[0] == pytest.approx(0.5 * gamma - rho)
    assert model.dual_coef_.sum() == pytest.approx(0.03)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(0.23)
    # outside its margin: a positive below γ/2, a negative above −γ/2; never more than the theorem allows
    assert np.mean((y > 0) & (scores < 0.5 * gamma * (1 - 1e-3))) <= 0.13 + 1e-9
    assert np.mean((y < 0) & (scores > -0.5 * gamma * (1 - 1e-3))) <= 0.1 + 1e-9
    np.testing.assert_array_equal(model.predict(X), np.where(scores >= 0, 1, -1))


def test_tau_zero_ranks_as_nu_svc():
    X, y = rare()
    ours = AsymmetricSVC(0.1, 0.0, gamma=0.3).fit(X, y).decision_function(X)
    theirs = NuSVC(nu=0.2, gamma=0.3, tol=1e-8).fit(X, y).decision_function(X)
    scale = np.abs(theirs).max() / np.abs(ours).max()
    np.testing.assert_allclose(scale * ours, theirs, atol=1e-3)


def test_kinds_of_input_agree():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = rare()
    X[np.abs(X) < 0.3] = 0.0
    names = ["a", "b", "c"]
    expected = AsymmetricSVC(gamma=0.5).fit(X, y).decision_function(X)
    for other in (sparse.csr_matrix(X), pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        got = AsymmetricSVC(gamma=0.5).fit(other, y).decision_function(other)
        np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())
    K = rbf_kernel(X, gamma=0.5)
    got = AsymmetricSVC(kernel="precomputed").fit(K, y).decision_function(K)
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_every_kernel_fits(kernel):
    X, y = rare()
    model = AsymmetricSVC(0.15, 0.02, kernel=kernel, gamma=0.1, coef0=0.5).fit(X, y)
    assert model.status_ == ("stationary" if kernel == "sigmoid" else "optimal")
    assert tolerance_auc_score(y, model.decision_function(X), 0.3, normalize=True) > 0.5
    if kernel == "linear":
        np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, model.decision_function(X), atol=1e-12)


def test_several_classes_are_fitted_one_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.standard_normal((120, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat(range(3), 40)]
    model = AsymmetricSVC(gamma=0.3).fit(X, y)
    assert model.decision_function(X).shape == (120, 3)
    assert model.score(X, y) > 0.95
    assert model.mu_.shape == model.core_margin_.shape == (3,)
    assert model.outlier_fractions_.shape == (3, 2)
    assert model.bi_train(X, y).shape == (3,)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9])
def test_the_defaults_are_feasible_at_any_ratio(share):
    X, y = rare(share=share)
    model = AsymmetricSVC().fit(X, y)
    assert 0 < model.mu_ <= min(share, 1 - share)
    assert model.mu_ + model.tau_ <= share + 1e-12
    mixed = AsymmetricSVC(tau=0.4 * share).fit(X, y)
    assert mixed.mu_ + 0.4 * share <= share + 1e-12
    assert AsymmetricSVC(mu=0.4 * min(share, 1 - share)).fit(X, y).tau_ > 0


def test_the_defaults_rank_where_few_positives_overlap_with_many_negatives():
    """Without a core the reduced hulls meet there, and nothing is left of w."""
    rng = np.random.default_rng(0)
    y = (rng.random(8000) < 0.01).astype(int)
    X = rng.normal(size=(8000, 5)) + 0.8 * y[:, None]
    model = AsymmetricSVC().fit(X, y)
    assert model.status_ == "optimal"
    assert model.norm_[0] > 1e-5
    assert roc_auc_score(y, model.decision_function(X)) > 0.8
    without = AsymmetricSVC(tau=0.0, approximation="nystroem", n_landmarks=60, random_state=0, max_iter=100_000)
    with pytest.warns(ConvergenceWarning, match="norm_ near 0"):
        without.fit(X, y)
    assert without.norm_[0] < 1e-2 * model.norm_[0]


def test_bi_training_gives_the_smallest_mu_with_a_margin():
    X, y = rare(shift=0.6)
    tau = 0.1
    edge = AsymmetricSVC(0.05, tau, gamma=0.3).bi_train(X, y)
    assert edge > 0
    assert AsymmetricSVC(0.9 * edge, tau, gamma=0.3).fit(X, y).class_margin_ == 0.0
    if 1.1 * edge + tau < 0.2:
        assert AsymmetricSVC(1.1 * edge, tau, gamma=0.3).fit(X, y).class_margin_ > 0
    estimator = AsymmetricSVC(0.05, tau)
    estimator.bi_train(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


FIVE_SETS = [(0.4, 0.1, 0.01), (0.2, 0.1, 0.02), (0.4, 0.2, 0.1), (0.8, 0.05, 0.3), (0.1, 0.3, 0.05)]


@pytest.mark.parametrize(("shift", "share", "gamma"), FIVE_SETS)
@pytest.mark.parametrize("part", [0.05, 0.75])
def test_the_ranking_does_not_depend_on_the_stopping_rule(shift, share, gamma, part):
    """Also where ‖w‖ is nearly 0: wide kernels and small μ on classes that overlap."""
    X, y = rare(700, share, shift, seed=5, d=10)
    train, test = slice(0, 400), slice(400, None)
    areas = []
    for tol in (1e-3, 1e-5):
        model = AsymmetricSVC(part * share * 0.9, 0.0, gamma=gamma, tol=tol).fit(X[train], y[train])
        assert model.relative_violation_[0] <= tol
        areas.append(tolerance_auc_score(y[test], model.decision_function(X[test]), 0.1, normalize=True))
    assert abs(areas[0] - areas[1]) < 1e-3


def test_what_is_wrong_is_said_with_its_bound_and_its_remedy():
    X, y = rare()
    with pytest.raises(InfeasibleError, match=r"mu \+ tau = 0.25 exceeds the fraction of positives, 0.2. Choose"):
        AsymmetricSVC(0.15, 0.1).fit(X, y)
    with pytest.raises(InfeasibleError, match=r"mu = 0.3 exceeds the fraction of negatives, 0.2"):
        AsymmetricSVC(0.3, 0.0).fit(X, -y)
    with pytest.raises(InfeasibleError, match="Class 'c' against the rest: mu"):
        AsymmetricSVC(0.2, 0.0).fit(X[:20], ["a"] * 9 + ["b"] * 9 + ["c"] * 2)
    with pytest.raises(ParameterError, match="both 0"):
        AsymmetricSVC(0.0, 0.0).fit(X, y)
    with pytest.raises(ParameterError, match="'mu' parameter"):
        AsymmetricSVC(-0.1).fit(X, y)
    with pytest.raises(DataError, match="at least two classes"):
        AsymmetricSVC().fit(X, np.ones(len(y)))
    with pytest.raises(DataError, match="weight of zero everywhere"):
        AsymmetricSVC().fit(X, y, sample_weight=np.zeros(len(y)))
    failed = AsymmetricSVC(0.9, 0.0)
    with pytest.raises(InfeasibleError):
        failed.fit(X, y)
    with pytest.raises(NotFittedError):
        failed.predict(X)


def test_a_limit_of_steps_that_is_too_low_is_a_warning():
    X, y = rare(400)
    with pytest.warns(ConvergenceWarning, match="times the spread of its scores, where tol=0.001 was asked for"):
        model = AsymmetricSVC(0.01, 0.0, gamma=0.01, max_iter=50).fit(X, y)
    assert model.status_ == "max_iter"
    assert model.relative_violation_[0] > 1e-3


@pytest.mark.parametrize("wrong", ["mu", "one class", "rows"])
def test_a_fit_that_fails_leaves_the_earlier_model_as_it_was(wrong):
    X, y = rare(60)
    model = AsymmetricSVC(0.1, 0.0).fit(X, y)
    scores = model.decision_function(X)
    fits = {
        "mu": lambda: model.set_params(mu=0.9).fit(X[:, :2], y),
        "one class": lambda: model.fit(X, np.ones(60)),
        "rows": lambda: model.fit(np.full((60, 3), np.nan), y),
    }
    with pytest.raises((InfeasibleError, DataError, ValueError)):
        fits[wrong]()
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert model.set_params(mu=0.1).fit(X, y).decision_function(X).shape == (60,)
