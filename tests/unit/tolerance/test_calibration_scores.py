"""Held-out scores: sorting, counting, ties that rounding must not split, groups."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from askew.exceptions import DataError
from askew.tolerance.calibration import Calibration, one_per_group
from askew.tolerance.threshold import empirical, exact


def test_counts_are_strictly_above():
    calibration = Calibration.of([3, 1, 2, 2, 2], positives=[2, 5])
    assert calibration.n == 5
    assert [calibration.negatives_above(x) for x in (0, 1, 2, 3)] == [5, 4, 1, 0]
    assert [calibration.positives_above(x) for x in (1, 2, 5)] == [2, 1, 0]


def test_threshold_is_the_order_statistic_up_to_rounding():
    scores = np.random.default_rng(0).normal(size=500)
    calibration = Calibration.of(scores)
    for k in (1, 250, 499, 500):
        placed = calibration.threshold(k)
        assert placed == pytest.approx(np.sort(scores)[k - 1], abs=1e-12)
        assert calibration.negatives_above(placed) == 500 - k


def test_narrow_floats_get_a_wider_margin():
    scores = np.linspace(0, 1, 1001)
    narrow, wide = Calibration.of(scores.astype(np.float32)), Calibration.of(scores)
    assert 0 < wide.threshold(900) - scores[899] < 1e-13
    assert 1e-6 < narrow.threshold(900) - scores[899] < 1e-4


def test_infinite_scores_leave_a_usable_threshold():
    calibration = Calibration.of([-np.inf, 0.0, 1.0, np.inf])
    assert calibration.threshold(4) == np.inf
    assert calibration.threshold(1) == -np.inf
    assert calibration.threshold(3) == pytest.approx(1.0)
    assert Calibration.of([-np.inf, -np.inf, 0.5]).threshold(3) == pytest.approx(0.5)


def test_an_atom_is_not_split_by_the_size_of_the_batch():
    # Few distinct rows, so whole atoms share a score; a row scored alone differs by some ulp from the same row
    # scored among many, and a bare order statistic would let part of the atom through.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (3000, 23)) * rng.random(23) * (np.arange(23) < 5) + 0.1
    y = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=3000) > 1.5
    model = LogisticRegression().fit(X, y)
    batch = model.decision_function(X)
    distinct = np.unique(X, axis=0, return_index=True)[1]
    alone = np.array([model.decision_function(X[i : i + 1])[0] for i in distinct])
    calibration = Calibration.of(batch)
    for row, score in zip(distinct, alone, strict=True):
        k = int(np.searchsorted(calibration.negatives, batch[row], side="right"))
        assert not score > calibration.threshold(k)
    if not (alone > batch[distinct]).any():
        pytest.skip("this machine rounds alike in every batch, so there was nothing to see")


def test_extension_equals_calibrating_on_everything():
    rng = np.random.default_rng(1)
    old, new = rng.normal(size=300), rng.normal(size=80)
    extended = Calibration.of(old, positives=[1.0]).extended(new)
    np.testing.assert_array_equal(extended.negatives, np.sort(np.concatenate([old, new])))
    assert extended.positives.tolist() == [1.0]


def test_a_group_counts_once_with_its_highest_score():
    scores = np.array([1.0, 5.0, 2.0, 3.0])
    assert one_per_group(scores, np.array([7, 9, 7, 9])).tolist() == [2.0, 5.0]
    assert one_per_group(scores, ["b", "a", "c", "b"]).tolist() == [5.0, 3.0, 2.0]
    assert one_per_group(np.empty(0), np.empty(0)).tolist() == []


def test_nan_scores_are_refused():
    with pytest.raises(DataError, match="2 of 3 calibration scores are NaN"):
        Calibration.of([np.nan, 1.0, np.nan])


def test_exact_and_empirical_thresholds():
    calibration = Calibration.of(np.arange(1, 1001))
    strict, loose = exact(calibration, 0.05, 0.95), empirical(calibration, 0.05)
    assert (strict.rank, loose.rank) == (962, 950)
    assert strict.guaranteed_rate <= 0.05
    assert loose.guaranteed_rate is None
    assert strict.expected_rate == pytest.approx(39 / 1001)
    # One tie of everything: no alarm at all, and the empirical rate honours the tolerance too.
    tied = Calibration.of(np.ones(1000))
    assert tied.negatives_above(exact(tied, 0.05, 0.95).value) == 0
    assert tied.negatives_above(empirical(tied, 0.05).value) == 0


@pytest.mark.parametrize("tolerance", [0.001, 0.07, 0.29, 0.5, 0.999])
@pytest.mark.parametrize("n", [1, 10, 100, 333])
def test_empirical_share_is_the_largest_within_the_tolerance(tolerance, n):
    calibration = Calibration.of(np.arange(n))
    above = calibration.negatives_above(empirical(calibration, tolerance).value)
    assert above / n <= tolerance + 1e-9
    assert above == n - 1 or (above + 1) / n > tolerance
