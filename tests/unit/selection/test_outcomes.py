"""Ranking of candidates: settled rankings first, failures last."""

import numpy as np

from askew.selection.outcomes import Outcomes


def table():
    outcomes = Outcomes.empty([{"C": 1}, {"C": 2}, {"C": 3, "gamma": 0.1}, {"C": 4}], 2)
    outcomes.scores[:] = [[0.5, 0.7], [0.9, 0.9], [0.6, 0.6], [0.8, np.nan]]
    outcomes.resolved[1, 1] = False
    return outcomes


def test_an_unsettled_ranking_is_not_chosen_by_luck():
    outcomes = table()
    assert outcomes.ranks.tolist() == [1, 3, 1, 4]
    assert outcomes.best == 0


def test_without_any_settled_one_the_best_score_stands():
    outcomes = table()
    outcomes.resolved[:] = False
    assert outcomes.best == 1


def test_the_table_in_scikit_learns_words():
    results = table().as_cv_results()
    assert results["param_gamma"].mask.tolist() == [True, True, False, True]
    assert results["param_C"].tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(results["mean_test_score"], [0.6, 0.9, 0.6, np.nan])
    assert results["is_resolved"].tolist() == [True, False, True, True]
    assert results["params"][2] == {"C": 3, "gamma": 0.1}


def test_tables_join():
    one, two = table(), table()
    one.fail(ValueError("no"))
    two.fail(ValueError("no"))
    both = one.joined(two)
    assert both.scores.shape == (8, 2)
    assert both.errors == {"ValueError: no": 2}
