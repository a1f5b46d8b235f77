"""What scikit-learn and users ask of the estimators with approximation="nystroem"."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew import SVC, AsymmetricSVC, CovarianceOneClassSVM, OneClassSVM
from askew.exceptions import ParameterError
from askew.metrics import tolerance_auc_score
from askew.selection import ToleranceSearchCV

FEW = {"approximation": "nystroem", "n_landmarks": 40, "random_state": 0}
MODELS = [
    SVC(**FEW),
    OneClassSVM(nu=0.2, **FEW),
    AsymmetricSVC(**FEW),
    CovarianceOneClassSVM(eta=0.5, **FEW),
]


def named(model):
    return type(model).__name__


@parametrize_with_checks(
    [
        *(clone(model).set_params(n_landmarks="auto") for model in MODELS[:3]),
        CovarianceOneClassSVM(approximation="nystroem", random_state=0),
        SVC(approximation="nystroem", kernel="linear", landmarks="leverage", random_state=0),
        OneClassSVM(approximation="nystroem", kernel="poly", landmarks="uniform", random_state=0),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((5000, 5)))
    X[X < 0.5] = 0.0
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(5000) > 2.4).astype(int)
    return X, y


@pytest.mark.parametrize("model", MODELS, ids=named)
@pytest.mark.parametrize("rule", ["kmeans", "leverage", "uniform"])
def test_a_seed_gives_the_same_model_and_another_seed_another(model, rule, data):
    X, y = data
    model = clone(model).set_params(landmarks=rule)
    first, again = (clone(model).fit(X, y).decision_function(X[:200]) for _ in range(2))
    other = clone(model).set_params(random_state=1).fit(X, y).decision_function(X[:200])
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_sparse_rows_give_the_model_of_dense_ones(model, data):
    X, y = data
    model = clone(model).set_params(tol=1e-6)
    dense = clone(model).fit(X, y)
    packed = clone(model).fit(sparse.csr_array(X), y)
    assert sparse.issparse(packed.landmarks_)
    expected = dense.decision_function(X)
    for scores in (
        packed.decision_function(sparse.csr_array(X)),
        packed.decision_function(X),
        dense.decision_function(sparse.csr_array(X)),
    ):
        np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_a_cache_too_small_for_the_features_gives_the_same_answer(model, data):
    X, y = data
    model = clone(model).set_params(tol=1e-6)
    held = clone(model).fit(X, y)
    anew = clone(model).set_params(cache_size=0).fit(X, y)  # 4,096 rows are held, of 5,000
    expected = held.decision_function(X)
    np.testing.assert_allclose(anew.decision_function(X), expected, atol=1e-4 * np.abs(expected).max())
    assert anew.status_ == "optimal"


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_the_model_is_its_landmarks_and_their_weights(model, data):
    X, y = data
    small, large = (clone(model).fit(X[:n], y[:n]) for n in (1500, 5000))
    assert large.landmarks_.shape[0] == large.n_landmarks_ <= 40
    assert large.coef_.shape == (1, large.n_landmarks_)
    assert not hasattr(large, "support_vectors_")
    assert len(pickle.dumps(large)) < len(pickle.dumps(small)) + 2000
    kernel = np.exp(-large.gamma_ * np.square(X[:50, None] - large.landmarks_[None]).sum(axis=2))
    np.testing.assert_allclose(kernel @ large.coef_[0] + large.intercept_[0], large.decision_function(X[:50]))


def test_coef_of_the_linear_kernel_is_by_feature(data):
    X, y = data
    model = SVC(kernel="linear", **FEW).fit(X, y)
    assert model.coef_.shape == (1, 5)
    np.testing.assert_allclose(X[:50] @ model.coef_[0] + model.intercept_[0], model.decision_function(X[:50]))
    exact = SVC(kernel="linear", tol=1e-4).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=2e-3)  # 40 landmarks span five features


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_more_landmarks_come_nearer_to_the_exact_fit(model, data):
    X, y = data
    X, y = X[:1500], y[:1500]
    exact = clone(model).set_params(approximation=None).fit(X, y).decision_function(X)

    def away(count):
        near = clone(model).set_params(n_landmarks=count).fit(X, y).decision_function(X)
        return 1.0 - np.corrcoef(near, exact)[0, 1]

    few, many = away(10), away(400)
    assert many < 0.2 * few
    assert many < 0.01


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_what_cannot_be_approximated_is_refused_with_a_reason(model, data):
    X, y = data
    X, y = X[:100], y[:100]
    with pytest.raises(ParameterError, match="needs the rows themselves"):
        clone(model).set_params(kernel="precomputed").fit(X @ X.T, y)
    for settings in ({"kernel": "sigmoid"}, {"kernel": "poly", "coef0": -1.0}):
        with pytest.raises(ParameterError, match="positive semi-definite"):
            clone(model).set_params(**settings).fit(X, y)
    for settings in ({"n_landmarks": 0}, {"n_landmarks": "many"}, {"landmarks": "best"}, {"approximation": "rff"}):
        with pytest.raises(ParameterError, match=next(iter(settings))):
            clone(model).set_params(**settings).fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_more_landmarks_than_rows_are_all_rows_and_said_so(model, data):
    X, y = data
    X, y = X[:60], y[:60]
    y[:10] = np.arange(10) % 2
    with pytest.warns(UserWarning, match="n_landmarks=100 exceeds the 60 training rows"):
        fitted = clone(model).set_params(n_landmarks=100).fit(X, y)
    assert fitted.n_landmarks_ == 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(n_landmarks="auto").fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_a_fit_leaves_nothing_of_an_earlier_one_of_the_other_kind(model, data):
    X, y = data[0][:300], data[1][:300]
    model = clone(model)
    near = model.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(model.set_params(approximation=None).decision_function(X), near)  # not refitted yet
    exact = model.fit(X, y).decision_function(X)
    assert not hasattr(model, "landmarks_")
    assert not np.array_equal(exact, near)
    np.testing.assert_array_equal(model.set_params(approximation="nystroem").fit(X, y).decision_function(X), near)
    assert not hasattr(model, "dual_coef_")


def test_a_search_fits_landmarks_on_every_fold(data):
    X, y = data[0][:600], data[1][:600]
    model, grid = SVC(**FEW), {"C": [0.1, 10.0], "n_landmarks": [10, 40]}
    found = ToleranceSearchCV(model, grid, cv=3, tolerance=0.2).fit(X, y)
    plain = GridSearchCV(model, grid, cv=3, scoring=lambda m, X, y: tolerance_auc_score(y, m.decision_function(X), 0.2))
    plain.fit(X, y)
    scores, expected = (
        {str(p): s for p, s in zip(of.cv_results_["params"], of.cv_results_["mean_test_score"], strict=True)}
        for of in (found, plain)
    )
    assert scores == pytest.approx(expected, abs=1e-6)
    assert found.best_estimator_.n_landmarks_ <= 40


def test_rows_of_zeros_span_nothing_and_score_alike():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    model = SVC(kernel="linear", approximation="nystroem").fit(X, y)
    assert model.rank_ == 0
    np.testing.assert_array_equal(model.decision_function(np.ones((3, 2))), np.full(3, model.intercept_[0]))
