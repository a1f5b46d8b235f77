"""The two fits, the folds, the measures and the search, each by itself."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from askew.exceptions import InfeasibleError
from askew.kernels import RBF, Gram
from askew.kernels.bends import Symmetric
from askew.methods import kernel_scaling, kernel_scaling_search
from askew.methods.kernel_scaling import Task, first_fit, fit, input_space, scaled_fit
from askew.methods.kernel_scaling_measures import IMAGINED, balanced_accuracy_gain, tolerance_auc_gain
from askew.methods.kernel_scaling_rules import SCALINGS, rule_of
from askew.methods.kernel_scaling_score import Surroundings, columns_of, needs_distances, scores_from_sums, unite
from askew.methods.kernel_scaling_search import candidates_of, deal_folds, search
from askew.metrics import tolerance_auc_score
from askew.solvers import solve as solve_programme


def solve(problem, start=None):
    return solve_programme(problem, start=start, tol=1e-6)


def _task(n=120, seed=0, rare=0.2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < rare * n, 1.0, -1.0)
    X = rng.standard_normal((n, 3)) + 1.2 * (y[:, None] > 0)
    ones = np.ones(n)
    return Task(Gram(RBF(0.3), X), y, 10.0 * ones, ones, np.arange(n), input_space(X)), X


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("max_scalings", [1, 3])
def test_scoring_the_training_rows_gives_the_scores_of_the_fit(scaling, max_scalings):
    task, X = _task()
    machines = fit(task, rule_of(scaling, (2.0, 1.0)), solve, max_scalings, tol=0.0)
    assert len(machines) == 1 + max_scalings
    union, united = unite([[m.stage for m in machines]], (task.y > 0).astype(int))
    kernel = Gram(RBF(0.3), X[union])
    around = Surroundings(kernel, kernel.diagonal(), lambda Z: np.ones(len(Z)), input_space(X[union]))
    np.testing.assert_allclose(around.scores(united, X)[:, 0], machines[-1].score, atol=1e-10)
    if not needs_distances(united):
        sums = kernel.weighted_sum(X, columns_of(united, len(union)))
        np.testing.assert_allclose(scores_from_sums(united, sums)[:, 0], machines[-1].score, atol=1e-10)


def test_the_second_solve_starts_from_the_first():
    starts = []

    def watched(problem, start=None):
        starts.append(start)
        return solve(problem, start)

    task, _ = _task()
    machines = fit(task, rule_of("symmetric", (2.0, 2.0)), watched, 1)
    assert starts[0] is None
    np.testing.assert_array_equal(starts[1], machines[0].solution.beta)


def test_no_strength_is_no_second_fit():
    task, _ = _task()
    assert len(fit(task, rule_of("asymmetric", (0.0, 0.0)), solve, 5)) == 1


def test_scaling_goes_on_until_the_scores_rest():
    task, _ = _task()
    machines = fit(task, rule_of("symmetric", (0.3, 0.3)), solve, 60, tol=1e-3)
    assert 2 < len(machines) < 61
    change = [np.max(np.abs(b.score - a.score)) / max(1.0, np.abs(b.score).max()) for a, b in pairwise(machines)]
    assert change[-1] <= 1e-3 < min(change[:-1])


@pytest.mark.parametrize(("k_majority", "k_minority", "named"), [(1e9, 0.0, "majority"), (0.0, 1e9, "minority")])
def test_a_class_that_vanishes_from_the_kernel_is_named(k_majority, k_minority, named):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) < 12, 1.0, -1.0)
    X = 0.3 * rng.standard_normal((60, 2)) + 4.0 * (y[:, None] > 0)  # every row on its own side
    task = Task(Gram(RBF(0.3), X), y, np.full(60, 10.0), np.ones(60), np.arange(60))
    with pytest.raises(InfeasibleError, match=rf"all \d+ rows of the {named} class out of the kernel.*smaller k"):
        fit(task, rule_of("asymmetric", (k_majority, k_minority)), solve)


def test_rows_that_vanish_beside_others_that_do_not_are_fitted():
    task, _ = _task()
    first = first_fit(task, solve)
    rate = 800.0 / np.median(first.score**2)  # exp(−800) is zero: half the rows are gone
    second = scaled_fit(task, first, Symmetric(rate), solve)
    assert second.solution.status.has_converged
    assert np.all(np.isfinite(second.score))


def test_a_repeated_row_is_one_anchor_within_its_class():
    task, _ = _task(6)
    beta, y = np.array([1.0, 1.0, 1e-13, -1.0, -1.0, 0.0]), np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    doubled = Task(task.matrix, y, task.cost, task.weight, np.array([7, 7, 8, 7, 9, 5]))
    assert doubled.anchors(beta).tolist() == [0, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_folds_keep_repetitions_together_and_do_not_depend_on_the_order(seed):
    rng = np.random.default_rng(seed)
    identity = rng.integers(0, 40, 100)
    y = np.where(rng.random(41) < 0.3, 1.0, -1.0)[identity]
    fold = deal_folds(y, identity, 4)
    for row in np.unique(identity):
        assert len(set(fold[identity == row])) == 1
    assert all({-1.0, 1.0} == set(y[fold == f]) for f in range(4))
    order = rng.permutation(100)
    np.testing.assert_array_equal(deal_folds(y[order], identity[order], 4), fold[order])


def test_the_gain_in_balanced_accuracy_is_that_of_scikit_learn_but_for_the_imagined_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    y, scores = np.where(rng.random(300) < 0.2, 1.0, -1.0), rng.standard_normal((4, 300))
    direct = [balanced_accuracy_score(y, np.where(s > 0, 1, -1)) for s in scores]
    monkeypatch.setattr("askew.methods.kernel_scaling_measures.IMAGINED", 0.0)
    gain, error = balanced_accuracy_gain(scores, y, np.ones(300), np.zeros(300, int))
    np.testing.assert_allclose(gain, np.array(direct) - direct[0], atol=1e-12)
    monkeypatch.setattr("askew.methods.kernel_scaling_measures.IMAGINED", IMAGINED)
    shrunk, wider = balanced_accuracy_gain(scores, y, np.ones(300), np.zeros(300, int))
    assert np.all(np.abs(shrunk[1:]) < np.abs(gain[1:]))
    assert error[0] == wider[0] == 0.0


def test_a_handful_of_rare_rows_that_all_agree_is_no_certainty():
    y = np.array([1.0] * 3 + [-1.0] * 200)
    scores = np.vstack([np.full(203, -1.0), np.where(y > 0, 1.0, -1.0)])
    gain, error = balanced_accuracy_gain(scores, y, np.ones(203), np.zeros(203, int))
    assert gain[1] > 0
    assert error[1] > 0.05


def test_weights_of_rows_are_repetitions_in_both_measures():
    rng = np.random.default_rng(1)
    y, scores, fold = np.where(np.arange(90) % 4 == 0, 1.0, -1.0), rng.standard_normal((3, 90)), np.arange(90) // 45
    weight = rng.integers(1, 4, 90)
    again = np.repeat(np.arange(90), weight)
    for measure in (balanced_accuracy_gain, tolerance_auc_gain(0.2)):
        one = measure(scores, y, weight.astype(float), fold)
        two = measure(scores[:, again], y[again], np.ones(len(again)), fold[again])
        np.testing.assert_allclose(one, two, atol=1e-12)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_gain_in_t_auc_is_that_of_the_metric(sign):
    rng = np.random.default_rng(2)
    y, scores, fold = np.where(np.arange(80) % 5 == 0, 1.0, -1.0), rng.standard_normal((2, 80)), np.arange(80) // 40
    gain, _ = tolerance_auc_gain(0.3, sign)(scores, y, np.ones(80), fold)
    area = lambda s, f: tolerance_auc_score(sign * y[f] > 0, sign * s[f], 0.3, normalize=True)  # noqa: E731
    expected = np.mean([area(scores[1], fold == f) - area(scores[0], fold == f) for f in (0, 1)])
    np.testing.assert_allclose(gain, [0.0, expected], atol=1e-12)


def test_every_search_has_the_plain_machine_as_its_first_candidate():
    for scaling in SCALINGS:
        grid = candidates_of(scaling, (None, None))
        assert grid[0] == (0.0, 0.0)
        assert len(set(grid)) == len(grid) > 5
    assert {k for _, k in candidates_of("asymmetric", (None, 2.0))} == {2.0}
    assert {k for k, _ in candidates_of("asymmetric", (5.0, None))} == {5.0}


def test_where_bending_cannot_gain_nothing_is_bent():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) < 40, 1.0, -1.0)
    X = 0.5 * rng.standard_normal((80, 2)) + 3.0 * (y[:, None] > 0)
    task = Task(Gram(RBF(0.3), X), y, np.full(80, 10.0), np.ones(80), np.arange(80))
    found = search(task, "asymmetric", candidates_of("asymmetric", (None, None)), solve, balanced_accuracy_gain)
    assert found.chosen == (0.0, 0.0)
    assert found.n_folds == 5


def test_the_search_finds_a_gain_that_is_there():
    task, _ = _task(300, seed=1, rare=0.15)
    found = search(task, "asymmetric", candidates_of("asymmetric", (None, None)), solve, balanced_accuracy_gain)
    assert found.chosen != (0.0, 0.0)
    best = found.candidates.index(found.chosen)
    assert found.gains[best] > found.errors[best] > 0


def test_held_out_scores_of_the_search_are_those_of_a_fit_on_the_other_folds():
    task, _ = _task(90, seed=5)
    fold = deal_folds(task.y, task.identity, 3)
    seen = {}

    def spy(scores, y, weight, given):
        np.testing.assert_array_equal(given, fold)
        seen["scores"] = scores.copy()
        return np.zeros(len(scores)), np.zeros(len(scores))

    for scaling in SCALINGS:
        search(task, scaling, [(0.0, 0.0), (1.0, 2.0)], solve, spy, n_folds=3)
        train = np.flatnonzero(fold != 1)
        machines = fit(task.part(train), rule_of(scaling, (1.0, 2.0)), solve)
        union, united = unite([[m.stage.moved(train) for m in machines]], (task.y > 0).astype(int))
        X = task.matrix.points.X
        kernel = Gram(RBF(0.3), X[union])
        around = Surroundings(kernel, kernel.diagonal(), lambda Z: np.ones(len(Z)), input_space(X[union]))
        np.testing.assert_allclose(seen["scores"][1, fold == 1], around.scores(united, X[fold == 1])[:, 0], atol=1e-6)


def test_a_class_with_one_row_cannot_be_searched_and_is_not_bent():
    task, _ = _task(30, rare=1 / 30)
    found = search(task, "symmetric", candidates_of("symmetric", (None, None)), solve, balanced_accuracy_gain)
    assert (found.chosen, found.n_folds) == ((0.0, 0.0), 0)


def test_large_data_are_searched_by_some_of_their_rows(monkeypatch):
    monkeypatch.setattr(kernel_scaling_search, "LARGEST_SEARCH", 60)
    task, _ = _task(200, rare=0.1)
    found = search(task, "symmetric", [(0.0, 0.0), (1.0, 1.0)], solve, balanced_accuracy_gain)
    assert found.n_rows == 60
    kept = kernel_scaling_search._rows_to_search(task)
    assert np.sum(task.y[kept] > 0) == 20  # all of the rare class


def test_the_majority_is_the_class_with_more_weight():
    task, _ = _task(10, rare=0.3)
    assert task.majority_sign == -1.0
    heavy = Task(task.matrix, task.y, task.cost, np.where(task.y > 0, 9.0, 1.0), task.identity)
    assert heavy.majority_sign == 1.0
    assert kernel_scaling.Task.is_minority.fget(heavy).sum() == 7
