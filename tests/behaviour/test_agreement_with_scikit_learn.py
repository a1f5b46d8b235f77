"""On five data sets, at tol 1e-6, scores agree with scikit-learn's own to 1e-3."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.preprocessing import scale

import askew


def _digits():
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero((y == 3) | (y == 8) | (y == 5))
    return X[rows], y[rows]


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits_3_5_8": _digits,
    "moons": lambda: make_moons(400, noise=0.25, random_state=0),
}


@pytest.fixture(params=DATA, scope="module")
def data(request):
    X, y = DATA[request.param]()
    return np.nan_to_num(scale(X)), y


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("settings", [{}, {"C": 10.0, "class_weight": "balanced"}, {"kernel": "poly", "coef0": 1.0}])
def test_svc(data, settings, shape):
    X, y = data
    ours = askew.SVC(tol=1e-6, decision_function_shape=shape, **settings).fit(X, y)
    theirs = svm.SVC(tol=1e-6, decision_function_shape=shape, **settings).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.999
    assert ours.dual_coef_.shape == (len(theirs.classes_) - 1, len(ours.support_))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    assert ours.gamma_ == pytest.approx(theirs._gamma)


def test_the_attributes_are_laid_out_as_in_scikit_learn():
    X, y = load_iris(return_X_y=True)
    ours, theirs = askew.SVC(kernel="linear", tol=1e-6).fit(X, y), svm.SVC(kernel="linear", tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)


@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_one_class_svm(data, nu):
    X, _ = data
    ours = askew.OneClassSVM(nu=nu, tol=1e-6).fit(X)
    theirs = svm.OneClassSVM(nu=nu, tol=1e-6).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-3)
    assert ours.offset_ == pytest.approx(theirs.offset_[0], abs=1e-3)


def test_two_classes_of_any_label_predict_alike():
    X, y = make_moons(120, noise=0.2, random_state=1)
    labels = np.array(["fraud", "fine"])[y]
    model = askew.SVC().fit(X, labels)
    np.testing.assert_array_equal(model.predict(X), svm.SVC().fit(X, labels).predict(X))
    positive = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X)[positive], "fraud")


def test_break_ties_uses_the_score():
    X, y = load_iris(return_X_y=True)
    ours = askew.SVC(break_ties=True, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), np.argmax(ours.decision_function(X), axis=1))
    np.testing.assert_array_equal(ours.predict(X), svm.SVC(break_ties=True, tol=1e-6).fit(X, y).predict(X))
