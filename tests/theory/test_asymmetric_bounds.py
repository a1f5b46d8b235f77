"""What theorems 3.1 to 3.3 of the asymmetric machine promise, by simulation."""

import numpy as np
import pytest

from askew.estimators.asymmetric_svc import AsymmetricSVC


def sample(m, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(m) < 0.4, 1, -1)
    return rng.standard_normal((m, 2)) + 1.0 * (y[:, None] > 0), y


@pytest.mark.parametrize("seed", range(6))
def test_the_difference_of_the_outliers_lies_within_the_bounds(seed):
    """τ − Pr(s⁺) ≤ Pr(o⁺) − Pr(o⁻) ≤ τ + Pr(s⁻); with γ = 0 the share of the negatives may exceed μ, and only that."""
    X, y = sample(200, seed)
    for mu, tau in ((0.12, 0.02), (0.2, 0.1), (0.2, 0.0)):
        model = AsymmetricSVC(mu, tau, gamma=0.5).fit(X, y)
        mass = -model.dual_coef_[model.dual_coef_ < 0].sum()
        assert mass == pytest.approx(mu) if model.class_margin_ > 0 else mass >= mu
        inside = (np.abs(model.dual_coef_[0]) * len(y) < 1) & (model.dual_coef_[0] != 0)
        share_inside = [np.sum(inside & (model.dual_coef_[0] * sign > 0)) / len(y) for sign in (-1, 1)]
        negatives, positives = model.outlier_fractions_
        assert tau - share_inside[1] - 1e-9 <= positives - negatives <= tau + share_inside[0] + 1e-9
        assert mass + tau - share_inside[1] - 1e-9 <= positives <= mass + tau + 1e-9
        assert mass - share_inside[0] - 1e-9 <= negatives <= mass + 1e-9


def test_the_difference_of_the_outliers_tends_to_tau():
    """Theorem 3.3: support vectors strictly inside become a vanishing share of the rows."""
    tau, gaps = 0.08, []
    for m in (100, 400, 1600):
        errors = []
        for seed in range(5):
            X, y = sample(m, seed)
            negatives, positives = AsymmetricSVC(0.12, tau, gamma=0.5).fit(X, y).outlier_fractions_
            errors.append(abs(positives - negatives - tau))
        gaps.append(np.mean(errors))
    assert gaps[2] < gaps[0]
    assert gaps[2] < 0.005
