"""Bad input gets a message that says what, the bound, the value got and the remedy, and leaves nothing half-fitted."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from askew import SVC, SVDD, OneClassSVM
from askew.exceptions import AskewError, DataError, ParameterError

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2
ALL = [SVC, OneClassSVM, SVDD]


def fit(model, X=X, y=y, **options):
    return model.fit(X, y, **options)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize(
    ("bad", "said"), [(np.nan, "contains NaN"), (np.inf, "contains infinity"), (-np.inf, "contains infinity")]
)
def test_nan_and_infinity_are_named(make, bad, said):
    broken = X.copy()
    broken[7, 1] = bad
    with pytest.raises(ValueError, match=said):
        fit(make(), broken)
    model = fit(make())
    with pytest.raises(ValueError, match=said):
        model.decision_function(broken)


def test_one_class_only_names_the_class_and_the_way_out():
    with pytest.raises(DataError, match=r"at least two classes.*got one class, 3.*OneClassSVM"):
        fit(SVC(), y=np.full(40, 3))
    with pytest.raises(DataError, match="got one class"):
        fit(SVC(), sample_weight=(y == 1).astype(float))


@pytest.mark.parametrize("make", ALL)
def test_empty_data(make):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        fit(make(), X[:0], y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        fit(make(), X[:, :0])


@pytest.mark.parametrize("make", ALL)
def test_wrong_width_at_scoring(make):
    model = fit(make())
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        model.predict(X[:, :2])


@pytest.mark.parametrize("make", ALL)
def test_weights(make):
    with pytest.raises(ValueError, match="Negative values"):
        fit(make(), sample_weight=-np.ones(40))
    with pytest.raises(DataError, match="at least one positive entry"):
        fit(make(), sample_weight=np.zeros(40))
    with pytest.raises(ValueError, match=r"inconsistent|shape"):
        fit(make(), sample_weight=np.ones(39))


@pytest.mark.parametrize("C", [0, -1.0, np.nan])
def test_cost_must_be_positive(C):
    with pytest.raises(ParameterError, match="'C' parameter of SVC must be"):
        fit(SVC(C=C))


@pytest.mark.parametrize("make", [OneClassSVM, SVDD])
@pytest.mark.parametrize("nu", [0, -0.1, 1.1])
def test_nu_must_be_a_fraction(make, nu):
    with pytest.raises(ParameterError, match=r"'nu' parameter .* range \(0(\.0)?, 1(\.0)?\]"):
        fit(make(nu=nu))


@pytest.mark.parametrize("make", ALL)
def test_unknown_words(make):
    with pytest.raises(ParameterError, match=r"'kernel' parameter .* 'gauss'"):
        fit(make(kernel="gauss"))
    with pytest.raises(ParameterError, match="'gamma' parameter"):
        fit(make(gamma="wide"))
    with pytest.raises(ParameterError, match="'gamma' parameter"):
        fit(make(gamma=-1.0))


def test_class_weight_must_name_known_classes():
    with pytest.raises(ParameterError, match=r"names 7, which is not among the classes of y: \[0, 1\]"):
        fit(SVC(class_weight={7: 2.0}))
    with pytest.raises(ParameterError, match="positive and finite"):
        fit(SVC(class_weight={0: -2.0}))


def test_precomputed_kernels_must_be_square_and_symmetric():
    with pytest.raises(DataError, match=r"square matrix .* got shape \(40, 3\)"):
        fit(SVC(kernel="precomputed"))
    K = X @ X.T
    K[0, 1] += 1.0
    with pytest.raises(DataError, match="differs from its transpose by 1"):
        fit(SVC(kernel="precomputed"), K)
    with pytest.raises(ParameterError, match=r"SVDD does not take kernel=.precomputed"):
        fit(SVDD(kernel="precomputed"), X @ X.T)


def test_values_beyond_float64_are_an_error_with_a_remedy():
    with pytest.raises(DataError, match=r"not finite.*Scale the features"):
        fit(SVC(kernel="poly", degree=30, gamma=1.0), X * 1e12)


def test_a_failed_fit_leaves_no_half_fitted_model():
    model = SVC()
    with pytest.raises(AskewError):
        model.fit(X, np.zeros(40))
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("make", ALL)
def test_too_few_iterations_warn_and_say_how_far_it_came(make):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 steps, at a KKT violation of .* tol=0.001"):
        model = fit(make(max_iter=1, nu=0.5) if make is not SVC else make(max_iter=1))
    assert model.status_ == "max_iter"
    assert model.fit_status_ == 1
    assert np.all(model.dual_gap_ > 0)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_sigmoid_kernel_ends_and_says_what_it_is():
    model = fit(SVC(kernel="sigmoid", gamma=5.0, coef0=-1.0))
    assert model.status_ == "stationary"
    assert fit(SVC()).status_ == "optimal"


def test_coef_is_for_linear_kernels():
    with pytest.raises(AttributeError, match='kernel="linear" only'):
        _ = fit(SVC()).coef_
    model = fit(SVC(kernel="linear"))
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, model.decision_function(X), atol=1e-10)
