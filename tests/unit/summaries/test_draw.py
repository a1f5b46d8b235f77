"""Draws by row number."""

import numpy as np

from askew.summaries import draw_by_number


def test_draws_are_uniform_and_independent_of_blocks():
    whole = draw_by_number(0, 100_000, seed=3)
    np.testing.assert_array_equal(whole, np.concatenate([draw_by_number(s, 10, 3) for s in range(0, 100_000, 10)]))
    assert whole.min() >= 0
    assert whole.max() < 1
    counts, _ = np.histogram(whole, bins=50, range=(0, 1))
    assert ((counts - 2000) ** 2 / 2000).sum() < 100  # chi squared, 49 degrees of freedom
    for other in (draw_by_number(0, 100_000, seed=4), np.roll(whole, 1)):
        assert abs(np.corrcoef(whole, other)[0, 1]) < 0.015
