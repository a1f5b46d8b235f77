"""What CovarianceOneClassSVM promises on its training rows, at any eta, scale and tolerance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM


def outside(model, X):
    return float(np.mean(model.predict(X) == -1))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    nu=st.floats(0.02, 1.0),
    eta=st.one_of(st.just("auto"), st.floats(0.0, 1.0)),
    scale=st.sampled_from(["raw", "mean", "trace"]),
    kind=st.sampled_from(["plain", "modified"]),
    tol=st.sampled_from([1e-1, 1e-3, 1e-6]),
)
def test_never_more_than_nu_of_the_training_rows_are_outside(seed, n, nu, eta, scale, kind, tol):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * rng.choice([1e-3, 1.0, 1e3])
    model = CovarianceOneClassSVM(eta, nu, covariance_scale=scale, score_kernel=kind, tol=tol).fit(X)
    assert outside(model, X) <= nu + 1e-9


@pytest.mark.parametrize("scale", ["raw", "mean", "trace"])
@pytest.mark.parametrize("eta", [0.1, 0.5, 0.9])
def test_modified_scores_have_close_to_nu_outside(eta, scale):
    X = np.random.default_rng(0).normal(size=(1500, 2)) * [1.0, 3.0]
    for nu in (0.05, 0.2):
        model = CovarianceOneClassSVM(eta, nu, covariance_scale=scale, score_kernel="modified").fit(X)
        assert outside(model, X) == pytest.approx(nu, abs=0.015)


def test_the_outlier_fraction_falls_with_eta_on_a_gaussian():
    """The paper's figure 2 in numbers: N = 200, nu = 0.2, raw covariance; .175, .10, .03 at 1, .8, .5 of one set."""
    fractions = []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        row = []
        for eta in (1.0, 0.8, 0.5, 0.2):
            model = CovarianceOneClassSVM(eta, 0.2, covariance_scale="raw").fit(X)
            row.append(model.eta_path_["outlier_fraction"][0])
        fractions.append(row)
    at = np.median(fractions, axis=0)
    assert at[0] == pytest.approx(0.175, abs=0.015)
    assert at[0] > at[1] > at[2] > at[3]
    assert at[1] == pytest.approx(0.10, abs=0.07)
    assert at[2] == pytest.approx(0.03, abs=0.03)


def test_the_raw_rule_is_not_a_law_and_the_model_is_sound_all_the_same():
    """Where the fraction rises to 1 as eta falls, a given eta still gives a model that rejects nu of its rows."""
    X = np.random.default_rng(0).normal(size=(200, 6))
    model = CovarianceOneClassSVM(0.3, 0.2, covariance_scale="raw").fit(X)
    assert model.eta_path_["outlier_fraction"][0] > 0.5
    assert model.offset_rule_ == "quantile"
    assert 0.19 <= outside(model, X) <= 0.2
    chosen = CovarianceOneClassSVM(covariance_scale="raw").fit(X)
    assert chosen.eta_rule_ == "least"
    assert outside(chosen, X) <= 0.2


def test_default_eta_travels_between_sizes():
    """The same distribution at eight times the rows: the share chosen stays, where the raw scale's moves away."""
    X = np.random.default_rng(2).normal(size=(2400, 3)) * [1.0, 2.0, 0.5]
    chosen = {
        scale: [CovarianceOneClassSVM(covariance_scale=scale, gamma=0.3).fit(X[:n]).eta_ for n in (300, 2400)]
        for scale in ("trace", "raw")
    }
    assert chosen["trace"][0] == pytest.approx(chosen["trace"][1], abs=0.08)
    assert chosen["raw"][0] != pytest.approx(chosen["raw"][1], abs=0.08)
