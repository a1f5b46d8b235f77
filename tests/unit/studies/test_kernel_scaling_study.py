"""The pieces of the kernel scaling study: thinning, the grid, contestants and measures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from askew import SVC, KernelScaledSVC
from askew.datasets import make_two_gaussians
from askew.exceptions import DataError
from studies.kernel_scaling.experiment import STRENGTHS, cells, compare, measures, scores_on_grid, surface
from studies.kernel_scaling.methods import AccuracySearched, MovedSVC, accuracy_gain, as_in_the_paper
from studies.kernel_scaling.paper import REMOVED, C
from studies.kernel_scaling.sets import Fold, folds, in_units, thinned
from studies.kernel_scaling.summary import _surface
from studies.kernel_scaling.tables import ORDER


@pytest.fixture(scope="module")
def fold() -> Fold:
    train, test = (make_two_gaussians(n, rare=0.15, random_state=seed) for n, seed in ((90, 0), (60, 1)))
    return Fold(train.X, train.y, test.X, test.y)


def test_only_minority_rows_go_and_what_went_stays_away():
    y = np.array([1] * 48 + [-1] * 147)
    kept = [set(thinned(y, removed, repeat=3)) for removed in REMOVED]
    assert [len(rows) for rows in kept] == [195, 171, 159, 153]
    assert all(later < earlier for earlier, later in itertools.pairwise(kept))
    assert all({*range(48, 195)} <= rows for rows in kept)
    assert set(thinned(y, 42, repeat=4)) != kept[-1]


def test_units_come_from_the_training_part(fold):
    shifted = in_units(Fold(fold.X, fold.y, fold.test + 100, fold.truth), "standard")
    np.testing.assert_allclose(shifted.X.mean(axis=0), 0, atol=1e-12)
    assert shifted.test.min() > 10


def test_the_grid_is_the_estimator_at_fixed_strengths(fold):
    scores = scores_on_grid(fold, 0.5)
    assert scores.shape == (len(STRENGTHS), len(STRENGTHS), len(fold.test))
    plain = SVC(C=C, gamma=0.5).fit(fold.X, fold.y)
    np.testing.assert_allclose(scores[0, 0], plain.decision_function(fold.test), atol=5e-3)
    i, j = STRENGTHS.index(3.16), STRENGTHS.index(0.316)
    bent = KernelScaledSVC(C=C, gamma=0.5, k_majority=3.16, k_minority=0.316).fit(fold.X, fold.y)
    np.testing.assert_allclose(scores[i, j], bent.decision_function(fold.test))
    assert np.abs(scores[i, j] - scores[0, 0]).max() > 0.01


def test_the_papers_strengths_bend_next_to_nothing(fold):
    """k of 1e-5 in units of f², where f is at most a few: D is 1 to four digits."""
    plain = SVC(C=C, gamma=0.5).fit(fold.X, fold.y)
    model = as_in_the_paper(fold, plain).fit(fold.X, fold.y)
    np.testing.assert_allclose(model.decision_function(fold.test), plain.decision_function(fold.test), atol=5e-3)


def test_accuracy_decides_the_search(fold):
    scores, y = np.array([[1.0, 1.0, -1.0, 1.0], [-1.0, -1.0, -1.0, 1.0]]), np.array([-1.0, -1.0, -1.0, 1.0])
    gains, errors = accuracy_gain(scores, y, np.ones(4), np.zeros(4))
    np.testing.assert_allclose(gains, [0.0, 0.5])
    np.testing.assert_array_equal(errors, 0)
    found = AccuracySearched(C=C, gamma=0.5).fit(fold.X, fold.y).search_[0]
    assert found.gains.max() == found.gains[found.candidates.index(found.chosen)]


def test_a_moved_threshold_finds_more_of_the_rare(fold):
    plain, moved = (kind(C=0.1, gamma=0.5).fit(fold.X, fold.y) for kind in (SVC, MovedSVC))
    np.testing.assert_allclose(plain.decision_function(fold.test), moved.decision_function(fold.test))
    assert np.sum(moved.predict(fold.test) == 1) > np.sum(plain.predict(fold.test) == 1)


def test_every_contestant_is_judged(fold):
    found = compare(fold, 0.5)
    assert set(found) == set(ORDER)
    assert found["always majority"]["balanced_accuracy"] == 0.5
    assert found["SVC"]["auc"] == found["SVC, moved"]["auc"]


def test_measures_without_a_class_are_not_made_up():
    found = measures(np.array([-1, -1, 1]), np.array([0.0, 0.1, 0.2]), np.array([-1, -1, -1]))
    assert found == {"accuracy": pytest.approx(2 / 3), "balanced_accuracy": None, "auc": None}


def test_the_best_of_a_surface_gains_at_least_nothing(fold):
    one = surface(fold, 0.5)
    found = _surface([one, one])
    assert found["best"]["accuracy"] == pytest.approx(np.max(one["accuracy"]))
    assert found["best"]["against_svc"]["difference"] >= 0


def test_a_surface_has_the_controls_of_the_comparison(fold):
    beside, compared = surface(fold, 0.5)["controls"], compare(fold, 0.5)
    assert beside == {name: compared[name]["accuracy"] for name in ("SVC, moved", "Fisher")}


def test_cells_are_there_once():
    for quick in (True, False):
        keys = [tuple(cell.values()) for cell in cells(quick)]
        assert len(keys) == len(set(keys))
    assert {cell["removed"] for cell in cells(False)} == set(REMOVED)


def test_no_speaker_stands_on_both_sides():
    try:
        by_speaker = list(folds(0, "speakers", 0, "raw"))
    except DataError as missing:
        pytest.skip(f"needs the data folder: {missing}")
    from benchmarks.data import load

    data = load("parkinsons")
    speaker = {row.tobytes(): name for row, name in zip(data.X, data.groups, strict=True)}
    assert len(by_speaker) == 5
    for part in by_speaker:
        train, test = ({speaker[row.tobytes()] for row in rows} for rows in (part.X, part.test))
        assert not train & test
