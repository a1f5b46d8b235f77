"""What scikit-learn asks of an estimator, asked of SVC, OneClassSVM and SVDD."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew import SVC, SVDD, OneClassSVM


@parametrize_with_checks(
    [SVC(), SVC(kernel="linear"), OneClassSVM(), OneClassSVM(kernel="linear"), SVDD(), SVDD(kernel="poly")]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(160, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0)
    return X, y


ESTIMATORS = [SVC(), OneClassSVM(nu=0.2), SVDD(nu=0.2)]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_sparse_and_dense_input_score_alike(model, kernel, data):
    X, y = data
    X = np.where(np.abs(X) < 0.7, 0.0, np.abs(X))  # on one side of the origin: linear one-class scores would vanish
    model = clone(model).set_params(kernel=kernel, gamma=0.2, tol=1e-8)
    dense = clone(model).fit(X, y)
    packed = clone(model).fit(sparse.csr_array(X), y)
    assert sparse.issparse(packed.support_vectors_)
    expected = dense.decision_function(X)
    scale = np.abs(expected).max()
    for scores in (
        packed.decision_function(sparse.csr_array(X)),
        packed.decision_function(X),
        dense.decision_function(sparse.csr_array(X)),
    ):
        np.testing.assert_allclose(scores, expected, atol=1e-5 * scale)


@pytest.mark.parametrize("model", [SVC(), OneClassSVM(nu=0.2)], ids=lambda m: type(m).__name__)
def test_a_precomputed_kernel_equals_the_kernel(model, data):
    X, y = data
    from sklearn.metrics.pairwise import rbf_kernel

    train, test = np.arange(0, 120), np.arange(120, 160)
    plain = clone(model).set_params(gamma=0.3, tol=1e-8).fit(X[train], y[train])
    given = clone(model).set_params(kernel="precomputed", tol=1e-8)
    given.fit(rbf_kernel(X[train], gamma=0.3), y[train])
    scores = given.decision_function(rbf_kernel(X[test], X[train], gamma=0.3))
    np.testing.assert_allclose(scores, plain.decision_function(X[test]), atol=1e-6)


def test_cross_validation_slices_a_precomputed_kernel(data):
    X, y = data
    K = X @ X.T
    expected = cross_val_score(SVC(kernel="linear"), X, y, cv=3)
    np.testing.assert_allclose(cross_val_score(SVC(kernel="precomputed"), K, y, cv=3), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_data_frames_give_the_same_scores_and_remember_names(library, model, data):
    X, y = data
    names = [f"f{k}" for k in range(X.shape[1])]
    frames = pytest.importorskip(library)
    columns = {name: X[:, k] for k, name in enumerate(names)}
    frame = frames.table(columns) if library == "pyarrow" else frames.DataFrame(columns)
    fitted = clone(model).fit(frame, y)
    np.testing.assert_allclose(fitted.decision_function(frame), clone(model).fit(X, y).decision_function(X), atol=1e-9)
    if library != "pyarrow":
        assert list(fitted.feature_names_in_) == names


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda m: type(m).__name__)
def test_a_weight_equals_a_repetition_beyond_small_problems(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.8).astype(int)
    weight = rng.integers(0, 4, size=400)
    model = clone(model).set_params(tol=1e-8)
    weighted = clone(model).fit(X, y, sample_weight=weight).decision_function(X)
    repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)
