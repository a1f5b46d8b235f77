"""t-AUC against scikit-learn's partial AUC, against counting, and its refusals."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import cross_val_score

from askew.exceptions import DataError, ParameterError
from askew.metrics import RocCurve, tolerance_auc, tolerance_auc_score


def draw(seed, *, n=200, tied=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = [False, True]
    score = rng.normal(size=n) + y
    return y, np.round(score, 0) if tied else score


def sklearn_partial_area(y, score, tolerance, sample_weight=None):
    """Undo the standardisation of McClish that scikit-learn applies."""
    standardised = roc_auc_score(y, score, max_fpr=tolerance, sample_weight=sample_weight)
    least, most = tolerance**2 / 2, tolerance
    return least + (2 * standardised - 1) * (most - least)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("tolerance", [0.003, 0.05, 0.1, 0.37, 0.99])
def test_equals_scikit_learn_without_its_standardisation(tolerance, tied):
    for seed in range(20):
        y, score = draw(seed, tied=tied)
        assert tolerance_auc_score(y, score, tolerance) == pytest.approx(
            sklearn_partial_area(y, score, tolerance), abs=1e-12
        )


def test_whole_area_is_the_auc():
    y, score = draw(0, tied=True)
    assert tolerance_auc_score(y, score, 1.0) == pytest.approx(roc_auc_score(y, score), abs=1e-14)


def test_weights_are_repetition():
    rng = np.random.default_rng(3)
    y, score = draw(3, tied=True)
    weight = rng.integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    weighted = tolerance_auc_score(y, score, 0.2, sample_weight=weight)
    assert weighted == pytest.approx(tolerance_auc_score(y[repeated], score[repeated], 0.2), abs=1e-13)
    assert weighted == pytest.approx(sklearn_partial_area(y, score, 0.2, weight), abs=1e-12)


def test_interpolates_inside_a_segment_of_ties():
    # One tie of everything: the diagonal, whose area up to t is t²/2.
    assert tolerance_auc_score([0, 0, 1, 1], [7, 7, 7, 7], 0.3) == pytest.approx(0.045)
    # Perfect ranking reaches t, the worst one 0.
    assert tolerance_auc_score([0, 0, 1, 1], [1, 2, 3, 4], 0.3) == pytest.approx(0.3)
    assert tolerance_auc_score([1, 1, 0, 0], [1, 2, 3, 4], 0.3) == 0.0


def test_normalised_is_the_mean_tpr():
    y, score = draw(1)
    raw = tolerance_auc_score(y, score, 0.25)
    assert tolerance_auc_score(y, score, 0.25, normalize=True) == pytest.approx(raw / 0.25)


def test_curve_area_agrees_with_the_fast_core():
    for seed in range(20):
        y, score = draw(seed, tied=seed % 2 == 0)
        for tolerance in (0.01, 0.2, 1.0):
            assert RocCurve.of(y, score).area(tolerance) == pytest.approx(
                float(tolerance_auc(y, score, tolerance)), abs=1e-13
            )


def test_many_columns_at_once():
    rng = np.random.default_rng(5)
    y, _ = draw(5)
    scores = rng.normal(size=(len(y), 7))
    scores[:, 3:] = np.round(scores[:, 3:], 0)
    scores[:, 0] = 1.0
    weight = rng.random(len(y))
    together = tolerance_auc(y, scores, 0.15, weight)
    alone = [float(tolerance_auc(y, column, 0.15, weight)) for column in scores.T]
    np.testing.assert_allclose(together, alone, atol=1e-14)


def test_infinite_scores_rank_as_such():
    assert tolerance_auc_score([0, 1, 1], [0.0, np.inf, -np.inf], 1.0) == pytest.approx(0.5)


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True], ["ham", "spam"]])
def test_positive_is_the_greater_label_unless_named(labels):
    y, score = draw(2)
    named = np.asarray(labels)[y.astype(int)]
    expected = tolerance_auc_score(y, score, 0.1)
    assert tolerance_auc_score(named, score, 0.1) == expected
    flipped = tolerance_auc_score(named, -score, 0.1, pos_label=labels[0])
    assert flipped == pytest.approx(tolerance_auc_score(~y, -score, 0.1))


def test_serves_as_a_scorer_with_string_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0.5, "rare", "common")
    scorer = make_scorer(
        tolerance_auc_score,
        response_method=("decision_function", "predict_proba"),
        tolerance=0.1,
        normalize=True,
    )
    assert cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3).min() > 0.5


@pytest.mark.parametrize("tolerance", [0, -0.1, 1.5, 5, np.nan, "a", None])
def test_refuses_a_tolerance_outside_its_bounds(tolerance):
    with pytest.raises(ParameterError, match=r"tolerance=.*\(0, 1\]"):
        tolerance_auc_score([0, 1], [0, 1], tolerance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 1], [0.1, 0.2]), "only the class 1 in 2 rows"),
        (([0, 1, 2], [0.1, 0.2, 0.3]), "3 classes"),
        (([0, 1], [0.1, np.nan]), "1 NaN of 2 scores"),
        (([0, 1, 1], [0.1, 0.2]), r"shape \(2,\); got shape \(3,\)"),
        (([0, 1], [[0.1, 0.9], [0.2, 0.8]]), "column of the positive class"),
        (([0.0, np.nan], [0.1, 0.2]), "NaN or infinity"),
        (([0, 1], ["a", "b"]), "must be numbers"),
    ],
)
def test_refuses_data_it_cannot_rank(arguments, message):
    with pytest.raises(DataError, match=message):
        tolerance_auc_score(*arguments, 0.5)


@pytest.mark.parametrize(
    ("weight", "message"),
    [([1.0], "one weight per row"), ([1.0, -1.0], "not negative"), ([0.0, 1.0], "one class only")],
)
def test_refuses_weights_it_cannot_use(weight, message):
    with pytest.raises(DataError, match=message):
        tolerance_auc_score([0, 1], [0.1, 0.2], 0.5, sample_weight=weight)


def test_refuses_a_positive_label_that_is_not_there():
    with pytest.raises(ParameterError, match=r"pos_label='x' must be one of the labels \[0, 1\]"):
        tolerance_auc_score([0, 1], [0.1, 0.2], 0.5, pos_label="x")
