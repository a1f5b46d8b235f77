"""The promise by simulation: P(false positive rate > t) ≤ δ, and tests that notice when it is broken.

The scores come from known distributions, so the false positive rate of a threshold is computed, not estimated. A
count of violations is held against Binomial(draws, δ); deliberately broken rules must fail the same assertion.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from askew.exceptions import InfeasibleError
from askew.tolerance import Calibration, ToleranceClassifier, negatives_required, np_roc
from askew.tolerance.order_statistic import ranks
from askew.tolerance.threshold import empirical, exact

DRAWS = 2000
CONFIDENCE = 0.95


class Atom:
    """A score that is 0 for most negatives and exponential for the others, as rule-based scores are."""

    def rvs(self, size, random_state):
        fired = random_state.random(size) < 0.3
        return np.where(fired, random_state.exponential(size=size), 0.0)

    def sf(self, x):
        return np.where(np.asarray(x) < 0.0, 1.0, 0.3 * np.exp(-np.maximum(x, 0.0)))


SCORES = {
    "normal": stats.norm(),
    "cauchy": stats.cauchy(),
    "exponential": stats.expon(),
    "poisson": stats.poisson(40),
    "atom": Atom(),
}
CONTINUOUS = ("normal", "cauchy", "exponential")


def is_kept(violations, draws=DRAWS, delta=1 - CONFIDENCE):
    """Whether so many violations are believable for a rule with P(violation) ≤ δ."""
    return bool(stats.binomtest(int(violations), draws, delta, alternative="greater").pvalue > 1e-4)


def rates_after(place, distribution, n, seed, draws=DRAWS):
    """True false positive rates of thresholds placed on ``draws`` samples of n negatives."""
    rng = np.random.default_rng(seed)
    thresholds = [place(Calibration.of(distribution.rvs(n, random_state=rng))) for _ in range(draws)]
    return distribution.sf(np.array(thresholds))


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("name", SCORES)
def test_the_exact_rule_keeps_its_promise(name, tolerance):
    fewest = negatives_required(tolerance, CONFIDENCE)
    for n in (fewest, fewest + fewest // 2):
        rates = rates_after(lambda held: exact(held, tolerance, CONFIDENCE).value, SCORES[name], n, seed=n)
        assert is_kept((rates > tolerance).sum())


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_one_rank_lower_is_seen_to_break_it(name, tolerance):
    n = negatives_required(tolerance, CONFIDENCE)
    k = int(ranks(n, tolerance, CONFIDENCE)[0]) - 1
    rates = rates_after(lambda held: held.threshold(k), SCORES[name], n, seed=n)
    assert not is_kept((rates > tolerance).sum())


@pytest.mark.parametrize(("name", "tolerance"), [("poisson", 0.1), ("atom", 0.4)])
def test_letting_ties_through_is_seen_to_break_it(name, tolerance):
    # "score ≥ T" in place of "score > T": the whole atom at the threshold becomes alarms.
    n = 400
    k = int(ranks(n, tolerance, CONFIDENCE)[0])
    rates = rates_after(lambda held: np.nextafter(held.negatives[k - 1], -np.inf), SCORES[name], n, seed=n)
    assert not is_kept((rates > tolerance).sum())


def test_the_empirical_threshold_exceeds_about_half_of_the_time():
    rates = rates_after(lambda held: empirical(held, 0.1).value, SCORES["normal"], 300, seed=0)
    assert 0.4 < (rates > 0.1).mean() < 0.6


def test_the_rule_is_not_more_cautious_than_it_must_be():
    n = 1000
    rates = rates_after(lambda held: exact(held, 0.1, CONFIDENCE).value, SCORES["normal"], n, seed=5)
    k = int(ranks(n, 0.1, CONFIDENCE)[0])
    assert stats.binomtest(int((rates > 0.1).sum()), DRAWS, stats.binom.sf(k - 1, n, 0.9)).pvalue > 1e-4


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Scores a row by its first column."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


def linear_rate(model):
    """False positive rate of a linear score on standard normal negatives."""
    w, b = model.estimator_.coef_[0], model.estimator_.intercept_[0]
    return stats.norm.sf((model.threshold_ - b) / np.linalg.norm(w))


def linear_draw(rng, n, d):
    y = np.arange(n) < n // 4
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def test_the_whole_classifier_keeps_its_promise():
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(DRAWS):
        X, y = linear_draw(rng, 80, 3)
        model = ToleranceClassifier(LinearDiscriminantAnalysis(), 0.1, random_state=int(rng.integers(2**31)))
        rates.append(linear_rate(model.fit(X, y)))
    assert is_kept((np.array(rates) > 0.1).sum())
    assert (np.array(rates) > 0.1).any()


@pytest.mark.parametrize("honest", [True, False])
def test_training_on_the_calibration_negatives_is_seen_to_break_it(honest):
    rng, draws, violations = np.random.default_rng(1), 400, 0
    for _ in range(draws):
        X, y = linear_draw(rng, 60, 25)
        X_other, y_other = linear_draw(rng, 60, 25)
        fitted = LinearDiscriminantAnalysis().fit(*((X_other, y_other) if honest else (X, y)))
        model = ToleranceClassifier(fitted, 0.1, calibration="prefit").fit(X, y)
        violations += linear_rate(model) > 0.1
    assert is_kept(violations, draws) is honest


@pytest.mark.parametrize("given", [True, False])
def test_groups_keep_the_promise_and_leaving_them_out_is_seen(given):
    # Five rows per customer around a mean of their own: rows of one customer alarm together.
    size, within, tolerance, draws = 5, 0.2, 0.1, 600
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    rng, group_breaks, row_breaks = np.random.default_rng(2), 0, 0
    for _ in range(draws):
        n_groups = 60
        centre = rng.normal(size=n_groups)
        groups = np.repeat(np.arange(n_groups), size)
        X = (centre[groups] + within * rng.normal(size=n_groups * size))[:, None]
        model = ToleranceClassifier(FirstColumn().fit(X, [0, 1]), tolerance, calibration="prefit")
        model.fit(X, np.zeros(len(X), dtype=int), groups=groups if given else None)
        quiet = stats.norm.cdf((model.threshold_ - nodes) / within)
        group_breaks += 1 - weights @ quiet**size > tolerance
        row_breaks += 1 - weights @ quiet > tolerance
    assert is_kept(group_breaks, draws) is given
    assert is_kept(row_breaks, draws) is given


@pytest.mark.parametrize("given", [True, False])
def test_weights_keep_the_promise_and_leaving_them_out_is_seen(given):
    # High scores were sampled at a third of their share; a weight of 3 makes up for it.
    rng, tolerance, draws, violations = np.random.default_rng(3), 0.1, 600, 0
    for _ in range(draws):
        x = rng.normal(size=400)
        weight = np.where(x > 0.5, 3.0, 1.0)
        model = ToleranceClassifier(
            FirstColumn().fit(None, [0, 1]),
            tolerance,
            calibration="prefit",
            weight_bound=3.0,
            random_state=int(rng.integers(2**31)),
        )
        model.fit(x[:, None], np.zeros(len(x), dtype=int), **({"sample_weight": weight} if given else {}))
        above = 3.0 * stats.norm.sf(max(model.threshold_, 0.5))
        above += stats.norm.cdf(0.5) - stats.norm.cdf(min(model.threshold_, 0.5))
        violations += above / (3.0 * stats.norm.sf(0.5) + stats.norm.cdf(0.5)) > tolerance
    assert is_kept(violations, draws) is given


def log_normal_rate(threshold, spread, bound):
    """Share of the weight min(w, bound) above a threshold on log w, for log w normal with this standard deviation."""
    top, at = np.log(bound), np.minimum(threshold, np.log(bound))
    mean = np.exp(spread**2 / 2)

    def between(low):  # E[w 1(low < log w < top)]
        return mean * (stats.norm.cdf(top / spread - spread) - stats.norm.cdf(low / spread - spread))

    heavy = bound * stats.norm.sf(np.maximum(threshold, top) / spread)
    return (between(at) + heavy) / (between(-np.inf) + bound * stats.norm.sf(top / spread))


def log_normal_fits(spread, draws, seed, *, is_prefit, bound_of=lambda log_weight: None):
    """Models fitted with weights that rise with the score, and how many were refused for want of rows."""
    rng, models, refused = np.random.default_rng(seed), [], 0
    n = 2000 if is_prefit else 4000  # half of them calibrate
    for _ in range(draws):
        log_weight = rng.normal(scale=spread, size=n)
        y = np.zeros(n + 2, dtype=int)
        y[n:] = 1
        model = ToleranceClassifier(
            FirstColumn().fit(None, [0, 1]),
            0.05,
            CONFIDENCE,
            calibration="prefit" if is_prefit else 0.5,
            weight_bound=bound_of(log_weight),
            random_state=int(rng.integers(2**31)),
        )
        x = np.append(log_weight, [0.0, 0.0])
        try:
            models.append(model.fit(x[:, None], y, sample_weight=np.exp(x)))
        except InfeasibleError:
            refused += 1
    return models, refused


@pytest.mark.parametrize("is_prefit", [True, False])
@pytest.mark.parametrize("spread", [0.5, 1.0, 1.5])
def test_weights_of_any_spread_keep_the_promise(spread, is_prefit):
    # Prefit: stated beforehand, so that one row in a hundred is heavier. Split: the largest of the training part.
    stated = {"bound_of": lambda _: float(np.exp(2.33 * spread))} if is_prefit else {}
    models, refused = log_normal_fits(spread, DRAWS // 2, 7, is_prefit=is_prefit, **stated)
    rates = np.array([log_normal_rate(model.threshold_, spread, model.report().weight_bound) for model in models])
    assert len(models) + refused == DRAWS // 2
    assert len(models) > (50 if spread == 1.5 and not is_prefit else 900)
    assert is_kept((rates > 0.05).sum(), len(models))
    assert (rates > 0.05).any()
    above = np.array([model.report().n_above_weight_bound for model in models])
    assert 10 < above.mean() < 30 if is_prefit else above.mean() > 0


def test_a_bound_read_off_the_calibration_rows_is_seen_to_break_it():
    spread = 1.5
    models, _ = log_normal_fits(spread, 400, 8, is_prefit=True, bound_of=lambda log_weight: np.exp(log_weight.max()))
    rates = np.array([log_normal_rate(model.threshold_, spread, np.exp(6.0 * spread)) for model in models])
    assert not is_kept((rates > 0.05).sum(), len(models))


@pytest.mark.parametrize("bound", [3.0, 12.0])
def test_weighted_groups_keep_the_promise_about_groups(bound):
    # Groups of five rows around a centre; the higher half was sampled at a third of its share. A bound far above the
    # weights must thin whole groups: thinned row by row, the highest score of a group would fall.
    size, within, tolerance, draws = 5, 0.2, 0.1, 600
    nodes = np.linspace(-8.0, 8.0, 4001)
    density = stats.norm.pdf(nodes) * np.where(nodes > 0.0, 3.0, 1.0)
    density /= density.sum()
    rng, violations = np.random.default_rng(9), 0
    for _ in range(draws):
        n_groups = 600
        centre = rng.normal(size=n_groups)
        groups = np.repeat(np.arange(n_groups), size)
        X = (centre[groups] + within * rng.normal(size=n_groups * size))[:, None]
        model = ToleranceClassifier(
            FirstColumn().fit(X, [0, 1]),
            tolerance,
            calibration="prefit",
            weight_bound=bound,
            random_state=int(rng.integers(2**31)),
        )
        weight = np.where(centre > 0.0, 3.0, 1.0)[groups]
        model.fit(X, np.zeros(len(X), dtype=int), groups=groups, sample_weight=weight)
        quiet = stats.norm.cdf((model.threshold_ - nodes) / within)
        violations += 1 - density @ quiet**size > tolerance
    assert is_kept(violations, draws)
    assert violations > 0


def test_after_updates_the_promise_in_force_still_holds():
    rng, tolerance, draws = np.random.default_rng(4), 0.1, 600
    violations = false_alarms = 0
    for _ in range(draws):
        model = ToleranceClassifier(FirstColumn().fit(None, [0, 1]), tolerance, calibration="prefit")
        model.fit(rng.normal(size=(40, 1)), np.zeros(40, dtype=int))
        for _ in range(4):
            test = model.update(rng.normal(size=40))
            if test.drifted:
                break
        false_alarms += test.drifted
        violations += stats.norm.sf(model.threshold_) > tolerance and not test.drifted
    assert is_kept(violations, draws)
    # The first threshold breaks the promise with probability δ, so real alarms add to the false ones.
    assert is_kept(false_alarms, draws, delta=0.01 + 1 - CONFIDENCE)


def test_a_real_drift_is_seen():
    rng, seen = np.random.default_rng(5), 0
    for _ in range(50):
        model = ToleranceClassifier(FirstColumn().fit(None, [0, 1]), 0.05, calibration="prefit")
        model.fit(rng.normal(size=(500, 1)), np.zeros(500, dtype=int))
        with pytest.warns(UserWarning, match="contradict"):
            seen += model.update(rng.normal(1.0, size=500)).drifted
    assert seen == 50


def test_the_band_of_the_np_roc_covers():
    rng, draws, tolerance = np.random.default_rng(6), 1500, 0.1
    too_high = too_low = loose = 0
    for _ in range(draws):
        curve = np_roc(rng.normal(size=200), rng.normal(1.5, size=40), tolerances=[tolerance], confidence=0.9)
        tpr = stats.norm.sf(curve.threshold[0] - 1.5)
        too_high += curve.lower[0] > tpr
        too_low += curve.upper[0] < tpr
        loose += stats.norm.sf(curve.threshold[0]) > tolerance
    for violations in (too_high, too_low, loose):
        assert is_kept(violations, draws, delta=0.1)
        assert violations > 0
