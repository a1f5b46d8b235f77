"""The study across papers: fair splits, equal grids, one rule for thresholds, and ranks that find a planted winner."""

import gzip

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid

from askew import SVC, OneClassSVM
from askew.datasets import make_two_gaussians
from studies.across import sets
from studies.across.experiment import cells, ending, judge, relative_gap
from studies.across.methods import METHODS, RANKED, Facts, Method, Resampled
from studies.across.summary import OVERLAP, UNMOVED, Results, against, summarise
from studies.protocol.cells import Finished, TooFewCells
from studies.protocol.controls import FisherDirection

pytest.importorskip("imblearn")
pytest.importorskip("pyod")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with a mild set of people who repeat, and a large rare one."""
    rng = np.random.default_rng(0)
    (tmp_path / "extra").mkdir()
    with gzip.open(tmp_path / "breast_wisconsin.csv.gz", "wt") as stream:
        stream.write("a,b,group,label,y\n")
        for i in range(300):
            y = 1 if i % 3 == 0 else -1
            stream.write(f"{rng.normal() + y},{rng.normal()},p{i // 2},{y},{y}\n")
    y = np.where(np.arange(3000) < 60, 1, -1).astype(np.int8)
    np.savez(tmp_path / "extra" / "aloi.npz", X=rng.normal(size=(3000, 2)), y=y)
    monkeypatch.setenv("ASKEW_DATA", str(tmp_path))
    sets.pool.cache_clear()
    yield tmp_path
    sets.pool.cache_clear()


@pytest.mark.usefixtures("folder")
def test_a_mild_set_is_thinned_to_one_in_ten_and_people_stay_on_one_side():
    parts = sets.split("breast_wisconsin", 0)
    positives = np.sum(parts.y > 0) + np.sum(parts.y_test > 0)
    assert positives == round(200 / sets.THINNED)
    seen = {tuple(row) for row in parts.X}
    assert not any(tuple(row) in seen for row in parts.X_test)
    people = set(parts.groups)
    whole = sets.pool("breast_wisconsin")
    rows_of_test = [int(np.flatnonzero((row == whole.X).all(axis=1))[0]) for row in parts.X_test]
    assert not people & set(whole.groups[rows_of_test])


@pytest.mark.usefixtures("folder")
def test_a_large_set_keeps_enough_positives_and_a_split_is_the_same_for_everyone():
    parts, again, other = sets.split("aloi", 1), sets.split("aloi", 1), sets.split("aloi", 2)
    assert len(parts.y) == sets.MOST_TRAINING
    assert np.sum(parts.y > 0) == sets.FEWEST_POSITIVES  # 14 by proportion
    assert len(parts.y_test) == 900
    np.testing.assert_array_equal(parts.X, again.X)
    assert not np.array_equal(parts.X, other.X)


def test_grids_are_of_one_size_and_share_their_widths():
    facts = Facts(20, 0.1)
    sizes = {name: len(ParameterGrid(METHODS[name].candidates(facts))) for name in RANKED if METHODS[name].grid}
    assert max(sizes.values()) == 12
    assert {name for name, size in sizes.items() if size < 12} == {"gradient boosting"}
    widths = [
        sorted({c[key] for c in ParameterGrid(METHODS[name].candidates(facts)) for key in c if key.endswith("gamma")})
        for name in RANKED
        if METHODS[name].grid
    ]
    assert {tuple(w) for w in widths if w} == {(0.1 / 20, 1 / 20, 10 / 20)}


def test_recipes_tell_methods_apart():
    recipes = {name: METHODS[name].recipe for name in METHODS}
    assert len(set(recipes.values())) == len(recipes)
    assert METHODS["SVC"].recipe == METHODS["SVC"].recipe
    quick = cells(quick=True)
    assert len(quick) == len({str(cell) for cell in quick})


class WithDefault(FisherDirection):
    """A parameter that its repr leaves out while it is at its default."""

    def __init__(self, ridge=1.0):
        self.ridge = ridge


class WithAnotherDefault(FisherDirection):
    def __init__(self, ridge=2.0):
        self.ridge = ridge


def test_a_changed_default_changes_the_recipe_also_inside_a_wrapper():
    WithAnotherDefault.__qualname__ = WithDefault.__qualname__
    assert recipe_of(WithDefault()) != recipe_of(WithAnotherDefault())
    assert recipe_of(Resampled(None, WithDefault())) != recipe_of(Resampled(None, WithAnotherDefault()))
    assert recipe_of(WithDefault()) == recipe_of(WithDefault(ridge=1.0))


def recipe_of(machine):
    return Method(lambda: machine, None, "control").recipe


def test_the_guided_detector_and_the_plain_one_may_choose_the_same_nu():
    found = {name: METHODS[name].candidates(Facts(20, 0.1)) for name in ("OneClassSVM", "CovarianceOneClassSVM")}
    plain, guided = (grid["machine__detector__nu"] for grid in found.values())
    assert min(plain) == min(guided) == 0.02
    assert 0.2 in guided


def of_gaussians(n=240):
    data = make_two_gaussians(n, rare=0.2, random_state=0)
    half = np.arange(n) % 2 == 0
    return sets.Parts(data.X[half], data.y[half], None, data.X[~half], data.y[~half])


@pytest.mark.parametrize("name", ["MomentSVC", "SVC balanced", "OneClassSVM", "PyOD ECOD", "Fisher direction"])
def test_every_kind_of_method_goes_through_the_same_protocol(name):
    found = judge(METHODS[name], of_gaussians())
    assert found["auc"] > 0.7
    assert found["balanced_accuracy"] > 0.65
    assert found["rows"] == [120, 28, 120, 20]
    assert ("relative_gap" in found) == (name in ("MomentSVC", "SVC balanced", "OneClassSVM"))


class Stretched(FisherDirection):
    """Fisher's direction in units that change with the number of rows."""

    def decision_function(self, X):
        return (super().decision_function(X) + 3.0) * self.size_**3

    def fit(self, X, y):
        self.size_ = len(y)
        return super().fit(X, y)


def test_a_threshold_from_folds_does_not_depend_on_the_unit_of_a_score():
    parts = of_gaussians()
    fisher, stretched = (judge(Method(each, None, "control"), parts) for each in (FisherDirection, Stretched))
    assert fisher["balanced_accuracy"] == stretched["balanced_accuracy"] > 0.65
    assert "balanced_accuracy" not in judge(Method(FisherDirection, None, "control"), parts, moved=False)


SHOWN = ["OneClassSVM", "SVDD", "OneClassSVM on positives", "PyOD IForest", "PyOD ECOD", "PyOD KNN", "PyOD LOF"]


@pytest.mark.parametrize("name", SHOWN)
def test_detectors_point_to_the_positives_whichever_class_they_were_shown(name):
    """Positives far out on one side: unlike the negatives, and like each other."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), np.repeat([1, -1], [40, 360])
    X[y > 0] += 4.0
    model = METHODS[name].pipeline().fit(X[::2], y[::2])
    assert roc_auc_score(y[1::2], model.decision_function(X[1::2])) > 0.95
    alarms = model.predict(X[1::2]) > 0
    assert alarms[y[1::2] > 0].mean() > alarms[y[1::2] < 0].mean() + 0.3


def test_a_sampler_that_refuses_leaves_the_rows_as_they_are():
    from imblearn.over_sampling import SMOTE

    data = make_two_gaussians(100, rare=0.2, random_state=0)
    assert Resampled(SMOTE(random_state=0), SVC()).fit(data.X, data.y).is_resampled_
    few = np.r_[np.flatnonzero(data.y > 0)[:3], np.flatnonzero(data.y < 0)]
    refused = Resampled(SMOTE(random_state=0), SVC()).fit(data.X[few], data.y[few])
    assert not refused.is_resampled_
    np.testing.assert_allclose(
        refused.decision_function(data.X), SVC().fit(data.X[few], data.y[few]).decision_function(data.X)
    )


def test_a_refusal_is_recorded_for_the_fit_and_for_every_fold():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.where(np.arange(120) % 6 < 2, 1, -1)
    mixed = sets.Parts(X[::2], y[::2], None, X[1::2], y[1::2])
    found = judge(METHODS["ADASYN + SVC"], mixed, moved=False)
    assert (found["resampled"], found["resampled_folds"]) == (True, 3)
    X[y > 0] += 100.0  # no positive has a negative among its neighbours
    far = sets.Parts(X[::2], y[::2], None, X[1::2], y[1::2])
    found = judge(METHODS["ADASYN + SVC"], far, moved=False)
    assert (found["resampled"], found["resampled_folds"], found["auc"]) == (False, 0, 1.0)
    assert "resampled" not in judge(METHODS["SVC"], far, moved=False)


def test_logistic_regression_says_whether_it_stopped_before_its_limit():
    data = make_two_gaussians(200, rare=0.3, random_state=0)
    assert ending(LogisticRegression().fit(data.X, data.y)) == {"status": "converged"}
    with pytest.warns(ConvergenceWarning):
        cut_short = LogisticRegression(max_iter=1, tol=1e-12).fit(data.X, data.y)
    assert ending(cut_short) == {"status": "max_iter"}


def test_the_bound_of_the_relative_gap_holds():
    data = make_two_gaussians(200, rare=0.3, random_state=0)
    model = SVC(gamma=0.5, tol=0.1).fit(data.X, data.y)
    K = rbf_kernel(model.support_vectors_, gamma=0.5)
    beta = model.dual_coef_.ravel()
    objective = np.abs(beta).sum() - 0.5 * beta @ K @ beta
    exact = float(model.dual_gap_[0]) / objective
    assert exact <= relative_gap(model) <= 2.5 * exact
    detector = OneClassSVM(nu=0.3, gamma=0.5, tol=0.1).fit(data.X)
    K = rbf_kernel(detector.support_vectors_, gamma=0.5)
    alpha = detector.dual_coef_.ravel()
    assert relative_gap(detector) == pytest.approx(detector.dual_gap_ / (0.5 * alpha @ K @ alpha), rel=1e-6)
    assert ending(object()) == {}


def test_the_overlap_counts_the_split_and_not_what_was_drawn_of_it():
    assert pytest.approx(3 / 7) == OVERLAP
    drawn = results_of([r | {"rows": [700, 40, 4000, 230]} for r in planted("MomentSVC", "PyOD ECOD")])
    found = against(drawn, "tauc_0.1", drawn.families())
    assert found["MomentSVC"].surely_won == 15


def test_moved_and_own_thresholds_are_compared_on_the_same_splits():
    rows = planted("SVDD", "PyOD ECOD")
    for row in rows:
        row["own_balanced_accuracy"] = 0.5 if row["repeat"] < 2 else 0.9
        if row["repeat"] >= 2:
            del row["balanced_accuracy"]
    results = results_of(rows)
    assert results.own_decisions("ada", "SVC").tolist() == [0.5, 0.5]
    assert results.standing("balanced_accuracy", results.families()).means[UNMOVED] == 0.5


def results_of(rows):
    return Results(Finished(rows))


def planted(winner, loser, n_splits=5):
    """Cells in which one method always wins, one always loses, and the rest are alike."""
    rng = np.random.default_rng(0)
    rows = []
    for name in sets.FIRST[:15]:
        for repeat in range(n_splits):
            for method in METHODS:
                score = 0.8 + 0.02 * rng.normal() + 0.15 * (method == winner) - 0.3 * (method == loser)
                measures = dict.fromkeys(("auc", "tauc_0.1", "tauc_0.01", "balanced_accuracy"), score)
                rows.append(
                    {"set": name, "repeat": repeat, "method": method, "own_balanced_accuracy": score, **measures}
                    | {"rows": [700, 40, 300, 17]}
                )
    return rows


def test_a_planted_winner_is_ranked_first_and_surely_beats_the_baseline():
    results = results_of(planted("MomentSVC", "PyOD ECOD"))
    standing = results.standing("tauc_0.1", results.families())
    assert standing.ranks["MomentSVC"] == 1.0
    assert standing.ranks["PyOD ECOD"] == len(RANKED)
    assert standing.ranking.p_friedman < 1e-6
    found = against(results, "tauc_0.1", results.families())
    assert found["MomentSVC"].won == found["MomentSVC"].surely_won == 15
    assert found["PyOD ECOD"].surely_lost == 15
    assert found["MomentSVC"].p_holm < 0.05 < found["SVC"].p_holm
    assert "SVC balanced" not in found


def test_a_split_that_one_method_has_not_finished_does_not_count():
    rows = planted("SVC", "PyOD ECOD")
    unfinished = [r for r in rows if not (r["method"] == "MomentSVC" and r["repeat"] == 4 and r["set"] == "ada")]
    results = results_of([r for r in unfinished if not (r["set"] == "aloi" and r["method"] == "SVC")])
    assert results.splits("ada") == 4
    assert "aloi" not in results.sets


def test_the_finest_measure_needs_enough_negatives():
    results = results_of([r | {"rows": [700, 40, 100, 17]} if r["set"] == "ada" else r for r in planted("SVC", "SVDD")])
    assert "ada" not in results.among("tauc_0.01", results.sets)
    assert "ada" in results.among("auc", results.sets)


def test_a_single_set_is_too_few_to_rank_on():
    with pytest.raises(TooFewCells, match="whole splits on 1 sets"):
        summarise(Finished([row for row in planted("SVC", "SVDD") if row["set"] == "ada"]))
