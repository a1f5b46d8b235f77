"""MomentSVC as scikit-learn's users meet it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew.estimators.moment_svc import MomentSVC
from askew.estimators.moment_svc_cv import MomentSVCCV
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.moments import DiagonalMoments, LowRankMoments, Moments


@parametrize_with_checks(
    [
        MomentSVC(),
        MomentSVC(kernel="rbf"),
        MomentSVC(covariance="diagonal"),
        MomentSVC(covariance="factor", n_factors=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def rare():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(800, 4)) @ rng.normal(size=(4, 4)), 0.7 * rng.normal(size=(25, 4)) + 2.5])
    return X, np.repeat([0, 1], [800, 25])


STRUCTURES = ["full", "diagonal", "identity", "factor", "shrunk", "sparse_inverse"]


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_identity_and_zero_mean_is_the_linear_one_class_svm(nu):
    rng = np.random.default_rng(1)
    positives = rng.normal(size=(50, 3)) + np.array([2.0, 1.0, 0.5])
    moments = Moments(100.0, np.zeros(3), np.zeros(3), 100.0 * np.eye(3))
    peer = OneClassSVM(kernel="linear", nu=nu, tol=1e-10).fit(positives)
    offset = float(-peer.intercept_[0])
    # w'x ≥ ρ − ξ with box 1 (scikit-learn's scaling), divided by ρ, is w'x ≥ 1 − ξ with box 1/ρ
    model = MomentSVC(C=1.0 / offset, covariance="identity", rho=0.0, tol=1e-9).fit_from_moments(positives, moments)
    np.testing.assert_allclose(model.coef_ * offset, peer.coef_, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_factor_limits(rare, kernel):
    X, y = rare
    options = {"kernel": kernel, "rho": 0.1, "tol": 1e-8}
    whole = MomentSVC(covariance="factor", n_factors=4, **options).fit(X, y).decision_function(X)
    np.testing.assert_allclose(whole, MomentSVC(covariance="full", **options).fit(X, y).decision_function(X), atol=1e-6)
    none = MomentSVC(covariance="factor", n_factors=0, **options).fit(X, y).decision_function(X)
    plain = MomentSVC(covariance="diagonal", **options).fit(X, y).decision_function(X)
    np.testing.assert_allclose(none, plain, atol=1e-6)


def test_small_costs_approach_the_fisher_direction(rare):
    X, y = rare
    w = MomentSVC(C=1e-6, rho=0.0).fit(X, y).coef_[0]
    fisher = np.linalg.solve(np.cov(X[y == 0].T, bias=True), X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    assert w @ fisher / np.linalg.norm(w) / np.linalg.norm(fisher) > 1 - 1e-9


@pytest.mark.parametrize("covariance", STRUCTURES)
@pytest.mark.parametrize("rho", ["auto", 0.3])
def test_a_stream_equals_a_batch(rare, covariance, rho):
    X, y = rare
    order = np.random.default_rng(2).permutation(len(y))
    X, y = X[order], y[order]
    weight = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    batch = MomentSVC(covariance=covariance, rho=rho).fit(X, y, sample_weight=weight)
    stream = MomentSVC(covariance=covariance, rho=rho)
    for part in np.array_split(np.arange(len(y)), 9):
        stream.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weight[part])
    assert stream.rho_ == pytest.approx(batch.rho_, rel=1e-9)
    np.testing.assert_allclose(stream.decision_function(X), batch.decision_function(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(stream.support_, batch.support_)


@pytest.mark.parametrize(
    ("n", "spread", "options"),
    [
        (20_000, np.arange(1.0, 6.0), {}),
        (20_000, np.arange(1.0, 6.0), {"scale": True}),
        (60_000, np.ones(4), {"formulation": "two_slack"}),
    ],
    ids=["C", "scale", "two_slack"],
)
def test_the_order_of_the_rows_and_their_chunks_do_not_show(n, spread, options):
    """Sweeps and pairs end somewhere within tol, and where depends on rounding: what they find has to be settled."""
    rng = np.random.default_rng(5)
    y = (rng.random(n) < 0.01).astype(int)
    X = (rng.normal(size=(n, len(spread))) + y[:, None]) * spread
    expected = MomentSVC(**options).fit(X, y).decision_function(X)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(n)
        found = MomentSVC(**options).fit(X[order], y[order]).decision_function(X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    stream = MomentSVC(**options)
    for part in np.array_split(order, 7):
        stream.partial_fit(X[part], y[part], classes=[0, 1])
    np.testing.assert_allclose(stream.decision_function(X), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("value", [1e9, 1e15 / 3, 2.0**60])
def test_a_constant_feature_counts_for_nothing_however_large(value, scale):
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.01).astype(int)
    X = rng.normal(size=(20_000, 4)) + y[:, None]
    wide = np.column_stack([X, np.full(len(y), value)])
    whole = MomentSVC(scale=scale, rho=1.0).fit(wide, y)
    assert whole.coef_[0, -1] == 0.0
    expected = MomentSVC(scale=scale, rho=1.0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(whole.decision_function(wide), expected, atol=1e-10 * np.abs(expected).max())
    stream = MomentSVC(scale=scale, rho=1.0)
    for part in np.array_split(rng.permutation(len(y)), 7):
        stream.partial_fit(wide[part], y[part], classes=[0, 1])
    np.testing.assert_allclose(stream.decision_function(wide), expected, atol=1e-10 * np.abs(expected).max())


def test_a_stream_of_several_classes_equals_a_batch():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3)) + 3 * np.eye(3)[rng.integers(0, 3, 300)]
    y = np.argmax(X, axis=1)
    batch, stream = MomentSVC(rho=0.2).fit(X, y), MomentSVC(rho=0.2)
    for part in np.array_split(np.arange(300), 5):
        stream.partial_fit(X[part], y[part], classes=[0, 1, 2])
    np.testing.assert_allclose(stream.decision_function(X), batch.decision_function(X), atol=1e-8)


def test_a_stream_before_its_first_positive_is_not_ready(rare):
    X, y = rare
    model = MomentSVC()
    with pytest.raises(ParameterError, match="classes must be passed"):
        model.partial_fit(X, y)
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[-30:], y[-30:])
    assert model.predict(X).shape == y.shape
    with pytest.raises(DataError, match=r"not among classes=\[0, 1\]"):
        model.partial_fit(X[:2], [0, 7])


def test_forgetting_follows_a_drift(rare):
    X, y = rare
    drifted = X[y == 0] + 50.0
    slow, fast = MomentSVC(rho=0.1), MomentSVC(rho=0.1, forgetting=0.01)
    for model in (slow, fast):
        model.partial_fit(X, y, classes=[0, 1])
        model.partial_fit(drifted, np.zeros(len(drifted)))
    assert fast.moments_.n_samples == pytest.approx(800 * 0.01 + 800)
    assert np.linalg.norm(fast.moments_.mean - drifted.mean(0)) < np.linalg.norm(slow.moments_.mean - drifted.mean(0))


def test_fit_from_moments_equals_fit(rare):
    X, y = rare
    batch = MomentSVC().fit(X, y)
    model = MomentSVC().fit_from_moments(X[y == 1], Moments.of(X[y == 0]))
    np.testing.assert_allclose(model.coef_, batch.coef_, rtol=1e-8)
    assert model.false_positive_bound_ == pytest.approx(batch.false_positive_bound_)
    named = MomentSVC(pos_label="fraud").fit_from_moments(X[y == 1], Moments.of(X[y == 0]), classes=("fraud", "ok"))
    assert set(named.predict(X[y == 1])) <= {"fraud", "ok"}
    assert np.mean(named.predict(X[y == 1]) == "fraud") > 0.8
    with pytest.raises(DataError, match="4 features and the moments have 2"):
        MomentSVC().fit_from_moments(X, Moments.of(X[:, :2]))
    with pytest.raises(DataError, match="no negatives"):
        MomentSVC().fit_from_moments(X, Moments.empty(4))
    with pytest.raises(DataError, match=r"got ndarray.*Moments.of"):
        MomentSVC().fit_from_moments(X, X)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("covariance", ["full", "diagonal", "factor"])
def test_sparse_equals_dense(rare, kernel, covariance):
    X, y = rare
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = MomentSVC(kernel=kernel, covariance=covariance, n_factors=2, rho=0.2, tol=1e-7)
    dense = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(sparse.csr_array(X)), dense, atol=1e-7)
    thin = clone(model).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), dense, atol=1e-5)
    np.testing.assert_allclose(thin.decision_function(X), dense, atol=1e-5)


@pytest.mark.parametrize("covariance", STRUCTURES)
@pytest.mark.parametrize("formulation", ["C", "nu", "two_slack", "hard"])
def test_weights_equal_repetition(rare, covariance, formulation):
    X, y = rare
    X, y = X[500:], y[500:]
    weight = np.random.default_rng(5).integers(0, 3, len(y))
    model = MomentSVC(covariance=covariance, formulation=formulation, tol=1e-8)
    weighted = model.fit(X, y, sample_weight=weight).decision_function(X)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-5)


def test_pos_label_chooses_whose_points_are_kept(rare):
    X, y = rare
    second, first = MomentSVC(rho=0.1).fit(X, y), MomentSVC(rho=0.1, pos_label=1).fit(X, y)
    np.testing.assert_array_equal(second.decision_function(X), first.decision_function(X))
    other = MomentSVC(rho=0.1, pos_label=0).fit(X, y)
    assert other.moments_.n_samples == 25
    swapped = MomentSVC(rho=0.1).fit(X, 1 - y)
    np.testing.assert_allclose(other.decision_function(X), -swapped.decision_function(X))
    np.testing.assert_array_equal(other.predict(X), 1 - swapped.predict(X))
    with pytest.raises(ParameterError, match=r"pos_label=5 is not among the classes of y: \[0, 1\]"):
        MomentSVC(pos_label=5).fit(X, y)


def test_several_classes_equal_one_against_the_rest():
    rng = np.random.default_rng(6)
    centres = 4 * rng.normal(size=(4, 5))
    codes = rng.integers(0, 4, 400)
    X = centres[codes] + rng.normal(size=(400, 5))
    y = np.array(["a", "b", "c", "d"])[codes]
    for covariance in ("full", "diagonal"):
        model = MomentSVC(rho=0.1, covariance=covariance, tol=1e-7).fit(X, y)
        assert model.score(X, y) > 0.85
        for c, name in enumerate(model.classes_):
            alone = MomentSVC(rho=0.1, covariance=covariance, tol=1e-7).fit(X, y == name)
            np.testing.assert_allclose(model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("covariance", ["diagonal", "factor"])
def test_labels_of_sparse_text_from_one_pass(covariance):
    X = sparse.random(600, 1500, 0.02, format="csr", random_state=0)
    Y = np.asarray((X[:, :12] != 0).toarray(), dtype=int)
    model = MomentSVC(covariance=covariance, n_factors=3).fit(X, Y)
    scores = model.decision_function(X)
    assert scores.shape == (600, 12)
    assert np.mean([roc_auc_score(Y[:, k], scores[:, k]) for k in range(12)]) > 0.95
    assert set(np.unique(model.predict(X))) <= {0, 1}
    np.testing.assert_allclose(model.fit(X, sparse.csr_matrix(Y)).decision_function(X), scores)
    empty = np.hstack([Y, np.zeros((600, 1), int)])
    with pytest.warns(UserWarning, match="1 labels have no positive row"):
        assert not model.fit(X, empty).predict(X)[:, 12].any()


def test_frames_and_feature_names(rare):
    X, y = rare
    names = list("abcd")
    expected = MomentSVC().fit(X, y).decision_function(X)
    for frame in (
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        pl.DataFrame(X, schema=names).to_arrow(),
    ):
        model = MomentSVC().fit(frame, y)
        np.testing.assert_allclose(model.decision_function(frame), expected)
    model = MomentSVC().fit(pd.DataFrame(X, columns=names), y)
    assert model.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("abce")))


def test_float32_is_close_to_float64(rare):
    X, y = rare
    exact = MomentSVC(rho=0.1).fit(X, y).decision_function(X)
    np.testing.assert_allclose(MomentSVC(rho=0.1).fit(X.astype(np.float32), y).decision_function(X), exact, atol=1e-3)


def test_path_equals_separate_fits(rare):
    X, y = rare
    Cs = [1.0, 0.01, 100.0]
    path = MomentSVC(rho=0.1, tol=1e-8).path(X, y, Cs)
    for C, coef, intercept in zip(Cs, path.coefs, path.intercepts, strict=True):
        alone = MomentSVC(C, rho=0.1, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(coef, alone.coef_, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(intercept, alone.intercept_, rtol=1e-5, atol=1e-8)
    assert MomentSVC().path(X, y, Cs).coefs.shape == (3, 1, 4)
    assert MomentSVC(pos_label=0, rho=0.1).path(X, y, [1.0]).coefs[0, 0] == pytest.approx(
        MomentSVC(pos_label=0, rho=0.1).fit(X, y).coef_[0], rel=1e-3
    )
    with pytest.raises(ParameterError, match="Cs must be positive"):
        MomentSVC().path(X, y, [1.0, -1.0])
    with pytest.raises(ParameterError, match="kernel='rbf'"):
        MomentSVC(kernel="rbf").path(X, y, Cs)


def test_a_hard_margin_clears_every_positive_or_says_why_not(rare):
    X, y = rare
    model = MomentSVC(formulation="hard").fit(X, y)
    assert (model.decision_function(X[y == 1]) >= 0).all()
    assert model.predict(X[y == 1]).all()
    v = float(model.coef_[0] @ (model.moments_.covariance + model.rho_ * np.eye(4)) @ model.coef_[0])
    assert model.false_positive_bound_ == pytest.approx(v / (1 + v), rel=1e-6)
    around = np.vstack([X[y == 0], X[y == 0].mean(axis=0) + 5 * np.vstack([np.eye(4), -np.eye(4)])])
    with pytest.raises(InfeasibleError, match="convex hull of the positives"):
        MomentSVC(formulation="hard").fit(around, np.repeat([0, 1], [800, 8]))


def test_singular_covariances_work_out_of_the_box():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 200))
    X[:, 0], X[:, 1] = 1.0, X[:, 2]  # constant, duplicated, and more features than rows
    X[40:, 3:20] += 2
    y = np.repeat([0, 1], [40, 20])
    for covariance in STRUCTURES[:-1]:
        model = MomentSVC(covariance=covariance).fit(X, y)
        assert roc_auc_score(y, model.decision_function(X)) > 0.99
    with pytest.raises(DataError, match="rho='auto'"):
        MomentSVC(rho=0.0).fit(X, y)


def test_a_failed_fit_leaves_no_trace(rare):
    X, y = rare
    model = MomentSVC(formulation="hard")
    with pytest.raises(DataError):
        model.set_params(rho=0.0).fit(np.hstack([X, X]), y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_errors_name_the_trouble(rare):
    X, y = rare
    with pytest.raises(DataError, match="two classes"):
        MomentSVC().fit(X, np.ones(len(y)))
    with pytest.raises(DataError, match="one class"):
        MomentSVC().fit(X, y, sample_weight=y.astype(float))
    with pytest.raises(ValueError, match="zero"):
        MomentSVC().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ParameterError, match="'rho' parameter"):
        MomentSVC(rho=-1.0).fit(X, y)
    with pytest.raises(ParameterError, match="'formulation' parameter"):
        MomentSVC(formulation="soft").fit(X, y)
    with pytest.raises(DataError, match="y is None"):
        MomentSVC().fit(X, None)
    with pytest.raises(ValueError, match="NaN"):
        MomentSVC().fit(np.where(X > 3, np.nan, X), y)
    with pytest.raises(ValueError, match="4 features"):
        MomentSVC().fit(X, y).predict(X[:, :2])
    with pytest.raises(DataError, match="no negatives"):
        MomentSVC().fit(X, np.column_stack([np.ones(len(y), int), y]))


def test_a_limit_of_steps_warns(rare):
    X, y = rare
    mixed = np.arange(len(y)) % 8 == 0
    with pytest.warns(ConvergenceWarning, match="limit of steps"):
        model = MomentSVC(max_iter=1, rho=0.1, tol=1e-6).fit(X, mixed)
    assert model.status_ == "max_iter"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MomentSVC(tol=1e-6).fit(X, y)
    assert model.status_ == "optimal"
    assert model.dual_gap_[0] < 1e-3
    assert model.kkt_violation_[0] <= 1e-6


def test_moments_for_many_features_come_without_a_square_matrix():
    X = sparse.random(400, 50_000, 0.002, format="csr", random_state=1)
    y = np.arange(400) % 10 == 0
    model = MomentSVC(covariance="diagonal").fit(X, y)
    assert isinstance(model.moments_, DiagonalMoments)
    stream = MomentSVC(covariance="factor", n_factors=3, rho=1e-4)
    stream.partial_fit(X[:200], y[:200], classes=[False, True]).partial_fit(X[200:], y[200:])
    assert isinstance(stream.moments_, LowRankMoments)
    assert roc_auc_score(y, stream.decision_function(X)) > 0.99


@parametrize_with_checks([MomentSVCCV(Cs=[1.0, 10.0], cv=3)])
def test_scikit_learn_checks_of_the_search(estimator, check):
    check(estimator)


def test_the_search_equals_a_grid_search(rare):
    X, y = rare
    Cs = [1e-3, 0.1, 10.0]
    base = MomentSVC(rho=0.2, tol=1e-6)
    search = MomentSVCCV(base, Cs=Cs, cv=4).fit(X, y)
    grid = GridSearchCV(base, {"C": Cs}, cv=4, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(search.scores_.mean(axis=0), grid.cv_results_["mean_test_score"], atol=1e-6)
    assert search.C_ in Cs
    np.testing.assert_allclose(
        search.decision_function(X), MomentSVC(search.C_, rho=0.2, tol=1e-6).fit(X, y).decision_function(X)
    )
    assert search.predict(X).shape == y.shape
    narrow = MomentSVCCV(base, Cs=Cs, cv=4, tolerance=0.05).fit(X, y)
    assert (narrow.scores_ <= search.scores_ + 1e-12).all()


def test_the_search_takes_several_classes_and_refuses_what_has_no_path(rare):
    X, y = rare
    codes = np.arange(len(y)) % 3
    search = MomentSVCCV(MomentSVC(rho=0.2), Cs=2, cv=3).fit(X + 3 * np.eye(4)[codes], codes)
    assert search.score(X + 3 * np.eye(4)[codes], codes) > 0.8
    with pytest.raises(ParameterError, match="kernel='rbf'"):
        MomentSVCCV(MomentSVC(kernel="rbf")).fit(X, y)
    with pytest.raises(DataError, match="No fold holds both classes"):
        MomentSVCCV(cv=[(np.arange(800), np.arange(800, 825))]).fit(X, y)


@pytest.mark.parametrize("options", [{}, {"C": 100.0}, {"formulation": "nu"}])
def test_many_overlapping_positives_converge(options):
    """Thousands of them end at their bounds, which coordinates alone find slowly."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(30, 30)) * np.logspace(0, -0.7, 30)
    X = rng.normal(size=(40_000, 30)) @ mix
    X[20_000:] += 0.2 * mix.sum(axis=0)
    y = np.repeat([0, 1], 20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = MomentSVC(rho=0.01, **options).fit(X, y)
    assert model.status_ == "optimal"
    assert model.kkt_violation_[0] <= 1e-3
    assert np.mean(model.decision_function(X[:20_000]) >= 0) <= model.false_positive_bound_
