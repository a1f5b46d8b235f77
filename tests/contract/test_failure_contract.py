"""One failure contract for every public estimator: a fit that fails leaves the estimator as it was.

Each is fitted, given other parameters, and fitted again in vain: by a parameter out of its range, by rows that are no
numbers, and by an error and a Ctrl-C in the middle of the work and at its last step.
"""

import numpy as np
import pytest
from sklearn.base import clone

from askew import (
    SVC,
    SVDD,
    AsymmetricSVC,
    CovarianceOneClassSVM,
    KernelScaledSVC,
    MomentSVC,
    OneClassSVM,
    TablePreparation,
    ToleranceClassifier,
)
from askew.estimators import GaussianDescription, KNNDescription, MomentSVCCV, ParzenDescription
from askew.exceptions import ParameterError
from askew.selection import ArtificialOutlierSearchCV, ConsistencySearchCV, ToleranceSearchCV

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(90, 3)), RNG.normal(size=(30, 3)) + 2.0])
Y = np.repeat([0, 1], [90, 30])
OTHER = RNG.normal(size=(60, 2)), np.repeat([0, 1], 30)  # another width: rows that were mixed up would not be scored

MACHINE, LAST = "askew.fitting.machine.", "KernelMachine._note_convergence"
GAMMAS = {"gamma": [0.1, 1.0]}
NARROWS = {"param_range": [0.01, 0.1], "cv": 3}

# estimator, a parameter out of its range, parameters that would score otherwise, and where the work is struck
CASES = [
    (SVC(), {"C": -1.0}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, [MACHINE + "solve", MACHINE + LAST]),
    (SVC(kernel="precomputed"), {"C": -1.0}, {"kernel": "rbf"}, [MACHINE + "solve", MACHINE + LAST]),
    (
        SVC(approximation="nystroem", n_landmarks=20, random_state=0),
        {"n_landmarks": 0},
        {"approximation": None, "kernel": "linear"},
        [MACHINE + "solve", "askew.estimators.svc.keep_landmarks"],
    ),
    (SVDD(nu=0.2), {"nu": 2.0}, {"kernel": "linear"}, [MACHINE + "solve", MACHINE + LAST]),
    (OneClassSVM(nu=0.2), {"nu": 2.0}, {"kernel": "linear"}, [MACHINE + "solve", MACHINE + LAST]),
    (
        CovarianceOneClassSVM(),
        {"eta": 2.0},
        {"kernel": "poly", "degree": 2},
        ["askew.estimators.covariance_one_class_svm.prepare", MACHINE + LAST],
    ),
    (AsymmetricSVC(), {"mu": 2.0}, {"kernel": "linear"}, ["askew.estimators.asymmetric_svc.solve", MACHINE + LAST]),
    (
        KernelScaledSVC(k_majority=0.5, k_minority=1.0),
        {"n_folds": 0},
        {"kernel": "linear", "scaling": "support", "multi_class": "ovr"},
        [MACHINE + "solve", MACHINE + LAST],
    ),
    (
        MomentSVC(),
        {"C": -1.0},
        {"kernel": "rbf", "scale": True},
        ["askew.estimators.moment_svc.fit_machines", "askew.methods.moment.Machines.attributes"],
    ),
    (
        MomentSVC(kernel="rbf", rho=0.1),
        {"rho": -1.0},
        {"kernel": "linear"},
        ["askew.estimators.moment_svc.fit_machines", "askew.methods.moment.Machines.attributes"],
    ),
    (
        MomentSVCCV(Cs=[0.1, 1.0], cv=2),
        {"tolerance": 2.0},
        {"Cs": [0.5]},
        ["askew.estimators.moment_svc_cv.cost_areas", "askew.estimators.moment_svc.fit_machines"],
    ),
    (
        KNNDescription(),
        {"n_neighbors": 0},
        {"n_neighbors": 1},
        [
            "askew.estimators.baselines.knn_description.NearestNeighbors.fit",
            "askew.estimators.baselines.threshold_description.rejection_threshold",
        ],
    ),
    (
        ParzenDescription(),
        {"bandwidth": -1.0},
        {"bandwidth": 9.0},
        [
            "askew.estimators.baselines.parzen_description.KernelDensity.fit",
            "askew.estimators.baselines.threshold_description.rejection_threshold",
        ],
    ),
    (
        GaussianDescription(),
        {"ridge": 0.0},
        {"ridge": 9.0},
        [
            "askew.estimators.baselines.gaussian_description.cholesky",
            "askew.estimators.baselines.threshold_description.rejection_threshold",
        ],
    ),
    (
        ToleranceClassifier(SVC(), 0.2, 0.8, random_state=0),
        {"tolerance": 2.0},
        {"tolerance": 0.3},
        [MACHINE + "solve", "askew.tolerance.classifier.ToleranceClassifier._place"],
    ),
    (
        ToleranceSearchCV(SVC(), GAMMAS, cv=2),
        {"tolerance": 2.0},
        {"tolerance": 0.5},
        [
            "askew.selection.tolerance_search.ToleranceSearchCV._search",
            "askew.selection.tolerance_search.ToleranceSearchCV._refitted",
        ],
    ),
    (
        ConsistencySearchCV(OneClassSVM(nu=0.2), **NARROWS),
        {"n_sigma": -1.0},
        {"n_sigma": 1.0},
        [
            "askew.selection.one_class_search.OneClassSearch._held_out",
            "askew.selection.one_class_search.OneClassSearch._finish",
        ],
    ),
    (
        ArtificialOutlierSearchCV(OneClassSVM(nu=0.2), GAMMAS, cv=3, random_state=0),
        {"n_outliers": 0},
        {"n_outliers": 50},
        [
            "askew.selection.one_class_search.OneClassSearch._held_out",
            "askew.selection.one_class_search.OneClassSearch._finish",
        ],
    ),
]
STRUCK = [(model, others, place) for model, _, others, places in CASES for place in places]


def named(value):
    return type(value).__name__ if hasattr(value, "get_params") else str(value) if isinstance(value, str) else ""


def rows_of(model, X):
    return X @ X.T if getattr(model, "kernel", "") == "precomputed" else X


def fitted(model):
    model = clone(model).fit(rows_of(model, X), Y)
    return model, rows_of(model, X), model.decision_function(rows_of(model, X))


def assert_unchanged(model, rows, scores, before):
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    np.testing.assert_array_equal(model.decision_function(rows), scores)


@pytest.mark.parametrize(("model", "wrong", "others", "places"), CASES, ids=named)
def test_new_parameters_change_no_score_before_the_next_fit(model, wrong, others, places):
    model, rows, scores = fitted(model)
    model.set_params(**others)
    np.testing.assert_array_equal(model.decision_function(rows), scores)


@pytest.mark.parametrize(("model", "wrong", "others", "places"), CASES, ids=named)
def test_a_parameter_out_of_range(model, wrong, others, places):
    model, rows, scores = fitted(model)
    model.set_params(**others).set_params(**wrong)
    before = dict(vars(model))
    with pytest.raises(ParameterError):
        model.fit(np.full((5, 2), np.nan), [0, 1, 0, 1, 1])  # the parameters are looked at before the rows
    assert_unchanged(model, rows, scores, before)


@pytest.mark.parametrize(("model", "wrong", "others", "places"), CASES, ids=named)
def test_rows_that_are_no_numbers(model, wrong, others, places):
    model, rows, scores = fitted(model)
    before, bad = dict(vars(model)), OTHER[0].copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN|square"):
        model.fit(bad, OTHER[1])
    assert_unchanged(model, rows, scores, before)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt], ids=lambda e: e.__name__)
@pytest.mark.parametrize(("model", "others", "place"), STRUCK, ids=named)
def test_work_that_is_struck(model, others, place, error, monkeypatch):
    model, rows, scores = fitted(model)
    before = dict(vars(model))

    def strike(*_, **__):
        raise error("struck")

    other = OTHER[0] @ OTHER[0].T if getattr(model, "kernel", "") == "precomputed" else OTHER[0]
    with monkeypatch.context() as patch:
        patch.setattr(place, strike)
        with pytest.raises(error, match="struck"):
            model.fit(other, OTHER[1])
    assert_unchanged(model, rows, scores, before)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt], ids=lambda e: e.__name__)
def test_a_preparation_that_is_struck(error, monkeypatch):
    table = {"amount": [1.0, 3.0, 5.0], "country": ["fr", "de", "fr"]}
    model = TablePreparation().fit(table)
    before, prepared = dict(vars(model)), model.transform(table)

    def strike(*_, **__):
        raise error("struck")

    with monkeypatch.context() as patch:
        patch.setattr("askew.estimators.table_preparation.learn", strike)
        with pytest.raises(error, match="struck"):
            model.fit({"other": [1.0, 2.0]})
    assert vars(model) == before
    with pytest.raises(ParameterError):
        model.set_params(max_categories=0).fit({"other": [1.0, 2.0]})
    np.testing.assert_array_equal(model.transform(table), prepared)
