"""The walk along eta, the readings of a stage, and the width by support vectors."""

import numpy as np
import pytest

from askew.kernels import RBF, Gram
from askew.kernels.covariance_guided import scale_of
from askew.kernels.kernel_covariance import KernelCovariance
from askew.methods import one_class
from askew.methods.covariance_one_class import BLENDS, HALVINGS, fit_at, walk
from askew.methods.rejection import rejection_threshold
from askew.methods.support_width import choose_width, support_fraction
from askew.solvers import solve as solve_programme


def solve(problem, start):
    return solve_programme(problem, start=start)


def covariance_of(X, gamma, weight=None):
    covariance = KernelCovariance(Gram(RBF(gamma), X), np.ones(len(X)) if weight is None else weight)
    covariance.form()
    return covariance


@pytest.fixture(scope="module")
def gaussian():
    return covariance_of(np.random.default_rng(0).normal(size=(200, 2)), 0.5)


class TestWalk:
    def test_it_stops_where_the_fraction_is_reached(self, gaussian):
        found = walk(gaussian, scale_of(gaussian, "trace"), 0.2, 0.1, solve)
        assert found.ending == "reached"
        assert found.chosen.outlier_fraction <= 0.1
        etas = [stage.eta for stage in found.stages]
        assert etas == sorted(etas, reverse=True)
        assert etas[0] == 1.0
        assert found.chosen in found.stages
        # the stage before it on the path has not reached it, and lies within the last halved step
        before = min((s for s in found.stages if s.eta > found.chosen.eta), key=lambda s: s.eta)
        assert before.outlier_fraction > 0.1
        assert before.eta - found.chosen.eta <= 0.1 / 2**HALVINGS + 1e-9

    def test_a_fraction_met_at_once_leaves_eta_at_one(self, gaussian):
        found = walk(gaussian, scale_of(gaussian, "trace"), 0.2, 0.25, solve)
        assert (found.chosen.eta, found.ending, len(found.stages)) == (1.0, "reached", 1)

    def test_it_ends_where_the_fraction_is_never_met(self):
        """With the raw scale and six features the fraction rises as eta falls: the least one is taken."""
        covariance = covariance_of(np.random.default_rng(0).normal(size=(200, 6)), 1 / 6)
        found = walk(covariance, scale_of(covariance, "raw"), 0.2, 0.01, solve)
        assert found.ending == "least"
        assert len(found.stages) == len(BLENDS)
        fractions = [stage.outlier_fraction for stage in found.stages]
        assert found.chosen.outlier_fraction == min(fractions)
        assert max(fractions) > 0.5

    def test_steps_mean_the_same_at_every_scale(self, gaussian):
        """η' is walked, so the solutions of the first steps are the same up to the scale of the matrix."""
        objectives = []
        for name in ("raw", "mean", "trace"):
            found = walk(gaussian, scale_of(gaussian, name), 0.2, 0.0, solve)
            stage = found.stages[1]
            objectives.append(stage.solution.objective / stage.matrix.size)
        np.testing.assert_allclose(objectives, objectives[0], rtol=1e-6)


class TestReadings:
    def test_plain_and_modified_are_the_same_at_eta_one(self, gaussian):
        stage = fit_at(gaussian, 1.0, 1.0, 0.2, solve)
        plain, rule = stage.read_plain(0.2)
        modified, _ = stage.read_modified()
        assert rule == "multiplier"
        np.testing.assert_array_equal(plain.support, modified.support)
        np.testing.assert_array_equal(plain.coefficients, modified.coefficients)
        problem = one_class.formulate(gaussian.matrix, 0.2, gaussian.weight)
        known = one_class.recover(problem, solve(problem, None))
        assert plain.intercept == pytest.approx(known.intercept, rel=1e-9)

    def test_an_offset_that_rejects_too_many_is_put_at_the_quantile(self):
        covariance = covariance_of(np.random.default_rng(0).normal(size=(200, 6)), 1 / 6)
        stage = fit_at(covariance, 0.5, 1.0, 0.2, solve)
        assert stage.outlier_fraction > 0.5
        plain, rule = stage.read_plain(0.2)
        assert rule == "quantile"
        assert np.mean(stage.plain + plain.intercept < 0) == pytest.approx(0.2, abs=1 / 200)

    def test_dense_weights_are_the_modified_kernel(self, gaussian):
        stage = fit_at(gaussian, 0.4, scale_of(gaussian, "trace"), 0.2, solve)
        modified, _ = stage.read_modified()
        assert len(modified.support) == gaussian.n
        sums = gaussian.matrix.rows(np.arange(gaussian.n)) @ modified.coefficients
        np.testing.assert_allclose(sums, stage.solution.gradient, rtol=1e-9)


class TestRejectionThreshold:
    def test_it_rejects_as_many_as_allowed_and_no_more(self):
        scores = np.arange(10.0)
        ones = np.ones(10)
        rejected = [int(np.sum(scores < rejection_threshold(scores, ones, f))) for f in (0.0, 0.1, 0.25, 0.99)]
        assert rejected == [0, 1, 2, 9]

    def test_a_weight_is_a_repetition(self):
        rng = np.random.default_rng(0)
        scores, weight = rng.normal(size=30), rng.integers(1, 5, 30)
        for fraction in (0.05, 0.2, 0.5):
            once = rejection_threshold(scores, weight.astype(float), fraction)
            often = rejection_threshold(np.repeat(scores, weight), np.ones(weight.sum()), fraction)
            assert once == pytest.approx(often)

    def test_ties_are_kept_together(self):
        assert rejection_threshold(np.zeros(5), np.ones(5), 0.5) <= 0.0


class TestSupportWidth:
    def test_the_width_is_the_narrowest_with_the_fewest_support_vectors(self):
        X = np.random.default_rng(2).normal(size=(300, 2))
        gamma, path = choose_width(lambda g: Gram(RBF(g), X), 0.2, np.ones(300), 0.5, solve)
        fractions = {width.gamma: width.support_fraction for width in path}
        least = min(fractions.values())
        assert fractions[gamma] <= least + 0.0101
        assert all(fraction > least + 0.01 for width, fraction in fractions.items() if width > gamma)
        assert [w.gamma for w in path] == sorted(w.gamma for w in path)

    def test_the_fraction_counts_points_on_or_outside_the_boundary(self):
        X = np.random.default_rng(3).normal(size=(100, 2))
        problem = one_class.formulate(Gram(RBF(0.5), X), 0.3, np.ones(100))
        solution = solve(problem, None)
        assert support_fraction(problem, solution) == pytest.approx(np.mean(solution.beta > 0), abs=0.011)

    def test_repetition_and_weight_choose_the_same(self):
        rng = np.random.default_rng(4)
        X, weight = rng.normal(size=(60, 2)), rng.integers(1, 4, 60)
        again = np.repeat(X, weight, axis=0)
        once, _ = choose_width(lambda g: Gram(RBF(g), X), 0.2, weight.astype(float), 0.5, solve)
        often, _ = choose_width(lambda g: Gram(RBF(g), again), 0.2, np.ones(len(again)), 0.5, solve)
        assert once == pytest.approx(often)

    def test_it_ends_at_the_narrowest_when_nothing_changes(self):
        X = np.zeros((20, 2))
        gamma, path = choose_width(lambda g: Gram(RBF(g), X), 0.2, np.ones(20), 1.0, solve)
        assert gamma == 64.0
        assert len(path) == 13
