"""The exact rule against its published values and against the binomial sum itself."""

import time
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from askew.exceptions import InfeasibleError
from askew.metrics import clopper_pearson
from askew.tolerance import negatives_required
from askew.tolerance.order_statistic import rank, ranks, rate_bound, smallest_tolerance, violation


@pytest.mark.parametrize(
    ("tolerance", "n", "expected"),
    [(0.05, 59, 59), (0.05, 100, 99), (0.05, 1000, 962), (0.01, 1000, 996), (0.001, 2995, 2995), (0.001, 5000, 4999)],
)
def test_published_values(tolerance, n, expected):
    assert rank(n, tolerance, 0.95) == expected


@pytest.mark.parametrize(("tolerance", "n", "needed"), [(0.05, 58, 59), (0.001, 2994, 2995), (0.001, 800, 2995)])
def test_too_few_negatives_name_the_number_needed(tolerance, n, needed):
    with pytest.raises(InfeasibleError, match=f"tolerance={tolerance} at confidence=0.95 needs at least {needed} "):
        rank(n, tolerance, 0.95)


def exact_violation(n, k, tolerance):
    t = Fraction(tolerance)
    return sum(comb(n, j) * (1 - t) ** j * t ** (n - j) for j in range(k, n + 1))


@pytest.mark.parametrize("n", [1, 2, 7, 60])
@pytest.mark.parametrize("tolerance", [0.03, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("confidence", [0.5, 0.75, 0.9375])
def test_rank_is_the_smallest_that_holds_in_exact_arithmetic(n, tolerance, confidence):
    holding = [k for k in range(1, n + 1) if exact_violation(n, k, tolerance) <= 1 - Fraction(confidence)]
    assert ranks(n, tolerance, confidence)[0] == (holding[0] if holding else n + 1)


def test_violation_is_the_binomial_tail():
    k = np.arange(1, 301)
    np.testing.assert_allclose(violation(300, k, 0.07), stats.binom.sf(k - 1, 300, 0.93), rtol=1e-9)


@pytest.mark.parametrize("tolerance", [0.3, 0.05, 0.01, 1e-3, 1e-6])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_needed_and_feasible_agree(tolerance, confidence):
    n = negatives_required(tolerance, confidence)
    assert ranks(n, tolerance, confidence)[0] == n
    assert n == 1 or ranks(n - 1, tolerance, confidence)[0] == n
    assert smallest_tolerance(n, confidence) <= tolerance * (1 + 1e-9)


def test_rate_bound_is_where_the_violation_equals_delta():
    for n, k in ((59, 59), (1000, 962), (5000, 4999), (10, 1)):
        bound = rate_bound(n, k, 0.95).item()
        assert violation(n, k, bound).item() == pytest.approx(0.05, rel=1e-8)
        assert bound == pytest.approx(clopper_pearson.upper_limit(n - k, n, 0.95).item())


def test_ten_million_negatives_take_no_time():
    start = time.perf_counter()
    k = rank(10_000_000, 0.001, 0.95)
    grid = ranks(10_000_000, np.geomspace(1e-6, 0.5, 200), 0.95)
    assert time.perf_counter() - start < 2.0
    assert stats.binom.sf(k - 1, 10_000_000, 0.999) <= 0.05 < stats.binom.sf(k - 2, 10_000_000, 0.999)
    assert (np.diff(grid) <= 0).all()


def test_clopper_pearson_agrees_with_scipy():
    for hits, n in ((0, 10), (3, 10), (10, 10), (57, 600)):
        expected = stats.binomtest(hits, n).proportion_ci(0.9, method="exact")
        assert clopper_pearson.interval(hits, n, 0.9) == pytest.approx((expected.low, expected.high))
    assert clopper_pearson.interval(0, 0, 0.9) == (0.0, 1.0)
