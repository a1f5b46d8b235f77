"""Estimators on arrays of other libraries: the scores of the NumPy fit, given where the rows live."""

import re

import numpy as np
import pytest
from array_libraries import everywhere, lives_with, put
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import askew
from askew import SVC, SVDD, AsymmetricSVC, CovarianceOneClassSVM, KernelScaledSVC, OneClassSVM
from askew.arrays import host, is_elsewhere
from askew.datasets import Transactions
from askew.exceptions import DataError

CLASSIFIERS = {
    "SVC": SVC(C=2.0, tol=1e-6),
    "AsymmetricSVC": AsymmetricSVC(tol=1e-6),
    "KernelScaledSVC": KernelScaledSVC(C=5.0, k_majority=0.6, k_minority=0.2, tol=1e-6),
}
DETECTORS = {
    "OneClassSVM": OneClassSVM(nu=0.2, tol=1e-6),
    "SVDD": SVDD(nu=0.2, tol=1e-6),
    "CovarianceOneClassSVM": CovarianceOneClassSVM(eta=0.6, tol=1e-6),
}
EVERY = CLASSIFIERS | DETECTORS
every_estimator = pytest.mark.parametrize("estimator", EVERY.values(), ids=EVERY.keys())
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())


def _data(n=160, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    noisy = X[:, 0] + 0.7 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    return X, np.digitize(noisy, np.quantile(noisy, [0.75, 0.9])[: n_classes - 1])


def _both(estimator, library, X, y, **options):
    """Fitted on NumPy, and elsewhere."""
    return clone(estimator).fit(X, y, **options), clone(estimator).fit(put(library, X), y, **options)


def _same_scores(there, here, library, Z=None):
    Z = _data(40, seed=9)[0] if Z is None else Z
    expected, rows = here.decision_function(Z), put(library, Z)
    for name in ("decision_function", "score_samples"):
        if hasattr(here, name):
            scores = getattr(there, name)(rows)
            assert lives_with(scores, rows)
            reference = getattr(here, name)(Z)
            np.testing.assert_allclose(host(scores), reference, atol=1e-5 * max(1.0, np.abs(reference).max()))
    labels = there.predict(rows)
    assert lives_with(labels, rows)
    sure = np.abs(expected) > 1e-4 if expected.ndim == 1 else np.ones(len(Z), bool)
    np.testing.assert_array_equal(host(labels)[sure], here.predict(Z)[sure])


@everywhere
@every_estimator
def test_scores_and_labels_are_those_of_the_numpy_fit(library, estimator):
    X, y = _data()
    here, there = _both(estimator, library, X, y)
    _same_scores(there, here, library)
    assert there.status_ == here.status_ == "optimal"
    assert there.gamma_ == pytest.approx(here.gamma_)
    assert lives_with(there.support_vectors_, put(library, X))


@everywhere
@every_estimator
@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid"])
def test_other_kernels(library, estimator, kernel):
    X, y = _data(90)
    settings = {"kernel": kernel, "gamma": 0.2, "degree": 2, "coef0": 0.0 if kernel == "sigmoid" else 1.0}
    here, there = _both(clone(estimator).set_params(**settings), library, X, y)
    if kernel == "sigmoid":  # another stationary point is as good
        assert there.decision_function(put(library, X)).shape == (90,)
        assert there.status_ in ("stationary", "optimal")
    else:
        _same_scores(there, here, library)
    if kernel == "linear" and not isinstance(estimator, KernelScaledSVC):  # whose score is bent
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-5 * max(1.0, np.abs(here.coef_).max()))


@everywhere
@pytest.mark.parametrize("scaling", ["symmetric", "support", "adaptive", "boundary"])
def test_every_bend(library, scaling):
    X, y = _data(100)
    here, there = _both(KernelScaledSVC(C=5.0, scaling=scaling, k=0.5, tol=1e-6), library, X, y)
    _same_scores(there, here, library)


@everywhere
def test_magnification_and_the_plain_score(library):
    X, y = _data(100)
    here, there = _both(CLASSIFIERS["KernelScaledSVC"], library, X, y)
    rows = put(library, X)
    for name in ("magnification", "plain_decision_function"):
        found = getattr(there, name)(rows)
        assert lives_with(found, rows)
        np.testing.assert_allclose(host(found), getattr(here, name)(X), rtol=1e-4, atol=1e-5)


@everywhere
@pytest.mark.parametrize("settings", [{}, {"score_kernel": "modified", "eta": 0.5}], ids=["auto", "modified"])
def test_the_path_of_eta(library, settings):
    X, _ = _data(120)
    here, there = _both(CovarianceOneClassSVM(tol=1e-6, **settings), library, X, None)
    assert there.eta_ == here.eta_
    _same_scores(there, here, library)


@everywhere
@every_classifier
def test_many_classes_and_labels_that_are_words(library, estimator):
    X, y = _data(150, n_classes=3)
    here, there = _both(estimator, library, X, y)
    rows = put(library, X)
    scores = there.decision_function(rows)
    assert lives_with(scores, rows)
    np.testing.assert_allclose(host(scores), here.decision_function(X), atol=1e-4)
    assert np.mean(host(there.predict(rows)) == here.predict(X)) > 0.98
    words = np.array(["common", "odd", "rare"])[y]
    labels = clone(estimator).fit(rows, words).predict(rows)
    assert type(labels) is np.ndarray
    np.testing.assert_array_equal(labels, np.array(["common", "odd", "rare"])[host(there.predict(rows))])


@everywhere
@every_estimator
def test_weights_and_labels_may_live_anywhere(library, estimator):
    X, y = _data()
    weight = np.random.default_rng(3).uniform(0.2, 2.0, len(y))
    weight[::7] = 0.0
    here, there = _both(estimator, library, X, y, sample_weight=weight)
    _same_scores(there, here, library)
    assert not np.isin(there.support_, np.arange(0, len(y), 7)).any()
    moved = clone(estimator).fit(put(library, X), put(library, y), sample_weight=put(library, weight))
    _same_scores(moved, here, library)
    back = clone(estimator).fit(X, put(library, y), sample_weight=put(library, weight))
    np.testing.assert_allclose(back.decision_function(X), here.decision_function(X), atol=1e-9)


@everywhere
@every_classifier
def test_accuracy(library, estimator):
    X, y = _data()
    here, there = _both(estimator, library, X, y)
    expected, rows = here.score(X, y), put(library, X)
    assert there.score(rows, y) == there.score(rows, put(library, y)) == pytest.approx(expected, abs=0.01)
    weight = np.linspace(0.0, 1.0, len(y))
    assert there.score(rows, y, put(library, weight)) == pytest.approx(here.score(X, y, weight), abs=0.02)


@everywhere
@every_estimator
def test_a_model_scores_rows_that_live_elsewhere(library, estimator):
    X, y = _data()
    here, there = _both(estimator, library, X, y)
    expected, tolerance = here.decision_function(X), 1e-5 * max(1.0, np.abs(here.decision_function(X)).max())
    for rows in (X, sparse.csr_array(X), X.tolist()):
        scores = there.decision_function(rows)
        assert type(scores) is np.ndarray
        np.testing.assert_allclose(scores, expected, atol=tolerance)
    scores = here.decision_function(put(library, X))
    assert lives_with(scores, put(library, X))
    np.testing.assert_allclose(host(scores), expected, atol=tolerance)


@everywhere
@every_estimator
def test_to_cpu(library, estimator):
    X, y = _data()
    model = clone(estimator).fit(put(library, X), y)
    expected = host(model.decision_function(put(library, X)))
    assert model.to_cpu() is model
    assert not any(is_elsewhere(value) for value in vars(model).values())
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    assert model.to_cpu().fit(X, y).to_cpu() is model  # one that never left is left alone


@everywhere
@every_estimator
def test_a_saved_model_scores_the_same(library, estimator, tmp_path):
    pytest.importorskip("skops.io")
    X, y = _data()
    model = clone(estimator).fit(put(library, X), y)
    expected = host(model.decision_function(put(library, X)))
    askew.save(model, tmp_path / "model.skops")
    loaded = askew.load(tmp_path / "model.skops")
    np.testing.assert_allclose(loaded.decision_function(X), expected, atol=1e-9)
    np.testing.assert_allclose(host(loaded.decision_function(put(library, X))), expected, atol=1e-9)


@everywhere
def test_a_model_file_of_a_detector_fitted_elsewhere(library, tmp_path):
    """The estimator of a real detector, fitted again on rows elsewhere: the file holds NumPy, the detector stays."""
    pytest.importorskip("skops.io")
    table = Transactions(rare=0.1).sample(600, random_state=0)
    detector = askew.Detector("svc", tolerance=0.1).fit(table, "is_fraud")
    rows = detector.preparation_.transform(table)
    detector.classifier_.estimator_ = clone(detector.classifier_.estimator_).fit(put(library, rows), table["is_fraud"])
    askew.save(detector, tmp_path / "model.skops")
    assert is_elsewhere(detector.classifier_.estimator_.support_vectors_)
    loaded = askew.load(tmp_path / "model.skops")
    assert type(loaded.classifier_.estimator_.support_vectors_) is np.ndarray
    np.testing.assert_allclose(loaded.decision_function(table), detector.decision_function(table), atol=1e-9)


@everywhere
@every_estimator
def test_fitting_changes_neither_parameters_nor_data(library, estimator):
    X, y = _data(80)
    model, rows = clone(estimator), put(library, X)
    before = model.get_params()
    model.fit(rows, y).decision_function(rows)
    assert model.get_params() == before == clone(model).get_params()
    np.testing.assert_array_equal(host(rows), X)


@everywhere
@every_estimator
def test_whole_numbers_and_float32_rows_are_taken(library, estimator):
    X, y = _data()
    for rows in (np.round(4 * X).astype(np.int64), X.astype(np.float32)):
        here, there = _both(estimator, library, rows, y)
        expected = here.decision_function(rows)
        found = there.decision_function(put(library, rows))
        np.testing.assert_allclose(host(found), expected, atol=1e-5 * max(1.0, np.abs(expected).max()))


@everywhere
@pytest.mark.parametrize(
    "estimator",
    [SVC(kernel="precomputed"), SVC(approximation="nystroem", n_landmarks=20, random_state=0)],
    ids=["precomputed", "nystroem"],
)
def test_what_goes_through_the_host_answers_there_all_the_same(library, estimator):
    X, y = _data(80)
    X = X @ X.T if estimator.kernel == "precomputed" else X
    here, there = _both(estimator, library, X, y)
    rows = put(library, X)
    assert lives_with(there.decision_function(rows), rows)
    np.testing.assert_allclose(host(there.decision_function(rows)), here.decision_function(X), atol=1e-8)


def _spoilt(X, value):
    X = X.copy()
    X[5, 1] = value
    return X


WRONG = {
    "one dimension": (lambda X: X[:, 0], r"shape \(n_samples, n_features\); got shape \(60,\)"),
    "NaN": (lambda X: _spoilt(X, np.nan), "NaN or infinity, first in row 5"),
    "infinity": (lambda X: _spoilt(X, -np.inf), "NaN or infinity, first in row 5"),
    "no rows": (lambda X: X[:0], r"at least one row.*\(0, 3\)"),
    "no features": (lambda X: X[:, :0], r"one feature.*\(60, 0\)"),
    "complex": (lambda X: X + 1j, "Complex data not supported"),
}


@everywhere
@every_estimator
@pytest.mark.parametrize(("spoil", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_rows_are_refused_and_nothing_is_broken(library, estimator, spoil, message):
    X, y = _data(60)
    model = clone(estimator)
    with pytest.raises(DataError, match=message):
        model.fit(put(library, spoil(X)), y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    model.fit(put(library, X), y)
    expected = host(model.decision_function(put(library, X)))
    with pytest.raises(DataError, match=message if spoil(X).shape[-1:] == (3,) else ""):
        model.decision_function(put(library, spoil(X)))
    np.testing.assert_array_equal(host(model.decision_function(put(library, X))), expected)


@everywhere
@every_estimator
def test_another_number_of_features_or_labels_is_refused(library, estimator):
    X, y = _data(60)
    model = clone(estimator).fit(put(library, X), y)
    with pytest.raises(DataError, match=r"X has 2 features, but .* is expecting 3"):
        model.predict(put(library, X[:, :2]))
    if isinstance(estimator, tuple(type(c) for c in CLASSIFIERS.values())):
        with pytest.raises(DataError, match=re.escape("[60, 59]")):
            clone(estimator).fit(put(library, X), put(library, y[:-1]))
    with pytest.raises(ValueError, match="sample_weight"):
        clone(estimator).fit(put(library, X), y, sample_weight=put(library, np.ones(59)))


@every_estimator
@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
def test_sparse_tensors_are_refused_with_a_remedy(estimator, layout):
    X, y = _data(60)
    with pytest.raises(DataError, match=r"sparse tensor.*to_dense"):
        clone(estimator).fit(getattr(put("torch", X), layout)(), y)


@every_estimator
def test_a_device_without_memory_is_told_and_leaves_an_estimator_that_works(estimator, monkeypatch):
    """PyTorch's own product fails as it does on a full device: everything above it is real."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make torch` installs it")
    X, y = _data(60)
    rows, model = put("torch", X), clone(estimator)

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 7.00 GiB.\nSee documentation")

    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "__matmul__", full)
        with pytest.raises(DataError, match=r"no memory left.*cache_size=1024 MB.*7\.00 GiB\.\)"):
            model.fit(rows, y)
    model.fit(rows, y)
    expected = model.decision_function(rows)
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "__matmul__", full)
        with pytest.raises(DataError, match=r"no memory left to score 60 rows"):
            model.decision_function(rows)
    assert torch.equal(model.decision_function(rows), expected)
