"""The asymmetric programme: what it refuses, what it promises about γ, and weights as repetition."""

import numpy as np
import pytest

from askew.exceptions import InfeasibleError, ParameterError
from askew.kernels import RBF, Gram
from askew.methods import asymmetric
from askew.qp import GroupSums, Sum
from askew.solvers import solve


def settle(problem, start):
    return solve(problem, start=start, tol=1e-9)


@pytest.fixture
def overlapping():
    rng = np.random.default_rng(3)
    y = np.where(np.arange(90) < 30, 1.0, -1.0)
    X = rng.standard_normal((90, 2)) + 0.8 * (y[:, None] > 0)
    return Gram(RBF(0.5), X), y, np.ones(90)


def test_one_sum_per_class_in_units_of_the_weights(overlapping):
    matrix, y, weight = overlapping
    problem = asymmetric.formulate(matrix, y, weight, 0.1, 0.05)
    assert isinstance(problem.constraint, GroupSums)
    np.testing.assert_allclose(problem.constraint.totals, (-9.0, 13.5))
    np.testing.assert_array_equal(problem.upper, y > 0)
    np.testing.assert_array_equal(problem.lower, -1.0 * (y < 0))
    touching = asymmetric.formulate_touching(matrix, y, weight, 0.05)
    assert touching.constraint == Sum(4.5)


@pytest.mark.parametrize(
    ("mu", "tau", "message"),
    [
        (0.3, 0.1, r"mu \+ tau = 0.4 exceeds the fraction of positives, 0.333333. Choose mu \+ tau ≤ 0.333333"),
        (0.34, 0.0, r"mu \+ tau = 0.34 exceeds"),
    ],
)
def test_what_the_data_cannot_give_is_refused_with_the_range(overlapping, mu, tau, message):
    matrix, y, weight = overlapping
    with pytest.raises(InfeasibleError, match=message):
        asymmetric.formulate(matrix, y, weight, mu, tau)
    with pytest.raises(InfeasibleError, match=r"mu = 0.5 exceeds the fraction of negatives, 0.333333"):
        asymmetric.formulate(matrix, -y, weight, 0.5, 0.1)
    with pytest.raises(ParameterError, match="both 0"):
        asymmetric.formulate(matrix, y, weight, 0.0, 0.0)


def test_the_edge_of_the_feasible_range_is_feasible(overlapping):
    matrix, y, weight = overlapping
    found = asymmetric.fit(matrix, y, weight, 0.2, 30 / 90 - 0.2, settle)
    assert found.outlier_fractions[1] == pytest.approx(1 / 3)  # every positive is at its bound
    assert np.isfinite([found.rho, found.gamma]).all()


def test_gamma_grows_with_mu_and_is_zero_up_to_the_smallest_mu(overlapping):
    matrix, y, weight = overlapping
    tau = 0.2
    edge = asymmetric.smallest_mu(matrix, y, weight, tau, settle)
    assert 0.001 < edge < 1 / 3 - tau
    below = asymmetric.fit(matrix, y, weight, 0.5 * edge, tau, settle)
    above = asymmetric.fit(matrix, y, weight, 1.5 * edge, tau, settle)
    assert below.gamma == 0.0
    assert below.negative_mass == pytest.approx(edge, abs=1e-9)
    assert above.gamma > 1e-6 * above.rho
    assert above.negative_mass == pytest.approx(1.5 * edge, abs=1e-12)
    # what the equality alone would have given: γ < 0
    problem = asymmetric.formulate(matrix, y, weight, 0.5 * edge, tau)
    negatives, positives = settle(problem, None).multipliers
    assert positives - negatives < 0


def test_at_tau_zero_every_mu_has_its_margin(overlapping):
    matrix, y, weight = overlapping
    assert asymmetric.smallest_mu(matrix, y, weight, 0.0, settle) == 0.0
    assert all(asymmetric.fit(matrix, y, weight, mu, 0.0, settle).gamma > 0 for mu in (0.02, 0.1, 0.3))


def test_mu_zero_describes_the_positives_alone_while_they_stay_apart():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) < 20, 1.0, -1.0)
    X = 0.3 * rng.standard_normal((40, 2)) + 6.0 * (y[:, None] > 0)
    found = asymmetric.fit(Gram(RBF(1.0), X), y, np.ones(40), 0.0, 0.1, settle)
    assert found.negative_mass == 0.0
    assert found.gamma > 0


def test_without_a_point_inside_its_box_the_margins_are_the_middle_of_their_intervals():
    """Three of six positives and three of six negatives at their bound, nothing inside."""
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [8.0], [8.1], [8.2], [12.0], [12.1], [12.2]])
    y = np.where(X[:, 0] > 6.5, 1.0, -1.0)
    found = asymmetric.fit(Gram(RBF(1e-3), X), y, np.ones(12), 0.25, 0.0, settle)
    assert np.all(found.inside_fractions == 0)
    scores = found.solution.gradient / 12
    positives, negatives = scores[y > 0], scores[y < 0]
    at_bound = np.abs(found.solution.beta) == 1
    assert found.rho == pytest.approx(0.5 * (positives[at_bound[y > 0]].max() + positives[~at_bound[y > 0]].min()))
    assert found.rho - found.gamma == pytest.approx(
        0.5 * (negatives[at_bound[y < 0]].min() + negatives[~at_bound[y < 0]].max())
    )


def test_a_weight_is_a_repetition(overlapping):
    matrix, y, _ = overlapping
    weight = np.random.default_rng(1).integers(1, 4, 90)
    rows = np.repeat(np.arange(90), weight)
    once = asymmetric.fit(matrix, y, weight.astype(float), 0.1, 0.05, settle)
    repeated = asymmetric.fit(matrix.subset(rows), y[rows], np.ones(len(rows)), 0.1, 0.05, settle)
    for name in ("rho", "gamma", "norm", "core_margin", "class_margin"):
        assert getattr(once, name) == pytest.approx(getattr(repeated, name), rel=1e-6), name


def test_a_point_of_weight_zero_is_not_there(overlapping):
    matrix, y, weight = overlapping
    weight = weight.copy()
    weight[::4] = 0.0
    kept = np.flatnonzero(weight)
    masked = asymmetric.fit(matrix, y, weight, 0.1, 0.05, settle)
    cut = asymmetric.fit(matrix.subset(kept), y[kept], weight[kept], 0.1, 0.05, settle)
    assert masked.rho == pytest.approx(cut.rho, rel=1e-7)
    np.testing.assert_allclose(masked.solution.gradient[kept], cut.solution.gradient, rtol=1e-6, atol=1e-9)
