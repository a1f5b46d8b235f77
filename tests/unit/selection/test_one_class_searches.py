"""Choosing one-class models without outliers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from askew import OneClassSVM
from askew.datasets import make_two_gaussians
from askew.estimators import KNNDescription
from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from askew.exceptions import DataError, ParameterError
from askew.selection.one_class_consistency import ConsistencySearchCV
from askew.selection.one_class_outliers import ArtificialOutlierSearchCV
from askew.selection.one_class_uniform import uniform_outliers


@pytest.fixture(scope="module")
def ring():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    return np.c_[np.cos(angle), np.sin(angle)] * 2 + rng.normal(size=(300, 2)) * 0.15


@parametrize_with_checks(
    [
        ConsistencySearchCV(OneClassSVM(nu=0.2), cv=2),
        ArtificialOutlierSearchCV(OneClassSVM(nu=0.2), {"gamma": [0.1, 1.0]}, n_outliers=100, cv=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


class TestConsistency:
    def test_the_last_candidate_before_the_rejection_rises_is_taken(self, ring):
        search = ConsistencySearchCV(OneClassSVM(nu=0.1), cv=5, random_state=0).fit(ring)
        rates = search.cv_results_["rejection"]
        assert search.limit_ == pytest.approx(0.1 + 2 * np.sqrt(0.1 * 0.9 / len(ring)))
        assert np.all(rates[:-1] <= search.limit_)
        assert rates[-1] > search.limit_
        assert search.best_index_ == len(rates) - 2
        assert search.is_consistent_
        assert search.best_estimator_.gamma == search.best_params_["gamma"]
        np.testing.assert_array_equal(search.predict(ring), search.best_estimator_.predict(ring))

    def test_the_rates_are_those_of_rows_held_out(self, ring):
        search = ConsistencySearchCV(KNNDescription(), "n_neighbors", [5], cv=ShuffleSplit(1, random_state=0)).fit(ring)
        train, test = next(ShuffleSplit(1, random_state=0).split(ring))
        expected = np.mean(KNNDescription(5).fit(ring[train]).predict(ring[test]) == -1)
        assert search.cv_results_["rejection"][0] == pytest.approx(expected)

    def test_more_rows_support_more_complexity(self):
        """On one distribution the width that stays consistent gets narrower as rows are added."""
        X = np.random.default_rng(1).normal(size=(1200, 2))
        chosen = [
            ConsistencySearchCV(OneClassSVM(nu=0.1), cv=5, random_state=0).fit(X[:n]).best_params_["gamma"]
            for n in (80, 1200)
        ]
        assert chosen[0] < chosen[1]

    def test_no_consistent_candidate_is_told(self, ring):
        with pytest.warns(UserWarning, match="simplest candidate.*rejects"):
            search = ConsistencySearchCV(OneClassSVM(nu=0.05), "gamma", [500.0, 1000.0], random_state=0).fit(ring)
        assert not search.is_consistent_
        assert search.best_params_ == {"gamma": 500.0}

    def test_a_precomputed_kernel_is_cut_on_both_sides(self, ring):
        search = ConsistencySearchCV(OneClassSVM(kernel="precomputed"), "nu", [0.5, 0.3], rejection=0.5, cv=3)
        search.fit(rbf_kernel(ring))
        assert search.best_params_ == {"nu": 0.3}

    def test_sparse_rows_are_taken(self, ring):
        dense = ConsistencySearchCV(OneClassSVM(nu=0.1), cv=3, random_state=0).fit(ring)
        packed = ConsistencySearchCV(OneClassSVM(nu=0.1), cv=3, random_state=0).fit(sparse.coo_array(ring))
        assert packed.best_params_["gamma"] == pytest.approx(dense.best_params_["gamma"])

    @pytest.mark.parametrize(
        ("search", "message"),
        [
            (ConsistencySearchCV(OneClassSVM(), "nu"), "param_range must be given for param_name='nu'"),
            (ConsistencySearchCV(OneClassSVM(), "gamma", []), "at least one value"),
            (ConsistencySearchCV(OneClassSVM(kernel="linear")), "does not have"),
            (ConsistencySearchCV(KNNDescription(), n_sigma=-1), "n_sigma"),
        ],
        ids=["no range", "empty range", "no width", "n_sigma"],
    )
    def test_errors_say_what_is_missing(self, search, message, ring):
        with pytest.raises(ParameterError, match=message):
            search.fit(ring)


class TestArtificialOutliers:
    def test_the_hole_of_a_ring_is_found(self, ring):
        search = ArtificialOutlierSearchCV(OneClassSVM(nu=0.1), n_outliers=2000, random_state=0).fit(ring)
        np.testing.assert_array_equal(search.predict([[0.0, 0.0], [2.0, 0.0], [4.0, 4.0]]), [-1, 1, -1])
        results = search.cv_results_
        np.testing.assert_allclose(results["error"], 0.5 * results["rejection"] + 0.5 * results["acceptance"])
        assert search.best_index_ == int(np.argmin(results["error"]))
        assert search.best_score_ == -results["error"].min()

    def test_weight_moves_the_choice(self, ring):
        few_alarms = ArtificialOutlierSearchCV(OneClassSVM(nu=0.1), n_outliers=500, weight=0.95, random_state=0)
        tight = ArtificialOutlierSearchCV(OneClassSVM(nu=0.1), n_outliers=500, weight=0.05, random_state=0)
        assert few_alarms.fit(ring).best_params_["gamma"] < tight.fit(ring).best_params_["gamma"]

    def test_eta_can_be_searched(self, ring):
        search = ArtificialOutlierSearchCV(
            CovarianceOneClassSVM(nu=0.1, gamma=1.0), {"eta": [1.0, 0.5]}, n_outliers=500, cv=3, random_state=0
        ).fit(ring)
        assert search.best_params_["eta"] in (1.0, 0.5)
        assert len(search.cv_results_["params"]) == 2

    def test_what_cannot_be_scored_is_refused(self, ring):
        with pytest.raises(ParameterError, match="precomputed"):
            ArtificialOutlierSearchCV(OneClassSVM(kernel="precomputed"), {"nu": [0.1]}).fit(rbf_kernel(ring))
        with pytest.raises(DataError, match="sparse"):
            ArtificialOutlierSearchCV(OneClassSVM()).fit(sparse.csr_array(ring))

    def test_without_a_refit_there_is_no_model_to_ask(self, ring):
        search = ArtificialOutlierSearchCV(OneClassSVM(nu=0.1), {"gamma": [1.0]}, n_outliers=50, refit=False)
        with pytest.raises(NotFittedError):
            search.predict(ring)
        with pytest.raises(AttributeError, match="refit=False"):
            search.fit(ring).predict(ring)


class TestUniformOutliers:
    def test_they_fill_the_ellipsoid_evenly(self):
        X = np.random.default_rng(2).normal(size=(200, 3)) * [1.0, 5.0, 0.2]
        cloud = uniform_outliers(X, 40000, random_state=0)
        whiten = np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True)))
        radius = np.linalg.norm((cloud - X.mean(axis=0)) @ whiten.T, axis=1)
        reach = np.linalg.norm((X - X.mean(axis=0)) @ whiten.T, axis=1).max()
        assert radius.max() == pytest.approx(1.1 * reach, rel=0.01)
        for share in (0.25, 0.5, 0.75):  # the volume of a ball grows with the cube of its radius
            assert np.quantile(radius / radius.max(), share) == pytest.approx(share ** (1 / 3), abs=0.01)

    def test_the_same_seed_gives_the_same_points(self):
        X = make_two_gaussians(50, random_state=0).X
        np.testing.assert_array_equal(uniform_outliers(X, 5, random_state=3), uniform_outliers(X, 5, random_state=3))

    def test_rows_without_spread_are_enough(self):
        assert np.isfinite(uniform_outliers(np.ones((4, 2)), 10, random_state=0)).all()
