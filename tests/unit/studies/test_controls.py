"""The controls do what their names say."""

import numpy as np
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from askew import MomentSVC
from askew.datasets import make_two_gaussians
from studies.protocol.controls import FisherDirection, best_threshold


def test_fishers_direction_is_the_limit_of_the_moment_machine():
    data = make_two_gaussians(400, rare=0.2, random_state=0)
    limit = MomentSVC(C=1e-9, rho=0.0).fit(data.X, data.y).decision_function(data.X)
    fisher = FisherDirection().fit(data.X, data.y).decision_function(data.X)
    assert np.corrcoef(limit, fisher)[0, 1] > 0.999


def test_sparse_rows_are_scored_without_being_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 50, density=0.1, random_state=0, format="csr")
    y = np.where(np.asarray(X[:, :5].sum(axis=1)).ravel() + 0.1 * rng.random(300) > 0.4, 1, -1)
    assert roc_auc_score(y, FisherDirection().fit(X, y).decision_function(X)) > 0.9


def test_no_threshold_has_a_better_balanced_accuracy():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.2, 1, -1)
    scores = y + rng.normal(scale=1.5, size=200)
    chosen = balanced_accuracy_score(y, np.where(scores >= best_threshold(y, scores), 1, -1))
    every = [balanced_accuracy_score(y, np.where(scores >= t, 1, -1)) for t in scores]
    assert chosen == max(every)
