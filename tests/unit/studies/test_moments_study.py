"""The pieces of the study of MIBC: cuts, the grid of peers, gaps, the reading of cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from askew import SVC, MomentSVC
from studies.moments import experiment, methods, sets, tables
from studies.moments.measurements import areas, certified, judge
from studies.moments.sets import Cut, Part
from studies.moments.summary import Results
from studies.protocol.cells import Finished


def a_cut(n: int = 400) -> Cut:
    """Three draws of two overlapping clouds, one row in ten positive."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], [n - n // 10, n // 10])
    return Cut(*(Part(rng.normal(size=(n, 3)) + 0.6 * (y[:, None] > 0), y) for _ in range(3)))


def test_stratified_parts_are_disjoint_and_keep_the_shares() -> None:
    y = np.repeat([-1, 1], [900, 100])
    rows = sets._stratified(y, np.random.default_rng(0))
    assert [len(part) for part in rows] == [500, 200, 300]
    assert [int((y[part] > 0).sum()) for part in rows] == [50, 20, 30]
    assert sorted(np.concatenate(rows)) == list(range(1000))


def test_groups_stay_whole() -> None:
    groups = np.random.default_rng(1).integers(0, 60, 1000)
    rows = sets._by_group(groups, np.random.default_rng(0))
    assert sorted(np.concatenate(rows)) == list(range(1000))
    found = [set(groups[part]) for part in rows]
    assert not (found[0] & found[1])
    assert not (found[0] & found[2])
    assert not (found[1] & found[2])
    assert abs(len(rows[0]) - 500) < 40
    assert abs(len(rows[2]) - 300) < 40


@pytest.mark.parametrize(("ratio", "left"), [(10, 10), (90, 2), (9, 11)])
def test_thinning_leaves_out_positives_only(ratio: int, left: int) -> None:
    y = np.repeat([-1, 1], [100, 30])
    kept = sets.thinned(np.arange(130), y, ratio)
    assert (y[kept] < 0).sum() == 100
    assert (y[kept] > 0).sum() == left


def test_features_are_chosen_by_correlation_with_the_class() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.3, 1, -1)
    X = rng.normal(size=(400, 8))
    X[:, 5] += y
    X[:, 2] -= 2 * y
    X[:, 7] = 3.0
    assert sets.most_correlated(X, y, 2).tolist() == [2, 5]


def test_idf_and_words_come_from_the_training_rows() -> None:
    X = sparse.csr_matrix(np.array([[1.0, 0, 2], [1, 0, 0], [0, 5, 1]]))
    train, validation, _ = sets._weighted_words(X, [np.array([0, 1]), np.array([2]), np.array([2])], is_weighted=False)
    assert train.shape[1] == 2  # the second word is not in the training rows
    assert validation.toarray().tolist() == [[0.0, 1.0]]


def test_titles_are_short() -> None:
    assert sets.title("rcv1_topics_k500/CCAT.C15.C151.C1511") == "RCV1 C1511"
    assert sets.title("reuters21578/gnp@1000") == "Reuters gnp 1:1000"
    assert sets.title("sylva@100") == "sylva 1:100"


def test_areas_are_those_of_scikit_learn_ties_included() -> None:
    rng = np.random.default_rng(0)
    y, scores = np.where(rng.random(200) < 0.2, 1, -1), rng.integers(0, 9, (200, 3)).astype(float)
    assert areas(y, scores) == pytest.approx([roc_auc_score(y, scores[:, k]) for k in range(3)])


def test_the_moved_threshold_comes_from_validation_rows() -> None:
    cut = a_cut()
    score = cut.test.X.sum(axis=1)
    found = judge(cut, cut.validation.X.sum(axis=1) + 7.0, score + 7.0)
    assert found["moved"] > found["natural"] + 0.1
    assert found["roc"][0] >= 0.0
    assert found["roc"][-1] == 1.0


def test_weights_follow_the_ratio() -> None:
    assert methods.weights(40.0) == (1.0, 10.0, 20.0, 40.0, 80.0)


def test_only_converged_fits_are_chosen_and_end_their_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "MOST_STEPS", 1500)
    cut = a_cut()
    fits = list(methods.grid(cut, cut.train, methods.with_gap, (1.0,), to_the_end=False))
    assert len(fits) < 10
    assert [each.has_converged for each in fits] == [True] * (len(fits) - 1) + [False]
    chosen = methods._judged(cut, cut.train, fits)
    assert chosen["converged"]
    assert chosen["n_converged"] == len(fits) - 1


def test_gaps_are_small_at_the_optimum_and_seen_elsewhere() -> None:
    cut = a_cut()
    good = SVC(kernel="linear", C=1.0, class_weight={1: 5.0}, tol=1e-6).fit(cut.train.X, cut.train.y)
    poor = SVC(kernel="linear", C=1.0, class_weight={1: 5.0}, tol=0.5).fit(cut.train.X, cut.train.y)
    assert methods.gap_of_svc(good, cut.train) < 1e-5 < methods.gap_of_svc(poor, cut.train)
    model = MomentSVC(C=1.0, rho=1e-6).fit(cut.train.X, cut.train.y)
    assert abs(methods.gap_of_moments(model, cut.train)) < 1e-6
    model.dual_coef_ *= 0.9
    model.coef_ *= 0.9
    model.intercept_ = 0.9 * (model.intercept_ + 1.0) - 1.0
    assert methods.gap_of_moments(model, cut.train) > 1e-3


def test_balanced_draws_as_many_negatives_as_positives() -> None:
    few = methods.balanced(a_cut().train, np.random.default_rng(0))
    assert (few.y > 0).sum() == (few.y < 0).sum() == (a_cut().train.y > 0).sum()


def test_certificate_holds_on_its_own_negatives_and_diagonal_bound_is_its_formula() -> None:
    cut = a_cut()
    found = certified(MomentSVC(C=1.0, rho=1e-6, covariance="diagonal").fit(cut.train.X, cut.train.y), cut)
    assert found["trained"] <= found["bound"]
    assert all(trained <= t for t, trained, _, _ in found["at"])
    full = certified(MomentSVC(C=1.0, rho=1e-6).fit(cut.train.X, cut.train.y), cut)
    assert full["modelled"] is None
    noise = np.random.default_rng(0).normal(size=(400, 2))  # independent features: the diagonal is the covariance
    train = Part(np.vstack([noise, noise[:20] + 4]), np.repeat([-1, 1], [400, 20]))
    model = MomentSVC(C=1.0, rho=1e-9, covariance="diagonal").fit(train.X, train.y)
    found = certified(model, Cut(train, train, train))
    assert found["modelled"] == pytest.approx(found["bound"], rel=0.15)


def test_cells_of_several_variants_become_methods_paired_by_cut() -> None:
    rows = [
        {"set": "a", "repeat": r, "method": "MIBC full", "hard": None, "cpu": 1.0}
        | {rule: {"auc": 0.8 + 0.01 * r} for rule in ("small", "auto", "chosen")}
        for r in (1, 0, 2)
    ]
    rows += [{"set": "a", "repeat": r, "method": "fisher", "auc": 0.7 + 0.01 * r + 0.001 * (r == 0)} for r in (0, 1)]
    results = Results(Finished(rows))
    assert results.values("a", "MIBC", "auc") == pytest.approx([0.8, 0.81, 0.82])
    test = results.compare("a", "MIBC", "fisher")
    assert test is not None
    assert test.difference == pytest.approx(9.95)
    assert test.p_corrected >= test.p_naive
    assert not results.has("a", "hard")
    assert results.compare("a", "MIBC", "hard") is None


def test_topics_of_one_collection_count_once() -> None:
    methods = ("fisher", "undersampling", "liblinear")
    areas_by_task = {"a": (0.9, 0.8, 0.7), "b": (0.7, 0.8, 0.9), "c/1": (0.7, 0.8, 0.9), "c/2": (0.7, 0.8, 0.9)}
    results = Results(
        Finished(
            [
                {"set": task, "repeat": r, "method": method, "auc": area}
                for task, found in areas_by_task.items()
                for method, area in zip(methods, found, strict=True)
                for r in (0, 1)
            ]
        )
    )
    together, apart = (("a",), ("b",), ("c/1", "c/2")), tuple((task,) for task in areas_by_task)
    table = tables.ranks(results, {"together": together, "apart": apart, "one": (("c/1", "c/2", "missing"),)}, methods)
    rows = [[each.strip() for each in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert rows[0][1:4] == ["2.33", "2.00", "1.67"]
    assert rows[0][-2:] == ["4", "3"]
    assert rows[1][1:4] == ["2.50", "2.00", "1.50"]
    assert float(rows[1][5]) < float(rows[0][5])  # the critical difference of more tasks than there are collections
    assert rows[2] == ["one", "3.00", "2.00", "1.00", "", "", "2", "1"]


def test_the_ranked_collections_are_those_of_the_ranked_tasks() -> None:
    collections = tables._RANKED["dense sets and collections"]
    assert len(collections) == 7
    tasks = [task for each in collections for task in each]
    assert [(task,) for task in tasks] == list(tables._RANKED["every task by itself"])
    assert len(set(tasks)) == 22


def test_factor_models_are_judged_on_every_topic() -> None:
    cells = experiment.text_cells()
    assert {cell["set"] for cell in cells if cell["method"] == "MIBC factor"} == set(sets.TEXT)


def test_the_search_over_ridges_is_timed_by_its_candidates() -> None:
    found = experiment._of_moments(a_cut(), "full")
    assert found["candidates"] == 80
    assert 0.0 < found["path, ridge chosen"] < 10 * found["alone"] + 1.0
    assert len(methods.ridges("factor")) < len(methods.ridges("diagonal"))
