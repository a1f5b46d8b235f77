"""NP-ROC: thresholds of the exact rule, limits of Clopper and Pearson, refusals."""

import numpy as np
import pytest

from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.metrics import clopper_pearson
from askew.tolerance import Calibration, np_roc
from askew.tolerance.threshold import exact


def held_out(seed=0, n=800, m=120):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(2.0, size=m)


def test_every_point_is_the_exact_rule():
    negatives, positives = held_out()
    curve = np_roc(negatives, positives, confidence=0.9)
    calibration = Calibration.of(negatives, positives)
    for i in (0, 50, 120, 199):
        placed = exact(calibration, curve.tolerance[i], 0.9)
        caught = (positives > placed.value).sum()
        assert curve.threshold[i] == placed.value
        assert curve.tpr[i] == caught / 120
        assert curve.lower[i] == clopper_pearson.lower_limit(caught, 120, 0.9)
        assert curve.upper[i] == clopper_pearson.upper_limit(caught, 120, 0.9)


def test_the_band_is_ordered_and_grows_with_the_tolerance():
    curve = np_roc(*held_out())
    assert (curve.lower <= curve.tpr).all()
    assert (curve.tpr <= curve.upper).all()
    for line in (curve.lower, curve.tpr, curve.upper):
        assert (np.diff(line) >= 0).all()
    assert (np.diff(curve.tolerance) > 0).all()
    assert curve.tolerance[-1] < 1


@pytest.mark.parametrize("n", [1, 5, 59, 10_000])
def test_the_default_grid_starts_where_a_promise_begins(n):
    curve = np_roc(np.arange(n), [n + 1.0, 0.0])
    assert curve.tolerance[0] == pytest.approx(1 - 0.05 ** (1 / n))
    assert curve.tpr[0] == 0.5


def test_refusals():
    negatives, positives = held_out()
    with pytest.raises(InfeasibleError, match="needs at least 2995"):
        np_roc(negatives, positives, tolerances=[0.001, 0.1])
    with pytest.raises(DataError, match="800 negatives and 0 positives"):
        np_roc(negatives)
    with pytest.raises(ParameterError, match=r"tolerances must lie in \(0, 1\)"):
        np_roc(negatives, positives, tolerances=[1.0])
    with pytest.raises(ParameterError, match="confidence=0"):
        np_roc(negatives, positives, confidence=0)
