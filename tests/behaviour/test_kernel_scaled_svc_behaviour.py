"""What a user meets: errors that say what to do, searches that say what they did, gains that are there."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score

from askew.datasets import make_ring
from askew.estimators.kernel_scaled_svc import KernelScaledSVC
from askew.estimators.svc import SVC
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.methods.kernel_scaling_rules import SCALINGS

X, Y = make_classification(240, 4, n_informative=3, n_redundant=0, weights=[0.85], class_sep=0.6, random_state=3)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 1.0}, "k=1.0 has no meaning for scaling='asymmetric', which is set by k_majority and k_minority"),
        ({"scaling": "symmetric", "k_minority": 1.0}, "k_minority=1.0 has no meaning for scaling='symmetric'"),
        ({"scaling": "sideways"}, "'scaling' parameter"),
        ({"k_majority": -1.0}, "'k_majority' parameter"),
        ({"k_majority": "large"}, "'k_majority' parameter"),
        ({"scaling": "support", "k": -0.1}, "'k' parameter"),
        ({"max_scalings": 0}, "'max_scalings' parameter"),
        ({"n_folds": 1}, "'n_folds' parameter"),
        ({"tolerance": 0.0}, "'tolerance' parameter"),
        ({"C": 0.0}, "'C' parameter"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, words):
    with pytest.raises(ParameterError) as error:
        KernelScaledSVC(**parameters).fit(X, Y)
    assert words in str(error.value)


def test_one_class_only():
    with pytest.raises(DataError, match=r"at least two classes with positive weight; got one class, 0\. .*OneClassSVM"):
        KernelScaledSVC().fit(X, np.zeros(len(X), int))
    with pytest.raises(DataError, match="got one class"):
        KernelScaledSVC().fit(X, Y, sample_weight=Y.astype(float))


def test_a_precomputed_kernel_without_a_constant_diagonal_cannot_measure_distances():
    K = X @ X.T
    for scaling in ("support", "adaptive", "boundary"):
        with pytest.raises(DataError, match=rf"scaling='{scaling}' measures distances.*Divide k"):
            KernelScaledSVC(scaling=scaling, k=1.0, kernel="precomputed").fit(K, Y)
    KernelScaledSVC(scaling="symmetric", k=1.0, kernel="precomputed").fit(K, Y)


def test_a_strength_that_leaves_nothing_is_refused_and_leaves_the_earlier_model():
    separate = X + 6.0 * Y[:, None]
    model = KernelScaledSVC(C=10.0, k_majority=1e6, k_minority=1e6)
    model.set_params(k_majority=0.0, k_minority=0.0).fit(separate, Y)
    scores = model.decision_function(separate)
    with pytest.raises(InfeasibleError, match=r"rows of the minority class out of the kernel.*Choose a smaller k"):
        model.set_params(k_majority=1e6, k_minority=1e6).fit(separate, Y)
    assert (model.decision_function(separate) == scores).all()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_two_rows_are_enough(scaling):
    """One support vector per class: every neighbourhood is empty."""
    strengths = {"k_majority": 1.0, "k_minority": 1.0} if scaling == "asymmetric" else {"k": 1.0}
    model = KernelScaledSVC(scaling=scaling, gamma=1.0, **strengths).fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    assert KernelScaledSVC(scaling=scaling).fit([[0.0], [1.0]], [0, 1]).predict([[1.0]]).tolist() == [1]


@pytest.mark.parametrize("scaling", ["support", "adaptive", "boundary"])
@pytest.mark.parametrize("k", [1.0, 1e4])
def test_rows_of_both_classes_at_one_place_do_not_break_the_widths(scaling, k):
    points = np.repeat([[0.0], [0.0], [3.0]], 4, axis=0)
    labels = np.repeat([0, 1, 1], 4)
    model = KernelScaledSVC(scaling=scaling, k=k, gamma=0.5).fit(points, labels)
    assert np.isfinite(model.decision_function([[0.0], [1.5], [1e3]])).all()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_far_away_the_score_is_finite(scaling):
    strengths = {"k_majority": 30.0, "k_minority": 30.0} if scaling == "asymmetric" else {"k": 10.0}
    model = KernelScaledSVC(C=10.0, scaling=scaling, **strengths).fit(X, Y)
    assert np.isfinite(model.decision_function(np.array([[1e3] * 4, [-1e6] * 4]))).all()


def test_the_search_says_what_it_measured():
    model = KernelScaledSVC(C=10.0).fit(X, Y)
    (found,) = model.search_
    assert found.candidates[0] == (0.0, 0.0)
    assert found.chosen == (model.k_majority_[0], model.k_minority_[0])
    assert found.gains[0] == found.errors[0] == 0.0
    best = found.gains - found.errors
    assert best[found.candidates.index(found.chosen)] == best.max()
    assert (found.n_rows, found.n_folds) == (len(X), 5)


def test_one_of_two_strengths_can_be_fixed():
    model = KernelScaledSVC(C=10.0, k_minority=2.0).fit(X, Y)
    assert model.k_minority_.tolist() == [2.0]
    assert len(model.search_[0].candidates) < 6
    assert KernelScaledSVC(k_majority=1.0, k_minority=2.0).fit(X, Y).search_ == [None]


def test_the_search_can_look_at_t_auc():
    model = KernelScaledSVC(C=10.0, scoring="tolerance_auc", tolerance=0.2).fit(X, Y)
    other = KernelScaledSVC(C=10.0).fit(X, Y)
    assert not np.array_equal(model.search_[0].gains, other.search_[0].gains)


def test_scaling_moves_the_boundary_back_from_the_rare_class():
    """AKS as the paper describes it: fewer rare rows are missed, on rows that were not seen."""
    train, test = make_ring(500, rare=0.06, random_state=0), make_ring(4000, rare=0.06, random_state=1)
    plain = SVC(C=10.0).fit(train.X, train.y).predict(test.X)
    scaled = KernelScaledSVC(C=10.0, k_majority=10.0, k_minority=0.0).fit(train.X, train.y).predict(test.X)
    assert np.mean(scaled[test.y == 1] == 1) > np.mean(plain[test.y == 1] == 1)
    assert balanced_accuracy_score(test.y, scaled) > balanced_accuracy_score(test.y, plain)


@pytest.mark.parametrize("seed", range(3))
def test_auto_is_not_markedly_worse_than_svc(seed):
    train, test = make_ring(300, rare=0.1, random_state=seed), make_ring(3000, rare=0.1, random_state=99 + seed)
    score = [
        balanced_accuracy_score(test.y, model.fit(train.X, train.y).predict(test.X))
        for model in (SVC(C=10.0), KernelScaledSVC(C=10.0))
    ]
    assert score[1] > score[0] - 0.02


def test_scaling_can_go_on_until_it_rests():
    once = KernelScaledSVC(C=10.0, scaling="support", k=1.0).fit(X, Y)
    more = KernelScaledSVC(C=10.0, scaling="support", k=1.0, max_scalings=50).fit(X, Y)
    assert once.n_scalings_.tolist() == [1]
    assert 1 < more.n_scalings_[0] < 50


def test_a_limit_of_steps_is_said():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = KernelScaledSVC(C=10.0, k_majority=1.0, k_minority=1.0, max_iter=3).fit(
            np.tile(X, (3, 1)), np.tile(Y, 3)
        )
    assert model.status_ == "max_iter"


def test_the_score_before_bending_is_that_of_svc():
    model = KernelScaledSVC(C=10.0, scaling="adaptive", k=1.0).fit(X, Y)
    plain = SVC(C=10.0).fit(X, Y)
    np.testing.assert_allclose(model.plain_decision_function(X), plain.decision_function(X), atol=1e-10)


def test_a_bent_linear_kernel_has_no_weights_of_features():
    X, y = make_classification(200, weights=[0.8], random_state=0)
    model = KernelScaledSVC(kernel="linear", k_majority=1.0, k_minority=0.5).fit(X, y)
    with pytest.raises(AttributeError, match="not linear in the features"):
        _ = model.coef_
