"""The drift test: exact p-values, and a level that holds over many looks."""

import numpy as np
import pytest
from scipy import stats

from askew.tolerance.drift import DriftMonitor, excess_p_value


def test_p_value_is_that_of_the_binomial_test():
    for alarms, n, t in ((0, 5, 0.1), (3, 10, 0.1), (10, 10, 0.1), (40, 1000, 0.02)):
        expected = stats.binomtest(alarms, n, t, alternative="greater").pvalue
        assert excess_p_value(alarms, n, t) == pytest.approx(expected)


def test_false_alarms_over_many_updates_stay_below_the_level():
    rng = np.random.default_rng(0)
    false_alarms = 0
    for _ in range(2000):
        monitor = DriftMonitor(tolerance=0.05, level=0.1)
        for _ in range(15):
            monitor, test = monitor.observe(n_new=100, n_alarms=int(rng.binomial(100, 0.05)))
            if test.drifted:
                false_alarms += 1
                break
    assert stats.binomtest(false_alarms, 2000, 0.1, alternative="greater").pvalue > 1e-4
    assert false_alarms > 0, "a test that never fires sees nothing"


def test_a_jump_is_seen_in_one_batch_and_a_creep_over_several():
    monitor = DriftMonitor(tolerance=0.01, level=0.01)
    for _ in range(20):
        monitor, test = monitor.observe(n_new=1000, n_alarms=10)
        assert not test.drifted
    assert monitor.observe(n_new=1000, n_alarms=60)[1].drifted
    batches = 0
    while not test.drifted and batches < 60:
        monitor, test = monitor.observe(n_new=1000, n_alarms=18)
        batches += 1
    assert 1 < batches < 60
