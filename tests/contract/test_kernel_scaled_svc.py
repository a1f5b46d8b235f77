"""What scikit-learn and the other estimators of askew ask, asked of KernelScaledSVC."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew.estimators.kernel_scaled_svc import KernelScaledSVC
from askew.estimators.svc import SVC
from askew.methods.kernel_scaling_rules import SCALINGS


@parametrize_with_checks(
    [
        KernelScaledSVC(),
        KernelScaledSVC(scaling="support", k=1.0, multi_class="ovr"),
        KernelScaledSVC(scaling="adaptive", k=1.0),
        KernelScaledSVC(scaling="boundary", k=1.0),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def _strengths(scaling, k):
    return {"k_majority": k, "k_minority": 0.5 * k} if scaling == "asymmetric" else {"k": k}


def _scaled(scaling, k=2.0, **parameters):
    return KernelScaledSVC(C=5.0, scaling=scaling, **_strengths(scaling, k), **parameters)


@pytest.fixture(scope="module")
def skewed():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, weights=[0.88], class_sep=0.7, random_state=1)
    return X, y


@pytest.fixture(scope="module")
def three():
    return make_classification(210, 5, n_informative=4, n_redundant=0, n_classes=3, weights=[0.6, 0.3], random_state=2)


every_scaling = pytest.mark.parametrize("scaling", SCALINGS)


@every_scaling
@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear"}, {"class_weight": "balanced", "gamma": 0.3}])
def test_without_strength_it_is_exactly_svc(scaling, parameters, skewed, three):
    for X, y in (skewed, three):
        plain = SVC(C=5.0, **parameters).fit(X, y)
        scaled = _scaled(scaling, 0.0, **parameters).fit(X, y)
        np.testing.assert_array_equal(scaled.decision_function(X), plain.decision_function(X))
        np.testing.assert_array_equal(scaled.predict(X), plain.predict(X))
        np.testing.assert_array_equal(scaled.support_, plain.support_)
        assert not scaled.n_scalings_.any()


@every_scaling
def test_with_strength_it_is_not(scaling, skewed):
    X, y = skewed
    difference = _scaled(scaling).fit(X, y).decision_function(X) - SVC(C=5.0).fit(X, y).decision_function(X)
    assert np.max(np.abs(difference)) > 0.05


@every_scaling
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_sparse_and_dense_input_score_alike(scaling, kernel, skewed):
    X, y = skewed
    X = np.where(np.abs(X) < 0.5, 0.0, X)[:150]
    model = _scaled(scaling, 1.0, kernel=kernel, gamma=0.1, tol=1e-7)
    dense, packed = clone(model).fit(X, y[:150]), clone(model).fit(sparse.csr_array(X), y[:150])
    assert sparse.issparse(packed.support_vectors_)
    expected = dense.decision_function(X)
    for scores in (packed.decision_function(X), packed.decision_function(sparse.csr_array(X)),
                   dense.decision_function(sparse.csr_array(X))):  # fmt: skip
        np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("scaling", [s for s in SCALINGS if s != "support"])
def test_a_precomputed_kernel_equals_the_kernel(scaling, skewed):
    X, y = skewed
    train, test = np.arange(0, 220), np.arange(220, 300)
    plain = _scaled(scaling, gamma=0.3).fit(X[train], y[train])
    given = _scaled(scaling, kernel="precomputed").fit(rbf_kernel(X[train], gamma=0.3), y[train])
    scores = given.decision_function(rbf_kernel(X[test], X[train], gamma=0.3))
    np.testing.assert_allclose(scores, plain.decision_function(X[test]), atol=1e-7)


def test_amari_and_wu_on_a_precomputed_kernel_measures_in_feature_space(skewed):
    X, y = skewed
    model = _scaled("support", kernel="precomputed").fit(rbf_kernel(X, gamma=0.3), y)
    assert np.isfinite(model.decision_function(rbf_kernel(X, gamma=0.3))).all()


@every_scaling
def test_a_weight_is_a_repetition_in_the_search_too(scaling, skewed):
    X, y = skewed[0][:160], skewed[1][:160]
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, 160)
    again = rng.permutation(np.repeat(np.arange(160), weight))
    weighted = KernelScaledSVC(C=5.0, scaling=scaling, gamma=0.3).fit(X, y, sample_weight=weight)
    repeated = KernelScaledSVC(C=5.0, scaling=scaling, gamma=0.3).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.search_[0].gains, repeated.search_[0].gains, atol=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


@every_scaling
def test_the_order_of_rows_does_not_matter(scaling, skewed):
    X, y = skewed[0][:160], skewed[1][:160]
    order = np.random.default_rng(1).permutation(160)
    one = KernelScaledSVC(C=5.0, scaling=scaling).fit(X, y)
    other = KernelScaledSVC(C=5.0, scaling=scaling).fit(X[order], y[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


@every_scaling
def test_class_weight_is_the_sample_weight_of_the_class_in_both_fits(scaling, skewed):
    """The sample weight also decides who is the majority and what a row counts; equal weights of 1 and 3 do not."""
    X, y = skewed
    by_class = _scaled(scaling, class_weight={0: 1.0, 1: 3.0}, tol=1e-6).fit(X, y)
    plain = _scaled(scaling, tol=1e-6).fit(X, y)
    assert np.max(np.abs(by_class.decision_function(X) - plain.decision_function(X))) > 0.05
    if scaling in ("asymmetric", "symmetric"):  # the others weigh rows in the unit of D, or in the moved boundary
        by_row = _scaled(scaling, tol=1e-6, gamma=by_class.gamma_).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
        np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@every_scaling
def test_several_classes_are_pairs_or_rests(multi_class, scaling, three):
    X, y = three
    model = _scaled(scaling, multi_class=multi_class).fit(X, y)
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.n_scalings_.tolist() == [1, 1, 1]
    assert model.score(X, y) > 0.75
    if multi_class == "ovr":
        alone = _scaled(scaling).fit(X, np.where(y == 2, 1, 0))
        np.testing.assert_allclose(model.decision_function(X)[:, 2], alone.decision_function(X), atol=1e-6)
    else:
        mine = y != 0
        alone = _scaled(scaling, gamma=model.gamma_).fit(X[mine], np.where(y[mine] == 1, 1, 0))
        np.testing.assert_allclose(model._machine_scores(X)[:, 2], alone.decision_function(X), atol=1e-6)


def test_it_survives_pickle_and_clone(skewed):
    X, y = skewed
    model = _scaled("boundary").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_give_the_same_scores(library, skewed):
    X, y = skewed
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({f"f{k}": X[:, k] for k in range(X.shape[1])})
    np.testing.assert_allclose(
        _scaled("asymmetric").fit(frame, y).decision_function(frame),
        _scaled("asymmetric").fit(X, y).decision_function(X),
    )
