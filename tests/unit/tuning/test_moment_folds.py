"""Folds of moment machines: what they find is what fits find, and what they cost is counted."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC as OtherSVC

from askew import SVC, AsymmetricSVC, KernelScaledSVC, MomentSVC, OneClassSVM
from askew.estimators import MomentSVCCV
from askew.estimators.moment_svc_cv import areas_from_moments
from askew.metrics import tolerance_auc_score
from askew.moments import CovarianceModel, Moments
from askew.moments.full import Full
from askew.selection import ToleranceSearchCV
from askew.tuning import Searchable, best_cost, offers_paths

COSTS = [1e-3, 0.1, 1.0, 30.0]
CV = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(400, 5)), rng.normal(size=(40, 5)) + 0.8]) @ rng.normal(size=(5, 5))
    return X, np.repeat([0, 1], [400, 40])


@pytest.fixture
def counts(monkeypatch):
    """How often rows are passed over, covariances are built, and a ridge is factorised or positives are whitened."""
    found = {"passes": 0, "builds": 0, "whitenings": 0}

    def counted(kind, owner, name):
        method = getattr(owner, name)

        def call(self, *args, **options):
            found[kind] += 1
            return method(self, *args, **options)

        monkeypatch.setattr(owner, name, call)

    counted("passes", CovarianceModel, "moments_of")
    counted("builds", CovarianceModel, "build")
    counted("whitenings", Full, "whiten")
    return found


def areas_of_refits(model, X, y, tolerance):
    """Fits of every cost on every fold, each from nothing."""
    areas = []
    for train, test in CV.split(X, y):
        fits = [clone(model).set_params(C=C).fit(X[train], y[train]) for C in COSTS]
        scores = [fit.decision_function(X[test]) for fit in fits]
        areas.append([tolerance_auc_score(y[test], each, tolerance, normalize=True) for each in scores])
    return areas


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"covariance": "diagonal"}])
def test_both_searches_find_what_refits_find(rows, options):
    X, y = rows
    model = MomentSVC(rho=0.3, **options)
    expected = areas_of_refits(model, X, y, 0.2)
    along = MomentSVCCV(model, Cs=COSTS, cv=CV, tolerance=0.2).fit(X, y)
    np.testing.assert_allclose(along.scores_, expected, atol=1e-6)
    search = ToleranceSearchCV(model, {"C": COSTS}, cv=CV, tolerance=0.2, normalize=True).fit(X, y)
    found = [search.cv_results_[f"split{k}_test_score"] for k in range(4)]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert best_cost(np.array(COSTS), np.array(expected)) == along.C_


def test_folds_of_positives_against_moments_find_what_refits_find(rows):
    X, y = rows
    moments, positives, judges = Moments.of(X[y == 0]), X[y == 1], X[y == 0][:150]
    part, model = np.arange(40) % 3, MomentSVC(rho=0.3)
    expected = []
    for fold in range(3):
        held = np.vstack([judges, positives[part == fold]])
        labels = np.arange(len(held)) >= 150
        fits = [clone(model).set_params(C=C).fit_from_moments(positives[part != fold], moments) for C in COSTS]
        expected.append([tolerance_auc_score(labels, f.decision_function(held), 0.1, normalize=True) for f in fits])
    found = list(areas_from_moments(model, COSTS, positives, moments, judges, part, 0.1))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_one_pass_and_one_whitening_for_all_costs_of_a_fold(rows, counts):
    X, y = rows
    MomentSVCCV(MomentSVC(rho=0.3), Cs=COSTS, cv=CV).fit(X, y)
    assert counts == {"passes": 4 + 1, "builds": 4 + 1, "whitenings": 4 + 1}  # and those of the last fit


def test_one_pass_for_a_fold_and_one_whitening_for_each_ridge_of_it(rows, counts):
    X, y = rows
    ToleranceSearchCV(MomentSVC(), {"C": COSTS, "rho": [0.1, 1.0]}, cv=CV, refit=False).fit(X, y)
    assert counts == {"passes": 4, "builds": 4, "whitenings": 4 * 2}


def test_no_pass_and_one_covariance_for_folds_against_moments(rows, counts):
    X, y = rows
    moments = Moments.of(X[y == 0])
    list(areas_from_moments(MomentSVC(rho=0.3), COSTS, X[y == 1], moments, X[y == 0][:90], np.arange(40) % 3, 0.1))
    assert counts == {"passes": 0, "builds": 1, "whitenings": 3}


def test_a_fold_without_a_class_is_left_out(rows):
    X, y = rows
    folds = [(np.arange(len(y)), np.flatnonzero(y == 0)), (np.arange(0, 440, 2), np.arange(1, 440, 2))]
    search = MomentSVCCV(MomentSVC(rho=0.3), Cs=COSTS, cv=folds).fit(X, y)
    assert np.isnan(search.scores_[0]).all()
    assert np.isfinite(search.scores_[1]).all()


def test_of_equal_costs_the_largest_is_best():
    areas = np.array([[0.5, 0.9, 0.9, 0.8], [np.nan] * 4])
    assert best_cost(np.array([1e-2, 1.0, 10.0, 100.0]), areas) == 10.0


@pytest.mark.parametrize("machine", [SVC(), OneClassSVM(), AsymmetricSVC(), KernelScaledSVC(), MomentSVC()])
def test_machines_that_share_work_say_so(machine):
    assert isinstance(machine, Searchable)
    assert offers_paths(machine)


def test_machines_that_share_none_are_refitted():
    assert not offers_paths(OtherSVC())
    assert not offers_paths(SVC(approximation="nystroem"))
