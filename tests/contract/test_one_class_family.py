"""What scikit-learn and a user ask of the one-class family, asked of every member alike."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew import SVDD, OneClassSVM
from askew.estimators import GaussianDescription, KNNDescription, ParzenDescription
from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from askew.exceptions import AskewError, ParameterError

MACHINES = [OneClassSVM(nu=0.2), SVDD(nu=0.2), CovarianceOneClassSVM(), CovarianceOneClassSVM(score_kernel="modified")]
DESCRIPTIONS = [KNNDescription(), ParzenDescription(), GaussianDescription()]
FAMILY = MACHINES + DESCRIPTIONS


def named(model):
    return f"{type(model).__name__}{'-modified' if getattr(model, 'score_kernel', '') == 'modified' else ''}"


every_member = pytest.mark.parametrize("model", FAMILY, ids=named)


@parametrize_with_checks(
    [
        CovarianceOneClassSVM(),
        CovarianceOneClassSVM(0.5, score_kernel="modified", covariance_scale="raw"),
        CovarianceOneClassSVM(kernel="linear"),
        *DESCRIPTIONS,
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 3.0, 0.3] + 1.0


@every_member
def test_one_interface(model, X):
    fitted = clone(model).fit(X)
    scores = fitted.score_samples(X)
    np.testing.assert_array_equal(fitted.decision_function(X), scores - fitted.offset_)
    np.testing.assert_array_equal(fitted.predict(X), np.where(scores - fitted.offset_ >= 0, 1, -1))
    np.testing.assert_array_equal(clone(model).fit_predict(X), fitted.predict(X))
    assert np.mean(fitted.predict(X) == -1) <= 0.2 + 1e-9
    assert fitted.predict([[50.0, -50.0, 50.0]])[0] == -1
    assert fitted.predict(X.mean(axis=0)[None])[0] == 1


@every_member
def test_an_outlier_along_the_narrow_direction_is_found(model, X):
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X)
    assert pipeline.predict([[1.0, 1.0, 1.0 + 0.3 * 6]])[0] == -1


@every_member
def test_a_weight_equals_a_repetition(model, X):
    weight = np.random.default_rng(1).integers(0, 4, 200)
    some = X[:200]
    if hasattr(model, "tol"):
        model = clone(model).set_params(tol=1e-8)
    weighted = clone(model).fit(some, sample_weight=weight).decision_function(X)
    repeated = clone(model).fit(some.repeat(weight, axis=0)).decision_function(X)
    if isinstance(model, ParzenDescription):  # KernelDensity's sums keep sixteen digits of the largest, e^-36
        weighted, repeated = np.maximum(weighted, -20.0), np.maximum(repeated, -20.0)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6 * np.abs(repeated).max())


@pytest.mark.parametrize("fraction", [0.0, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("model", DESCRIPTIONS, ids=named)
def test_descriptions_reject_the_fraction_asked_for(model, fraction, X):
    """Of new rows of the same kind about the fraction, of the training rows at most that."""
    model = clone(model).set_params(fraction_rejected=fraction).fit(X)
    assert np.mean(model.predict(X) == -1) <= fraction
    new = np.random.default_rng(5).normal(size=(3000, 3)) * [1.0, 3.0, 0.3] + 1.0
    assert np.mean(model.predict(new) == -1) == pytest.approx(fraction, abs=0.06)


@every_member
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_give_the_same_scores(model, library, X):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({name: X[:, k] for k, name in enumerate("abc")})
    fitted = clone(model).fit(frame)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_allclose(fitted.score_samples(frame), clone(model).fit(X).score_samples(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("kind", ["plain", "modified"])
def test_sparse_and_dense_input_score_alike(kernel, kind, X):
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    gamma = 0.02 if kernel == "sigmoid" else 0.2
    model = CovarianceOneClassSVM(0.6, kernel=kernel, gamma=gamma, score_kernel=kind, tol=1e-5)
    dense, packed = clone(model).fit(X), clone(model).fit(sparse.csr_array(X))
    expected = dense.decision_function(X)
    for scores in (packed.decision_function(sparse.csr_array(X)), packed.decision_function(X)):
        np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("model", [KNNDescription(), GaussianDescription()], ids=named)
def test_descriptions_that_take_sparse_input_score_it_alike(model, X):
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    packed = clone(model).fit(sparse.csr_array(X)).decision_function(sparse.csr_array(X))
    np.testing.assert_allclose(packed, clone(model).fit(X).decision_function(X), rtol=1e-8, atol=1e-8)


def test_a_precomputed_kernel_equals_the_kernel(X):
    train, test = X[:250], X[250:]
    for kind in ("plain", "modified"):
        plain = CovarianceOneClassSVM(gamma=0.3, score_kernel=kind).fit(train)
        given = CovarianceOneClassSVM(kernel="precomputed", score_kernel=kind).fit(rbf_kernel(train, gamma=0.3))
        scores = given.decision_function(rbf_kernel(test, train, gamma=0.3))
        np.testing.assert_allclose(scores, plain.decision_function(test), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_eta_one_is_scikit_learns_one_class_svm(kernel, X):
    """In LIBSVM's units: coefficients between 0 and 1, their sum nu · n (not whole, so that the offset is unique)."""
    options = {"kernel": kernel, "gamma": 0.3, "coef0": 1.0, "degree": 2}
    X = X[:, :2] + 2.0
    ours = CovarianceOneClassSVM(1.0, 0.2051, tol=1e-8, **options).fit(X)
    theirs = svm.OneClassSVM(nu=0.2051, tol=1e-8, **options).fit(X)
    scale = np.abs(theirs.score_samples(X)).max()
    np.testing.assert_allclose(ours.score_samples(X) / scale, theirs.score_samples(X) / scale, atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X) / scale, theirs.decision_function(X) / scale, atol=1e-5)
    assert ours.dual_coef_.sum() == pytest.approx(0.2051 * len(X))
    assert ours.eta_rule_ == "given"


@pytest.mark.parametrize("how", ["formed", "sketched", "by rows"])
def test_the_road_to_a_fit_does_not_show(how, monkeypatch):
    from askew.kernels.kernel_covariance import KernelCovariance

    X = np.random.default_rng(3).normal(size=(900, 4))
    expected = CovarianceOneClassSVM(0.4, tol=1e-7).fit(X)
    monkeypatch.setattr(KernelCovariance, "pays_to_form", lambda *_: how == "formed")
    if how == "by rows":
        monkeypatch.setattr("askew.kernels.RBF.is_psd", False)
    model = CovarianceOneClassSVM(0.4, tol=1e-7).fit(X)
    assert model.kkt_violation_ <= 1.01e-7 * 1.01
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("eta", [0.05, 0.5, "auto"])
@pytest.mark.parametrize("scale", ["trace", "raw"])
def test_float32_passes_do_not_show(eta, scale):
    """Beyond a thousand rows the rounds run in float32: their end is judged in float64 and agrees with a tight fit."""
    X = np.random.default_rng(4).normal(size=(1400, 5)) * [3.0, 1.0, 1.0, 0.5, 0.2]
    rough = CovarianceOneClassSVM(eta, covariance_scale=scale, gamma=0.1).fit(X)
    tight = CovarianceOneClassSVM(rough.eta_, covariance_scale=scale, gamma=0.1, tol=1e-6).fit(X)
    assert rough.status_ == tight.status_ == "optimal"
    assert rough.covariance_scale_ == pytest.approx(tight.covariance_scale_, rel=1e-5)
    objectives = [
        model.eta_path_["objective"][list(model.eta_path_["eta"]).index(rough.eta_)] for model in (rough, tight)
    ]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-5)
    spread = np.ptp(tight.decision_function(X))
    np.testing.assert_allclose(rough.score_samples(X), tight.score_samples(X), atol=2e-2 * spread)


class TestPath:
    def test_it_is_kept_for_inspection(self, X):
        model = CovarianceOneClassSVM().fit(X)
        path = model.eta_path_
        assert set(path) == {"eta", "outlier_fraction", "objective"}
        assert len({len(values) for values in path.values()}) == 1
        assert model.eta_ in path["eta"]
        assert model.eta_rule_ == "reached"
        chosen = path["outlier_fraction"][list(path["eta"]).index(model.eta_)]
        assert chosen <= 0.1
        assert np.mean(model.predict(X) == -1) == pytest.approx(chosen)

    def test_a_refit_at_the_chosen_eta_is_the_same_model(self, X):
        walked = CovarianceOneClassSVM(tol=1e-6).fit(X)
        given = CovarianceOneClassSVM(walked.eta_, tol=1e-6).fit(X)
        np.testing.assert_allclose(walked.decision_function(X), given.decision_function(X), atol=1e-4)

    @pytest.mark.parametrize("model", [OneClassSVM(nu=0.2), SVDD(nu=0.2), CovarianceOneClassSVM()], ids=named)
    def test_gamma_by_support_vectors_serves_all(self, model, X):
        fitted = clone(model).set_params(gamma="support").fit(X)
        assert fitted.gamma_ in fitted.gamma_path_["gamma"]
        same = clone(model).set_params(gamma=fitted.gamma_).fit(X)
        np.testing.assert_allclose(fitted.decision_function(X), same.decision_function(X), atol=1e-3)


class TestErrors:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"eta": 1.5}, "eta"),
            ({"eta": "best"}, "eta"),
            ({"nu": 0.0}, "nu"),
            ({"covariance_scale": "sum"}, "covariance_scale"),
            ({"outlier_fraction": -0.1}, "outlier_fraction"),
            ({"score_kernel": "bent"}, "score_kernel"),
            ({"gamma": "support", "kernel": "poly"}, 'gamma="support" is a rule for kernel="rbf"; got kernel=\'poly\''),
        ],
    )
    def test_parameters_outside_their_bounds_are_named(self, settings, message, X):
        with pytest.raises(ParameterError, match=message):
            CovarianceOneClassSVM(**settings).fit(X)

    @pytest.mark.parametrize(
        "model",
        [KNNDescription(0), KNNDescription(fraction_rejected=1.0), ParzenDescription(-1.0), GaussianDescription(0.0)],
        ids=named,
    )
    def test_descriptions_name_them_too(self, model, X):
        with pytest.raises(ParameterError):
            model.fit(X)

    @every_member
    def test_a_failed_fit_leaves_the_model_as_it_was(self, model, X):
        model = clone(model)
        with pytest.raises((ValueError, AskewError)):
            model.fit(np.full((5, 3), np.nan))
        with pytest.raises(NotFittedError):
            model.predict(X)
        scores = model.fit(X).decision_function(X)
        with pytest.raises((ValueError, AskewError)):
            model.fit(np.full((5, 3), np.nan))
        np.testing.assert_array_equal(model.decision_function(X), scores)

    @every_member
    def test_weights_of_zero_everywhere_are_refused(self, model, X):
        with pytest.raises(ValueError, match="at least one"):
            clone(model).fit(X, sample_weight=np.zeros(len(X)))

    @every_member
    def test_wrong_columns_are_refused_at_scoring(self, model, X):
        with pytest.raises(ValueError, match="features"):
            clone(model).fit(X).predict(X[:, :2])

    @every_member
    def test_rows_that_are_all_alike_give_a_model(self, model):
        alike = np.ones((12, 2))
        fitted = clone(model).fit(alike)
        np.testing.assert_array_equal(fitted.predict(alike), 1)


def test_parzen_takes_the_likeliest_width():
    """For a Gaussian the width that is best in expectation is near Scott's, far from either end of the grid."""
    X = np.random.default_rng(4).normal(size=(400, 1))
    width = ParzenDescription().fit(X).bandwidth_
    assert 0.1 < width < 0.8
    assert ParzenDescription(0.123).fit(X).bandwidth_ == 0.123


def test_the_gaussian_is_the_density(X):
    from scipy.stats import multivariate_normal

    model = GaussianDescription().fit(X)
    expected = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-4, atol=1e-3)


def test_neighbours_are_counted_without_oneself(X):
    """k = 1: the threshold is a quantile of the distances to the nearest other row."""
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)[0][:, 1]
    model = KNNDescription(1, fraction_rejected=0.1).fit(X)
    assert np.mean(-nearest < model.offset_) == pytest.approx(0.1, abs=1 / len(X))


def test_score_is_another_name_of_score_kernel():
    X = np.random.default_rng(0).normal(size=(60, 2))
    named = CovarianceOneClassSVM(eta=0.5, score="modified").fit(X)
    stored = CovarianceOneClassSVM(eta=0.5, score_kernel="modified").fit(X)
    np.testing.assert_array_equal(named.decision_function(X), stored.decision_function(X))
    assert named.set_params(score="plain").get_params()["score_kernel"] == "plain"
    with pytest.raises(ParameterError, match="two names of one parameter"):
        CovarianceOneClassSVM(score="plain", score_kernel="plain")
