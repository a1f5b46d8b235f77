"""ToleranceSearchCV: what GridSearchCV finds by fitting everything, found by sharing the work."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew.estimators import SVC, KernelScaledSVC, MomentSVC, OneClassSVM
from askew.estimators.asymmetric_svc import AsymmetricSVC
from askew.exceptions import DataError, ParameterError
from askew.metrics import tolerance_auc_score
from askew.selection import ToleranceSearchCV, tolerance_search
from askew.selection.paths import Paths

SCORER = make_scorer(tolerance_auc_score, response_method="decision_function", tolerance=0.2)
ASYMMETRIC = {"mu": [0.05, 0.1, 0.15], "tau": [0.0, 0.02], "gamma": [0.05, 0.5]}
COST = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5], "class_weight": [None, "balanced", {-1: 1.0, 1: 5.0}]}


def rare(n=240, share=0.25, shift=0.8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1, -1)
    X = rng.standard_normal((n, 6)) + shift * (y[:, None] > 0)
    order = rng.permutation(n)
    return X[order] * [1, 1, 1, 3, 10, 0.1], y[order]


@parametrize_with_checks(
    [
        ToleranceSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2),
        ToleranceSearchCV(AsymmetricSVC(), {"gamma": [0.1, 1.0]}, cv=2),
        ToleranceSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (AsymmetricSVC(), ASYMMETRIC),
        (SVC(), COST),
        (SVC(gamma="scale"), {"C": [0.1, 1.0, 10.0]}),
        (SVC(kernel="linear"), {"C": [0.01, 0.1, 1.0]}),
        (AsymmetricSVC(kernel="poly", coef0=1.0), {"degree": [2, 3], "mu": [0.1, 0.2]}),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, BaseEstimator) else "",
)
@pytest.mark.parametrize("cache_size", [2048, 0])
def test_it_finds_what_grid_search_finds(estimator, grid, cache_size):
    X, y = rare()
    X = StandardScaler().fit_transform(X)
    ours = ToleranceSearchCV(estimator, grid, tolerance=0.2, cv=4, cache_size=cache_size).fit(X, y)
    theirs = GridSearchCV(estimator, grid, scoring=SCORER, cv=4).fit(X, y)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-3 * 0.2
    )
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-3 * 0.2)
    shared = set(theirs.cv_results_)
    assert shared <= set(ours.cv_results_)
    assert ours.cv_results_["is_resolved"].all()


def test_transformers_in_front_see_training_rows_only():
    """A selector fitted on all rows would see the labels of held-out rows: on noise its score is far above chance."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 2000)), np.where(np.arange(120) % 2, 1, -1)
    pipeline = Pipeline([("pick", SelectKBest(k=5)), ("scale", StandardScaler()), ("svc", SVC(kernel="linear"))])
    grid = {"svc__C": [0.1, 1.0], "pick__k": [3, 10]}
    ours = ToleranceSearchCV(pipeline, grid, tolerance=1.0, cv=4).fit(X, y)
    theirs = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=4).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-3)
    leaked = SVC(kernel="linear").fit(SelectKBest(k=5).fit_transform(X, y), y)
    assert leaked.score(SelectKBest(k=5).fit_transform(X, y), y) > ours.best_score_ + 0.1
    assert ours.best_estimator_.named_steps["svc"].classes_.tolist() == [-1, 1]


def test_askews_machines_are_searched_by_paths_and_others_by_refits(monkeypatch):
    X, y = rare()
    used = []
    evaluate = Paths.evaluate
    monkeypatch.setattr(Paths, "evaluate", lambda *args: (used.append(1), evaluate(*args))[1])
    for estimator, grid, is_path in (
        (SVC(), {"C": [1.0]}, True),
        (make_pipeline(StandardScaler(), AsymmetricSVC()), {"asymmetricsvc__mu": [0.1]}, True),
        (LogisticRegression(), {"C": [1.0]}, False),
        (make_pipeline(SVC()), {"svc": [SVC(), LogisticRegression()]}, False),
    ):
        used.clear()
        ToleranceSearchCV(estimator, grid, cv=2, refit=False).fit(X, y)
        assert bool(used) is is_path, estimator


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KernelScaledSVC(), {"C": [1.0, 10.0], "k_majority": [0.0, 1.0, 3.0], "k_minority": [0.0, 1.0]}),
        (KernelScaledSVC(scaling="support", gamma=0.2), {"C": [1.0, 10.0], "k": [0.0, 0.5, 2.0]}),
        (KernelScaledSVC(scaling="boundary", gamma=0.2), {"C": [1.0, 10.0], "k": [0.0, 1.0]}),
        (KernelScaledSVC(scaling="symmetric", max_scalings=3, gamma=0.2), {"C": [10.0], "k": [0.5, 2.0]}),
        (KernelScaledSVC(gamma=0.2, class_weight="balanced"), {"C": [1.0]}),
        (MomentSVC(), {"C": [0.01, 1.0, 100.0], "rho": ["auto", 0.01, 1.0]}),
        (MomentSVC(covariance="diagonal", pos_label=-1), {"formulation": ["nu", "two_slack"], "nu": [0.1, 0.5]}),
        (MomentSVC(kernel="rbf"), {"C": [0.1, 10.0], "gamma": ["scale", 0.05]}),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, BaseEstimator) else "",
)
@pytest.mark.parametrize("cache_size", [2048, 0])
def test_bends_and_moments_are_searched_along_paths_as_by_fits(estimator, grid, cache_size, monkeypatch):
    X, y = rare()
    X, weight = StandardScaler().fit_transform(X), 1.0 + (np.arange(len(y)) % 3 == 0)
    estimator = clone(estimator).set_params(tol=1e-6)  # neighbours in a ranking of few rows are close
    options = {"cv": 3, "tolerance": 0.2, "refit": False, "cache_size": cache_size}
    paths = ToleranceSearchCV(estimator, grid, **options).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(tolerance_search, "is_searchable", lambda *_: False)
    fits = ToleranceSearchCV(estimator, grid, **options).fit(X, y, sample_weight=weight)
    for fold in range(3):
        name = f"split{fold}_test_score"
        np.testing.assert_allclose(paths.cv_results_[name], fits.cv_results_[name], atol=1e-3 * 0.2, err_msg=name)
    assert paths.best_params_ == fits.best_params_


def test_a_strength_the_scaling_does_not_use_fails_along_a_path_too():
    X, y = rare(120)
    with pytest.raises(DataError, match="k_minority=1\\.0 has no meaning"):
        ToleranceSearchCV(KernelScaledSVC(scaling="symmetric"), {"k_minority": [1.0]}, cv=2).fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [AsymmetricSVC(), SVC(), OneClassSVM(), KernelScaledSVC(), KernelScaledSVC(scaling="adaptive"), MomentSVC()],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_the_estimators_bring_their_own_search(estimator, in_pipeline):
    X, y = rare(160)
    model = make_pipeline(StandardScaler(), estimator) if in_pipeline else estimator
    search = ToleranceSearchCV(model, cv=3, tolerance=0.2).fit(X, y)
    results = search.cv_results_
    assert search.best_score_ == results["mean_test_score"][search.best_index_]
    assert len(results["params"]) >= (15 if isinstance(estimator, MomentSVC) else 35)
    assert not np.isnan(results["mean_test_score"]).any()
    if isinstance(estimator, AsymmetricSVC):
        prefix = "param_asymmetricsvc__" if in_pipeline else "param_"
        taus = results[prefix + "tau"].astype(float)
        line = np.flatnonzero(taus > 0)
        assert np.all(taus[: line[0]] == 0)  # a grid at τ = 0 first, then a line
        assert len({(results[prefix + "mu"][i], results[prefix + "gamma"][i]) for i in line}) == 1


def test_a_detector_is_fitted_on_normal_rows_and_judged_on_both():
    X, y = rare(shift=3.0)
    X = StandardScaler().fit_transform(X)
    folds = list(StratifiedKFold(3).split(X, y))
    by_hand = []
    for train, test in folds:
        model = OneClassSVM(nu=0.1, gamma=0.2).fit(X[train][y[train] < 0])
        by_hand.append(tolerance_auc_score(y[test], -model.decision_function(X[test]), 0.2))
    search = ToleranceSearchCV(OneClassSVM(gamma=0.2), {"nu": [0.1]}, cv=folds, tolerance=0.2).fit(X, y)
    assert search.best_score_ == pytest.approx(np.mean(by_hand), abs=1e-4)
    assert search.score(X, y) > 0.15
    refits = ToleranceSearchCV(IsolationForest(random_state=0), {"n_estimators": [5, 20]}, cv=3, tolerance=0.2).fit(
        X, y
    )
    assert refits.best_score_ > 0.05
    assert search.best_estimator_.support_.max() < np.sum(y < 0)


def test_sparse_frames_and_precomputed_kernels_agree_with_arrays():
    pandas = pytest.importorskip("pandas")
    X, y = rare()
    X = StandardScaler().fit_transform(X)
    X[np.abs(X) < 0.5] = 0.0
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 0.5]}
    expected = ToleranceSearchCV(SVC(), grid, cv=3).fit(X, y)
    for other in (sparse.csr_matrix(X), pandas.DataFrame(X, columns=list("abcdef"))):
        got = ToleranceSearchCV(SVC(), grid, cv=3).fit(other, y)
        np.testing.assert_allclose(
            got.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-4
        )
    assert got.feature_names_in_.tolist() == list("abcdef")
    K = rbf_kernel(X, gamma=0.5)
    given = ToleranceSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, cv=3).fit(K, y)
    column = expected.cv_results_["param_gamma"] == 0.5
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"][column], atol=1e-4
    )


def test_weights_and_groups_reach_the_folds():
    X, y = rare()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    folds = list(StratifiedKFold(3).split(X, y))
    search = ToleranceSearchCV(SVC(gamma=0.1), {"C": [1.0]}, cv=folds, tolerance=0.2)
    by_hand = []
    for train, test in folds:
        model = SVC(gamma=0.1).fit(X[train], y[train], sample_weight=weight[train])
        by_hand.append(tolerance_auc_score(y[test], model.decision_function(X[test]), 0.2, sample_weight=weight[test]))
    assert search.fit(X, y, sample_weight=weight).best_score_ == pytest.approx(np.mean(by_hand), abs=1e-4)
    piped = ToleranceSearchCV(make_pipeline(SVC(gamma=0.1)), {"svc__C": [1.0]}, cv=folds, tolerance=0.2)
    assert piped.fit(X, y, svc__sample_weight=weight).best_score_ == pytest.approx(np.mean(by_hand), abs=1e-4)
    grouped = ToleranceSearchCV(SVC(), {"C": [1.0]}, cv=GroupKFold(3))
    assert grouped.fit(X, y, groups=np.arange(len(y)) // 4).n_splits_ == 3


def test_several_classes_score_the_mean_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    search = ToleranceSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=3, normalize=True, tolerance=0.2).fit(X, y)
    assert 0.6 < search.best_score_ <= 1.0
    assert 0.6 < search.score(X, y) <= 1.0


def test_rankings_that_could_not_be_settled_are_not_chosen():
    """Equal rows in both classes: hulls touch at small μ, and the score there is whatever rounding makes it."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, 1, -1)
    X = np.round(rng.standard_normal((200, 1)) + (y[:, None] > 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        search = ToleranceSearchCV(
            AsymmetricSVC(gamma=1.0), {"mu": [0.02, 0.05, 0.25], "tau": [0.0]}, cv=3, refit=False
        ).fit(X, y)
    resolved = search.cv_results_["is_resolved"]
    assert not resolved.all()
    assert resolved[search.best_index_]
    assert search.cv_results_["rank_test_score"][resolved].max() <= resolved.sum()
    with pytest.warns(ConvergenceWarning, match="luck"):
        ToleranceSearchCV(AsymmetricSVC(gamma=1.0), {"mu": [0.02], "tau": [0.0]}, cv=3, refit=False).fit(X, y)


def test_candidates_that_fail_are_told_and_not_chosen():
    X, y = rare()
    with pytest.warns(FitFailedWarning, match=r"3 of 6 fits failed and count as nan: InfeasibleError: mu \+ tau = 0.3"):
        search = ToleranceSearchCV(AsymmetricSVC(tau=0.0), {"mu": [0.1, 0.3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"mu": 0.1}
    assert np.isnan(search.cv_results_["mean_test_score"][1])
    with pytest.raises(DataError, match="3 of the search's 3 fits failed: InfeasibleError"):
        ToleranceSearchCV(AsymmetricSVC(tau=0.0), {"mu": [0.3]}, cv=3).fit(X, y)
    with pytest.raises(DataError, match="fits failed"):
        ToleranceSearchCV(AsymmetricSVC(tau=0.0), {"mu": [0.1, 0.3]}, cv=3, error_score="raise").fit(X, y)


class Silent(ClassifierMixin, BaseEstimator):
    """A classifier without any score."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_what_is_wrong_is_said():
    X, y = rare()
    with pytest.raises(DataError, match="target y is None"):
        ToleranceSearchCV(SVC(), {"C": [1.0]}).fit(X)
    with pytest.raises(DataError, match="only one class"):
        ToleranceSearchCV(SVC(), {"C": [1.0]}, cv=StratifiedKFold(2)).fit(X, np.ones(len(y)))
    few = np.where(np.arange(len(y)) < 3, 1, -1)
    folds = [(np.arange(120, 240), np.arange(120))]
    with pytest.raises(
        DataError, match="no training row of class 1 with positive sample_weight; there are 3 such rows"
    ):
        ToleranceSearchCV(SVC(), {"C": [1.0]}, cv=folds).fit(X, few)
    with pytest.raises(ParameterError, match="param_grid=None needs an estimator that brings its own search"):
        ToleranceSearchCV(LogisticRegression(), cv=2).fit(X, y)
    with pytest.raises(ParameterError, match="'tolerance' parameter"):
        ToleranceSearchCV(SVC(), {"C": [1.0]}, tolerance=5).fit(X, y)
    with pytest.raises(TypeError, match="no decision_function, predict_proba or score_samples"):
        ToleranceSearchCV(Silent(), {}, cv=2).fit(X, y)
    unfitted = ToleranceSearchCV(SVC(), {"C": [1.0]}, refit=False, cv=2)
    with pytest.raises(NotFittedError):
        unfitted.predict(X)
    with pytest.raises(AttributeError, match="refit=False"):
        unfitted.fit(X, y).predict(X)


def test_progress_counts_every_fit():
    X, y = rare()
    told = []
    ToleranceSearchCV(SVC(), COST, cv=3, progress=lambda *news: told.append(news), n_jobs=1).fit(X, y)
    done, totals, left = zip(*told, strict=True)
    assert done[-1] == totals[-1] == 18 * 3
    assert list(done) == sorted(done)
    assert min(left) >= 0


def test_threads_change_nothing():
    X, y = rare()
    one, two = (ToleranceSearchCV(AsymmetricSVC(), ASYMMETRIC, cv=4, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_it_nests_in_cross_validation():
    X, y = rare()
    search = ToleranceSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}, cv=2, tolerance=0.2)
    scores = cross_val_score(search, X, y, cv=2)
    assert np.all(scores > 0.02)


@pytest.mark.parametrize("is_rare", [True, False])
def test_the_grid_over_mu_and_tau_suits_every_fold_and_all_rows(is_rare):
    """Folds of other shares of positives than all rows have: no mu of the grid may exceed what any fit allows."""
    X, y = rare(300)
    X = StandardScaler().fit_transform(X)
    y = y if is_rare else -y
    positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    folds = []
    for k in range(3):
        train = np.concatenate([positives[positives % 3 != k], negatives[negatives % 3 != k][: 40 + 20 * k]])
        folds.append((train, np.setdiff1d(np.arange(300), train)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitFailedWarning)
        search = ToleranceSearchCV(AsymmetricSVC(), cv=folds, tolerance=0.2).fit(X, y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    params = search.cv_results_["params"]
    assert max(each["mu"] + each["tau"] for each in params) <= np.mean(y > 0)
    assert max(each["mu"] for each in params) <= np.mean(y < 0)
