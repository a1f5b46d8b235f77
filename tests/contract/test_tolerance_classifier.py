"""What a user of ToleranceClassifier may rely on, and what it refuses."""

import copy
import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from askew.estimators.moment_svc import MomentSVC
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.moments import DiagonalMoments, Moments
from askew.tolerance import DriftWarning, ToleranceClassifier


def data(n=1500, seed=0, **kwargs):
    return make_classification(n, n_features=6, weights=[0.85], class_sep=1.5, random_state=seed, **kwargs)


class RowsSeen(LogisticRegression):
    """Keeps the labels and weights it was trained with."""

    def fit(self, X, y, sample_weight=None):
        self.y_, self.weight_ = y, sample_weight
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("method", ["order_statistic", "empirical"])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        SVC(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        IsolationForest(n_estimators=10, random_state=0),
        KernelDensity(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator_is_clean(estimator, method):
    # The data of these checks have some thirty rows: a tolerance that thirty rows can promise.
    results = check_estimator(
        ToleranceClassifier(estimator, tolerance=0.3, confidence=0.5, method=method), on_skip=None
    )
    assert {each["check_name"] for each in results if each["status"] != "passed"} <= {"check_array_api_input"}


ESTIMATORS = [
    LogisticRegression(),
    SVC(),
    LinearSVC(),
    GaussianNB(),
    KNeighborsClassifier(),
    HistGradientBoostingClassifier(max_iter=20),
    make_pipeline(StandardScaler(), SVC()),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_any_classifier_and_strict_threshold(estimator):
    X, y = data()
    model = ToleranceClassifier(estimator, tolerance=0.05, random_state=0).fit(X, y)
    score = model.score_samples(X)
    np.testing.assert_array_equal(model.predict(X), (score > model.threshold_).astype(int))
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    report = model.report()
    assert report.empirical_rate <= 0.05
    assert report.guaranteed_rate <= 0.05
    assert model.n_calibration_ == report.n_calibration == round((y == 0).sum() / 2)
    assert model.alarm_side_ == "above"


def test_the_estimator_is_not_trained_on_calibration_rows():
    X, y = data()
    X[:, 0] = np.arange(len(X))
    model = ToleranceClassifier(KNeighborsClassifier(1), tolerance=0.1, random_state=0).fit(X, y)
    assert model.estimator_.n_samples_fit_ == len(y) - model.n_calibration_ - model.report().n_positives


def test_prefit_uses_every_row_and_needs_no_positives():
    X, y = data()
    fitted = LogisticRegression().fit(X[:700], y[:700])
    X_new, y_new = X[700:], y[700:]
    both = ToleranceClassifier(fitted, 0.05, calibration="prefit").fit(X_new, y_new)
    only = ToleranceClassifier(fitted, 0.05, calibration="prefit").fit(X_new[y_new == 0], y_new[y_new == 0])
    assert both.estimator_ is fitted
    assert both.n_calibration_ == only.n_calibration_ == (y_new == 0).sum()
    assert both.threshold_ == only.threshold_
    assert only.report().tpr is None
    assert only.report().tpr_interval == (0.0, 1.0)
    with pytest.raises(NotFittedError):
        ToleranceClassifier(LogisticRegression(), 0.05, calibration="prefit").fit(X, y)
    with pytest.raises(DataError, match=r"labels \[7\] unknown"):
        ToleranceClassifier(fitted, 0.05, calibration="prefit").fit(X_new, np.where(y_new == 1, 7, 0))
    with pytest.raises(ParameterError, match="trains nothing"):
        ToleranceClassifier(fitted, 0.05, calibration="prefit").fit(X_new, y_new, check_input=True)


def test_a_frozen_estimator_survives_cloning():
    X, y = data()
    fitted = FrozenEstimator(LogisticRegression().fit(X[:700], y[:700]))
    model = clone(ToleranceClassifier(fitted, 0.05, calibration="prefit"))
    assert model.fit(X[700:], y[700:]).n_calibration_ == (y[700:] == 0).sum()


def test_inside_a_pipeline_and_a_grid_search():
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), ToleranceClassifier(LogisticRegression(), 0.05, random_state=0))
    search = GridSearchCV(pipeline, {"toleranceclassifier__estimator__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert set(search.predict(X)) == {0, 1}
    assert cross_val_score(pipeline, X, y, scoring="roc_auc", cv=3).min() > 0.8


@pytest.mark.parametrize(
    "container", [pd.DataFrame, sparse.csr_array, sparse.coo_array, np.ndarray.tolist], ids=lambda c: c.__name__
)
def test_containers_give_the_same_threshold(container):
    X, y = data()
    base = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y)
    other = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(container(X), y)
    assert other.threshold_ == pytest.approx(base.threshold_)


def test_feature_names_are_kept_and_checked():
    X, y = data()
    for frame in (pd.DataFrame(X, columns=list("abcdef")), pl.DataFrame(X, schema=list("abcdef"))):
        labels = pd.Series(np.where(y == 1, "rare", "common"), index=np.arange(len(y))[::-1])
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(frame, labels)
        assert list(model.feature_names_in_) == list("abcdef")
        assert model.classes_.tolist() == ["common", "rare"]
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[list("fabcde")])


@pytest.mark.parametrize("response", ["decision_function", "predict_proba"])
def test_the_other_label_can_be_the_positive_one(response):
    X, y = data()
    model = ToleranceClassifier(LogisticRegression(), 0.1, pos_label=0, response_method=response, random_state=0).fit(
        X, y
    )
    assert model.alarm_side_ == "below"
    np.testing.assert_array_equal(model.predict(X) == 0, model.score_samples(X) < model.threshold_)
    np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) >= 0)
    held = model.calibration_
    assert held.negatives_above(-model.threshold_) / held.n <= 0.1
    assert model.n_calibration_ == round((y == 1).sum() / 2)


class TestDetectors:
    @pytest.mark.parametrize("estimator", [IsolationForest(random_state=0), OneClassSVM(), KernelDensity()])
    def test_without_labels_it_stays_a_detector(self, estimator):
        X, y = data()
        normal = X[y == 0]
        model = ToleranceClassifier(estimator, 0.05, random_state=0).fit(normal)
        assert is_outlier_detector(model)
        assert not is_classifier(model)
        assert not hasattr(model, "classes_")
        # An alarm is a low score, −1, below zero.
        assert model.alarm_side_ == "below"
        np.testing.assert_array_equal(model.predict(X) == -1, model.score_samples(X) < model.threshold_)
        np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) >= 0)
        np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)
        assert model.report().alarm_side == "below"
        assert model.report().prevalence == 0

    def test_with_labels_it_trains_on_negatives_and_keeps_all_positives(self):
        X, y = data()
        model = ToleranceClassifier(OneClassSVM(), 0.05, pos_label=1, random_state=0).fit(X, y)
        assert is_classifier(model)
        assert model.classes_.tolist() == [0, 1]
        assert model.estimator_.shape_fit_[0] == (y == 0).sum() - model.n_calibration_
        assert model.report().n_positives == (y == 1).sum()
        np.testing.assert_array_equal(model.predict(X) == 1, model.score_samples(X) < model.threshold_)
        np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
        with pytest.raises(AttributeError, match="unlabelled detector"):
            _ = model.offset_

    def test_labels_without_a_positive_one_are_pointed_out(self):
        X, y = data()
        with pytest.warns(UserWarning, match="y is ignored"):
            ToleranceClassifier(OneClassSVM(), 0.05, random_state=0).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ToleranceClassifier(OneClassSVM(), 0.05, random_state=0).fit(X, np.ones(len(y)))


class TestGroups:
    def rows(self, seed=0):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(300), 5)
        y = (rng.random(300) < 0.2).astype(int)[groups]
        X = rng.normal(size=(1500, 2)) + rng.normal(size=(300, 2))[groups] + 3 * y[:, None]
        return X, y, groups

    def test_groups_count_once_and_stay_together(self):
        X, y, groups = self.rows()
        names = np.array([f"customer {g}" for g in groups])
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y, groups=names)
        n_groups_with_negatives = len(np.unique(groups[y == 0]))
        assert model.n_calibration_ == round(n_groups_with_negatives / 2)
        assert model.report().unit == "group"
        assert model.report().prevalence == pytest.approx(len(np.unique(groups[y == 1])) / 300)

    def test_too_few_groups_are_refused_though_rows_are_many(self):
        X, y, groups = self.rows()
        with pytest.raises(InfeasibleError, match="needs at least 299 negatives for calibration; got 1"):
            ToleranceClassifier(LogisticRegression(), 0.01).fit(X, y, groups=groups)

    def test_updates_count_groups_too(self):
        X, y, groups = self.rows()
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y, groups=groups)
        before = model.n_calibration_
        X_new, y_new, groups_new = self.rows(seed=1)
        quiet = y_new == 0
        model.update(model.score_samples(X_new[quiet]), groups=groups_new[quiet])
        assert model.n_calibration_ == before + len(np.unique(groups_new[quiet]))
        with pytest.raises(ParameterError, match="the promise counts groups"):
            model.update([0.0])
        for scores, of in (([0.0], [1, 2, 3]), ([0.0, 1.0], [1]), ([0.0, 1.0], [[1, 2]])):
            with pytest.raises(DataError, match="one group for each score"):
                model.update(scores, groups=of)


class TestWeights:
    def test_class_weights_change_no_calibration_row(self):
        X, y = data()
        weight = np.where(y == 1, 10.0, 1.0)
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y, sample_weight=weight)
        assert model.n_calibration_ == round((y == 0).sum() / 2)
        plain = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y)
        assert not np.allclose(model.estimator_.intercept_, plain.estimator_.intercept_)

    def test_weights_thin_the_calibration_rows(self):
        X, y = data(4000)
        weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
        pipeline = make_pipeline(StandardScaler(), LogisticRegression())
        for estimator, name in (
            (LogisticRegression(), "sample_weight"),
            (pipeline, "logisticregression__sample_weight"),
        ):
            model = ToleranceClassifier(estimator, 0.05, random_state=0).fit(X, y, **{name: weight})
            assert 0.4 < model.n_calibration_ / ((y == 0).sum() / 2) < 0.6

    def test_the_report_says_what_the_weights_are_bounded_by(self):
        X, y = data()
        weight = np.random.default_rng(0).lognormal(size=len(y))
        model = ToleranceClassifier(LogisticRegression(), 0.05, weight_bound=2.0, random_state=0)
        model.fit(X, y, sample_weight=weight)
        report = model.report()
        assert report.weight_bound == report.as_dict()["weight_bound"] == model.weight_bound_ == 2.0
        assert 0 < report.n_above_weight_bound < (y == 0).sum() / 2 * (weight > 2.0).mean() * 1.5
        assert f"count up to 2; {report.n_above_weight_bound} held-out negative rows were heavier" in str(report)
        unweighted = model.fit(X, y).report()
        assert unweighted.weight_bound is None
        assert "weights" not in str(unweighted)

    def test_the_bound_is_the_largest_weight_of_the_training_negatives(self):
        X, y = data()
        weight = np.where(y == 1, 1000.0, np.random.default_rng(1).uniform(1.0, 2.0, len(y)))
        model = ToleranceClassifier(RowsSeen(), 0.05, random_state=0).fit(X, y, sample_weight=weight)
        assert model.weight_bound_ == model.estimator_.weight_[model.estimator_.y_ == 0].max() < 2.0

    def test_prefit_weights_that_differ_need_a_bound(self):
        X, y = data()
        fitted = LogisticRegression().fit(X[:700], y[:700])
        X_new, y_new = X[700:], y[700:]
        model = ToleranceClassifier(fitted, 0.05, calibration="prefit", random_state=0)
        weight = np.random.default_rng(0).uniform(0.5, 1.0, len(y_new))
        with pytest.raises(ParameterError, match=r"differs among the negatives.*Give `weight_bound`"):
            model.fit(X_new, y_new, sample_weight=weight)
        model.set_params(weight_bound=1.0).fit(X_new, y_new, sample_weight=weight)
        assert model.weight_bound_ == 1.0
        assert 0.65 < model.n_calibration_ / (y_new == 0).sum() < 0.85
        model.set_params(weight_bound=None).fit(X_new, y_new, sample_weight=np.where(y_new == 1, 10.0, 0.5))
        assert model.n_calibration_ == (y_new == 0).sum()
        assert model.weight_bound_ == 0.5

    def test_too_few_rows_left_by_thinning_name_the_bound(self):
        X, y = data()
        weight = np.random.default_rng(0).uniform(0.5, 1.0, len(y))
        model = ToleranceClassifier(LogisticRegression(), 0.05, weight_bound=1000.0, random_state=0)
        with pytest.raises(InfeasibleError, match=r"lower `weight_bound` \(now 1000;"):
            model.fit(X, y, sample_weight=weight)

    def test_replaced_calibration_rows_have_no_bound_of_the_old(self):
        X, y = data(3000)
        weight = np.random.default_rng(0).uniform(0.5, 1.0, len(y))
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y, sample_weight=weight)
        model.update(model.score_samples(X[y == 0]))
        assert model.report().weight_bound == model.weight_bound_ > 0.9
        model.update(model.score_samples(X[y == 0]), replace=True)
        assert model.report().weight_bound is None

    def test_a_wrong_number_of_weights_is_refused(self):
        X, y = data()
        with pytest.raises(DataError, match=r"one weight per row, shape \(1500,\); got shape \(3,\)"):
            ToleranceClassifier(LogisticRegression(), 0.05).fit(X, y, sample_weight=[1, 2, 3])

    def test_metadata_routing(self):
        X, y = data()
        weight = np.where(y == 1, 10.0, 1.0)
        direct = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y, sample_weight=weight)
        with sklearn.config_context(enable_metadata_routing=True):
            asked = LogisticRegression().set_fit_request(sample_weight=True)
            routed = ToleranceClassifier(asked, 0.05, random_state=0).fit(X, y, sample_weight=weight)
            assert routed.threshold_ == direct.threshold_
            with pytest.raises(ValueError, match="sample_weight"):
                ToleranceClassifier(LogisticRegression(), 0.05).fit(X, y, sample_weight=weight)
            silent = LogisticRegression().set_fit_request(sample_weight=False)
            unweighted = ToleranceClassifier(silent, 0.05, random_state=0)
            grouped = unweighted.set_fit_request(groups=True)
            scores = cross_val_score(
                make_pipeline(StandardScaler(), grouped), X, y, cv=3, params={"groups": np.arange(len(y))}
            )
            assert np.isfinite(scores).all()


class TestRetolerance:
    def test_moves_the_threshold_and_nothing_else(self):
        X, y = data(4000)
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y)
        estimator, before = model.estimator_, model.threshold_
        fresh = clone(model).set_params(tolerance=0.01).fit(X, y)
        assert model.retolerance(0.01) is model
        assert model.estimator_ is estimator
        assert model.threshold_ == fresh.threshold_ > before
        assert model.retolerance(0.05).threshold_ == before
        assert model.retolerance(0.05, confidence=0.5).threshold_ < before

    def test_leaves_everything_as_it_was_when_refused(self):
        X, y = data()
        model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y)
        before = model.threshold_
        with pytest.raises(InfeasibleError, match="needs at least 2995"):
            model.retolerance(0.001)
        with pytest.raises(ParameterError, match=r"tolerance=1.5 must lie in \(0, 1\)"):
            model.retolerance(1.5)
        assert (model.threshold_, model.tolerance) == (before, 0.05)


class TestUpdate:
    def fitted(self, **kwargs):
        X, y = data(3000)
        model = ToleranceClassifier(LinearDiscriminantAnalysis(), 0.05, random_state=0, **kwargs)
        return model.fit(X[:2000], y[:2000]), X[2000:][y[2000:] == 0]

    def test_new_negatives_join_the_calibration(self):
        model, fresh = self.fitted()
        held = model.calibration_.negatives
        scores = model.score_samples(fresh)
        test = model.update(scores)
        assert not test.drifted
        assert test.n_new == len(fresh)
        assert model.n_calibration_ == len(held) + len(fresh)
        np.testing.assert_array_equal(model.calibration_.negatives, np.sort(np.concatenate([held, scores])))
        assert model.report().guaranteed_rate <= 0.05
        assert model.drift_ is test

    def test_contradicting_negatives_void_the_promise_until_replaced(self):
        model, fresh = self.fitted()
        threshold, n = model.threshold_, model.n_calibration_
        shifted = model.score_samples(fresh) + 3.0
        with pytest.warns(DriftWarning, match="contradict tolerance=0.05"):
            test = model.update(shifted)
        assert test.drifted
        assert (model.threshold_, model.n_calibration_) == (threshold, n)
        assert model.report().guaranteed_rate is None
        assert "drift" in str(model.report())
        with pytest.warns(DriftWarning):
            model.update(model.score_samples(fresh))
        assert model.report().guaranteed_rate is None
        model.update(shifted, replace=True)
        assert model.n_calibration_ == len(shifted)
        assert model.threshold_ > threshold
        assert model.report().guaranteed_rate <= 0.05

    def test_a_low_alarm_detector_updates_in_its_own_units(self):
        X, y = data(3000)
        model = ToleranceClassifier(OneClassSVM(), 0.05, random_state=0).fit(X[:2000][y[:2000] == 0])
        scores = model.score_samples(X[2000:][y[2000:] == 0])
        assert model.update(scores).n_alarms == 0 or model.drift_.n_alarms < 0.1 * len(scores)
        with pytest.warns(DriftWarning):
            model.update(scores - 10.0)

    def test_no_update_of_several_threads_is_lost(self):
        model, fresh = self.fitted()
        scores = np.repeat(model.score_samples(fresh), 30)  # NumPy lets other threads run while it sorts so many
        again, n = copy.deepcopy(model), model.n_calibration_
        with ThreadPoolExecutor(8) as executor:
            tests = list(executor.map(lambda _: model.update(scores), range(24)))
        assert model.n_calibration_ == len(model.calibration_.negatives) == n + 24 * len(scores)
        # the level shrinks from update to update, so each has one of its own
        levels = [0.01 / (j * (j + 1)) for j in range(1, 25)]
        np.testing.assert_allclose(sorted((test.level for test in tests), reverse=True), levels)
        for _ in range(24):
            again.update(scores)
        assert model.threshold_ == again.threshold_

    def test_an_updated_model_can_be_copied(self):
        model, fresh = self.fitted()
        scores = model.score_samples(fresh)
        model.update(scores)
        for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
            assert str(copied.report()) == str(model.report())
            copied.update(scores)
            assert copied.n_calibration_ == model.n_calibration_ + len(scores)
        assert not any("lock" in name for name in model.__getstate__())
        assert "threshold_" not in clone(model).__dict__

    def test_refusals(self):
        model, _ = self.fitted()
        with pytest.raises(DataError, match="empty"):
            model.update([])
        with pytest.raises(DataError, match="NaN"):
            model.update([np.nan])
        with pytest.raises(ParameterError, match="the promise counts rows"):
            model.update([1.0], groups=[1])

    @pytest.mark.parametrize("shape", [(50, 2), (50, 1), (1, 50), (), (2, 3, 4)])
    def test_anything_but_one_dimension_is_refused(self, shape):
        model, _ = self.fitted()
        before = str(model.report()), model.n_calibration_
        with pytest.raises(DataError, match=rf"one dimension.*got shape {re.escape(str(shape))}"):
            model.update(np.full(shape, -5.0))
        assert (str(model.report()), model.n_calibration_) == before

    def test_masked_scores_are_refused(self):
        model, fresh = self.fitted()
        scores = model.score_samples(fresh)
        with pytest.raises(DataError, match=rf"3 of {len(scores)} entries of `scores` are masked"):
            model.update(np.ma.array(scores, mask=np.arange(len(scores)) < 3))
        assert model.update(np.ma.array(scores)).n_new == len(scores)

    def test_infinite_scores_are_in_order(self):
        model, fresh = self.fitted()
        scores = model.score_samples(fresh)
        n_alarms = (scores > model.threshold_).sum()
        assert model.update(np.concatenate([scores, [-np.inf, np.inf]])).n_alarms == n_alarms + 1
        assert model.calibration_.negatives[[0, -1]].tolist() == [-np.inf, np.inf]


class Scored(LogisticRegression):
    """A classifier whose score is the first column, whatever it holds."""

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


class TestScoresThatAreNoNumbers:
    def fitted(self, **changes):
        X, y = data()
        X[:, 0] += 3 * y
        return ToleranceClassifier(Scored(), 0.05, random_state=0, **changes).fit(X, y), X

    @pytest.mark.parametrize("pos_label", [None, 0])
    @pytest.mark.parametrize("method", ["predict", "decision_function"])
    def test_a_row_without_a_score_is_an_error(self, method, pos_label):
        model, X = self.fitted(pos_label=pos_label)
        X[[3, 70], 0] = np.nan
        with pytest.raises(DataError, match=r"2 of 1500 scores are NaN.*remove or impute such rows"):
            getattr(model, method)(X)
        assert len(getattr(model, method)(X[100:])) == 1400

    def test_infinite_scores_are_in_order(self):
        model, X = self.fitted()
        rows = X[:4].copy()
        rows[:, 0] = -np.inf, np.inf, model.threshold_, np.nextafter(model.threshold_, np.inf)
        assert model.predict(rows).tolist() == [0, 1, 0, 1]
        distance = model.decision_function(rows)
        assert distance[:3].tolist() == [-np.inf, np.inf, 0.0]
        assert distance[3] > 0

    def test_at_an_infinite_threshold_there_is_no_alarm(self):
        X, y = data()
        X[y == 0, 0] = np.inf
        model = ToleranceClassifier(Scored(), 0.05, random_state=0, calibration="prefit")
        model.set_params(estimator=Scored().fit(np.nan_to_num(X, posinf=0.0), y)).fit(X, y)
        assert model.threshold_ == np.inf
        assert not model.predict(X).any()
        assert set(model.decision_function(X)) == {0.0, -np.inf}


class TestMoments:
    @pytest.mark.parametrize("tolerance", [0.3, 0.05, 0.01])
    @pytest.mark.parametrize("pos_label", [0, 1])
    def test_the_rate_on_the_negatives_of_the_moments_never_exceeds_the_bound(self, tolerance, pos_label):
        for seed in range(5):
            X, y = data(seed=seed)
            negative = X[y != pos_label]
            model = ToleranceClassifier(
                LogisticRegression(),
                tolerance,
                method="moments",
                moments=Moments.of(negative),
                pos_label=pos_label,
            ).fit(X, y)
            assert (model.predict(negative) == pos_label).mean() <= tolerance
            report = model.report()
            assert report.guaranteed_rate == pytest.approx(tolerance)
            assert report.guarantee_confidence is None
            assert model.n_calibration_ == 0
            assert report.n_positives == int(0.2 * (y == pos_label).sum())

    def test_diagonal_moments_bound_the_score_by_their_worst_correlation(self):
        X, y = data()
        full, diagonal = (
            ToleranceClassifier(LogisticRegression(), 0.2, method="moments", moments=kind.of(X[y == 0]), random_state=0)
            for kind in (Moments, DiagonalMoments)
        )
        assert diagonal.fit(X, y).threshold_ >= full.fit(X, y).threshold_

    def test_threshold_is_the_formula(self):
        X, y = data()
        moments = Moments.of(X[y == 0])
        model = ToleranceClassifier(LogisticRegression(), 0.1, method="moments", moments=moments, mean_radius=0.5).fit(
            X, y
        )
        w, b = model.estimator_.coef_[0], model.estimator_.intercept_[0]
        expected = moments.mean @ w + b + (3.0 + 0.5) * np.sqrt(w @ moments.covariance @ w)
        assert model.threshold_ == pytest.approx(expected)
        assert model.retolerance(0.5).threshold_ < expected

    @pytest.mark.parametrize("pos_label", [None, 0, 1])
    def test_moment_svc_certifies_itself(self, pos_label):
        X, y = data()
        alarm = 1 if pos_label is None else pos_label
        for estimator in (
            MomentSVC(pos_label=pos_label),
            make_pipeline(StandardScaler(), MomentSVC(pos_label=pos_label)),
        ):
            model = ToleranceClassifier(estimator, 0.2, method="moments", pos_label=pos_label, random_state=0).fit(X, y)
            assert (model.predict(X[y != alarm]) == alarm).mean() <= 0.2
            report = model.report()
            assert report.guaranteed_rate == pytest.approx(0.2)
            assert report.expected_rate < 0.2
            assert report.n_positives == int(0.2 * (y == alarm).sum())

    def test_fresh_rows_are_evidence_for_a_prefit_certificate(self):
        X, y = data(3000)
        fitted = MomentSVC().fit(X[:1500], y[:1500])
        model = ToleranceClassifier(fitted, 0.2, method="moments", calibration="prefit").fit(X[1500:], y[1500:])
        assert model.threshold_ == fitted.threshold_for(0.2)
        assert model.report().empirical_rate == (model.predict(X[1500:][y[1500:] == 0]) == 1).mean()
        assert model.report().tpr == (model.predict(X[1500:][y[1500:] == 1]) == 1).mean()

    def test_refusals(self):
        X, y = data()
        moments = Moments.of(X[y == 0])
        with pytest.raises(ParameterError, match="got moments=None"):
            ToleranceClassifier(LogisticRegression(), method="moments").fit(X, y)
        with pytest.raises(ParameterError, match="certifies alarms for 0, but pos_label here is 1"):
            ToleranceClassifier(MomentSVC(pos_label=0), method="moments").fit(X, y)
        with pytest.raises(ParameterError, match="bound a linear score only"):
            ToleranceClassifier(MomentSVC(kernel="rbf"), method="moments").fit(X, y)
        with pytest.raises(ParameterError, match="predict_proba is none"):
            ToleranceClassifier(
                LogisticRegression(), method="moments", moments=moments, response_method="predict_proba"
            ).fit(X, y)
        variances = SimpleNamespace(mean=moments.mean, covariance=moments.variance)
        with pytest.raises(DataError, match="must be a full matrix"):
            ToleranceClassifier(LogisticRegression(), method="moments", moments=variances).fit(X, y)
        with pytest.raises(ParameterError, match="needs a linear score"):
            ToleranceClassifier(SVC(), method="moments", moments=moments).fit(X, y)
        with pytest.raises(ParameterError, match="behind the transformers"):
            ToleranceClassifier(
                make_pipeline(StandardScaler(), LogisticRegression()), method="moments", moments=moments
            ).fit(X, y)
        with pytest.raises(DataError, match="have 6 features, the linear score has 5"):
            ToleranceClassifier(LogisticRegression(), method="moments", moments=moments).fit(X[:, :5], y)
        with pytest.raises(ParameterError, match="no calibration negatives to replace"):
            ToleranceClassifier(LogisticRegression(), method="moments", moments=moments).fit(X, y).update(
                [0.0], replace=True
            )


class TestReport:
    def test_says_what_is_promised_and_what_was_seen(self):
        X, y = data(4000)
        model = ToleranceClassifier(LogisticRegression(), 0.02, random_state=0).fit(X, y)
        report = model.report()
        held = model.calibration_
        assert report.empirical_rate == (held.negatives > model.threshold_).mean()
        assert report.tpr == (held.positives > model.threshold_).mean()
        assert report.tpr_interval[0] < report.tpr < report.tpr_interval[1]
        assert report.prevalence == pytest.approx(y.mean())
        expected = 1e6 * ((1 - y.mean()) * report.expected_rate + y.mean() * report.tpr)
        assert report.alerts_per_million == pytest.approx(expected)
        assert report.most_alerts_per_million > report.alerts_per_million
        rare = model.report(prevalence=0.001)
        assert rare.alerts_per_million < report.alerts_per_million
        assert set(report.as_dict()) >= {"threshold", "guaranteed_rate", "tpr", "alerts_per_million"}
        assert "FPR <= " in str(report)

    def test_the_empirical_method_promises_nothing(self):
        X, y = data()
        report = ToleranceClassifier(LogisticRegression(), method="empirical", random_state=0).fit(X, y).report()
        assert report.guaranteed_rate is None
        assert report.most_alerts_per_million is None
        assert "promised            nothing" in str(report)

    def test_refuses_an_impossible_prevalence(self):
        X, y = data()
        with pytest.raises(ParameterError, match=r"prevalence=1.5 must lie in \[0, 1\)"):
            ToleranceClassifier(LogisticRegression(), 0.05).fit(X, y).report(prevalence=1.5)


def test_np_roc_is_in_the_units_of_the_threshold():
    X, y = data(4000)
    for estimator, sign in ((LogisticRegression(), 1), (OneClassSVM(), -1)):
        model = ToleranceClassifier(estimator, 0.02, pos_label=1, random_state=0).fit(X, y)
        curve = model.np_roc(tolerances=[0.02, 0.1])
        assert curve.threshold[0] == model.threshold_
        assert sign * (curve.threshold[0] - curve.threshold[1]) > 0
        assert curve.tpr[0] == model.report().tpr


def test_pickling_and_refitting():
    X, y = data()
    model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).decision_function(X), model.decision_function(X))


def test_a_failed_fit_leaves_no_half_fitted_model():
    X, y = data()
    model = ToleranceClassifier(LogisticRegression(), 0.001)
    with pytest.raises(InfeasibleError, match=r"raise `calibration` \(now 0.5\), or add negatives"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.report()


def test_infeasible_is_found_before_the_training():
    class Unfittable(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("trained in vain")

    X, y = data()
    with pytest.raises(InfeasibleError):
        ToleranceClassifier(Unfittable(), 0.001).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tolerance": 1}, r"tolerance=1 must lie in \(0, 1\)"),
        ({"tolerance": 0.0}, r"tolerance=0.0 must lie in \(0, 1\)"),
        ({"tolerance": 5}, "not a percentage"),
        ({"confidence": 1.0}, r"confidence=1.0 must lie in \(0, 1\)"),
        ({"confidence": "high"}, "confidence='high'"),
        ({"method": "magic"}, "method='magic' must be one of 'order_statistic', 'moments', 'empirical'"),
        ({"calibration": 1.0}, 'calibration=1.0 must be "prefit" or lie in'),
        ({"calibration": "half"}, "calibration='half'"),
        ({"positive_calibration": 1}, "positive_calibration=1 must lie in"),
        ({"weight_bound": 0}, "weight_bound=0 must be None or a finite number > 0"),
        ({"weight_bound": float("inf")}, "weight_bound=inf must be None"),
        ({"weight_bound": float("nan")}, "weight_bound=nan must be None"),
        ({"weight_bound": "max"}, "weight_bound='max' must be None"),
        ({"mean_radius": -1.0}, "mean_radius=-1.0 must be a number >= 0"),
        ({"response_method": "predict"}, "response_method='predict' must be one of"),
        ({"drift_level": 0}, "drift_level=0"),
        ({"pos_label": "fraud"}, r"pos_label='fraud' is not among the classes of y: \[0, 1\]"),
        ({"estimator": LinearRegression()}, "must be a classifier, a one-class detector or a density"),
        ({"estimator": LogisticRegression}, "must be an estimator instance"),
        ({"estimator": None}, "must be an estimator instance"),
        ({"response_method": "score_samples"}, "LogisticRegression has none of score_samples"),
    ],
)
def test_parameters_out_of_bounds(parameters, message):
    X, y = data()
    model = ToleranceClassifier(LogisticRegression(), 0.05).set_params(**parameters)
    with pytest.raises(ParameterError, match=message):
        model.fit(X, y)


def test_data_it_cannot_use():
    X, y = data()
    model = ToleranceClassifier(LogisticRegression(), 0.05)
    with pytest.raises(DataError, match="one class only"):
        model.fit(X, np.zeros(len(y)))
    with pytest.raises(DataError, match="Only binary classification is supported"):
        model.fit(X, np.arange(len(y)) % 3)
    with pytest.raises(DataError, match="requires y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y, groups=y[:5])
    with pytest.raises(ParameterError, match="precomputed kernel"):
        ToleranceClassifier(SVC(kernel="precomputed"), 0.05).fit(X @ X.T, y)
    kernel = SVC(kernel="precomputed").fit(X[:500] @ X[:500].T, y[:500])
    model = ToleranceClassifier(kernel, 0.05, calibration="prefit").fit(X[500:] @ X[:500].T, y[500:])
    assert model.n_calibration_ == (y[500:] == 0).sum()


def test_a_million_calibration_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 1))
    fitted = LinearDiscriminantAnalysis().fit([[-1.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    model = ToleranceClassifier(fitted, 0.001, calibration="prefit").fit(X, np.zeros(len(X), dtype=int))
    assert 0.0009 < model.report().empirical_rate < 0.001
