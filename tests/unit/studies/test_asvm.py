"""The pieces of the ASVM study that numbers pass through: resampling, controls, paper's figures, hulls, tables."""

from __future__ import annotations

import numpy as np
import pytest

from askew import SVC, AsymmetricSVC
from askew.datasets import make_two_gaussians
from askew.metrics import roc_hull
from askew.selection import ToleranceSearchCV
from studies.asvm import paper
from studies.asvm.experiment import SETTINGS, comparisons, pictures
from studies.asvm.measurements import ASYMPTOTICS, angle, inner, judge, overlapping, shares
from studies.asvm.methods import SEARCHED, TwoBalls, searched
from studies.asvm.sets import LARGE, TITLES, nearest_merge, thinned
from studies.asvm.summary import Results, entries, overall
from studies.asvm.tables import first_owner, weights
from studies.protocol.cells import Finished, key


@pytest.mark.parametrize(("positives", "negatives", "most", "expected"), [(268, 500, None, 55), (20, 900, None, 20)])
def test_thinning_keeps_one_positive_in_ten(positives, negatives, most, expected):
    y = np.r_[np.ones(positives), -np.ones(negatives)]
    kept = thinned(y, np.random.default_rng(0), most)
    assert np.sum(y[kept] > 0) == expected
    assert np.sum(y[kept] < 0) == 9 * expected
    assert len(set(kept.tolist())) == len(kept)


def test_thinning_respects_a_bound_of_rows():
    y = np.r_[np.ones(500), -np.ones(9000)]
    kept = thinned(y, np.random.default_rng(0), 1800)
    assert len(kept) == 1800
    assert np.sum(y[kept] > 0) == 180


def test_classes_are_merged_to_come_nearest_to_the_share():
    labels = np.repeat([1, 2, 3, 4], [60, 31, 6, 3])
    assert nearest_merge(labels, 0.1) == (3, 4)


def test_the_paper_s_mean_gain_follows_from_its_table():
    gains = [paper.improvement(t, name) for name, t in entries()]
    assert np.mean(gains) == pytest.approx(paper.MEAN_IMPROVEMENT, abs=0.05)
    assert sum(gain > 0 for gain in gains) == 7


def test_the_paper_s_hulls_stand_on_31_positives():
    assert paper.explains_hulls(31, 469)
    fitting = [(p, n) for p in range(5, 61) for n in range(5 * p, 20 * p) if paper.explains_hulls(p, n)]
    assert fitting == [(31, 469)]


def test_every_cell_has_its_own_key_and_every_set_its_splits():
    cells = [*pictures(), *comparisons()]
    assert len({key(cell) for cell in cells}) == len(cells)
    for name in TITLES:
        wanted = {1.0, 0.1, 0.05} if name in LARGE else {1.0, 0.1}
        for method in ("TH", "ASVM"):
            mine = [cell for cell in comparisons() if (cell["set"], cell["method"]) == (name, method)]
            assert {cell["t"] for cell in mine} == wanted
            assert len(mine) == 10 * len(wanted)


def test_the_inner_product_of_two_machines_is_that_of_their_normals():
    X, y = overlapping(100, 0)
    first, second = (SVC(C=c, kernel="linear").fit(X, y) for c in (0.1, 10.0))
    assert inner(first, second) == pytest.approx(float(first.coef_[0] @ second.coef_[0]), rel=1e-6)
    assert angle(first, first) == pytest.approx(0.0, abs=1e-3)


def test_two_balls_rank_separate_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0.0, 0.5, (40, 2)), rng.normal(4.0, 0.5, (20, 2))])
    y = np.repeat([-1, 1], [40, 20])
    model = TwoBalls(gamma=0.5).fit(X, y)
    scores = model.decision_function(X)
    assert scores[y > 0].min() > scores[y < 0].max()


def test_the_search_before_the_core_is_among_its_models():
    data = make_two_gaussians(150, rare=0.2, random_state=0)
    models, seen = searched("ASVM", data.X, data.y, 0.1, seed=0)
    assert models["nu"].tau_ == 0.0
    assert seen["candidates"] == 65
    judged = judge(models["ASVM"], data.X, data.y)
    assert judged["hull"][-1] == [judged["negatives"], judged["positives"]]
    assert 0.0 <= judged["areas"]["0.1"] <= 0.1


def test_outliers_stay_within_the_theorem():
    X, y = overlapping(200, 1)
    found = shares(AsymmetricSVC(ASYMPTOTICS["mu"], 0.3, gamma=0.5, tol=1e-6).fit(X, y), len(y))
    assert found["class_margin"] > 0
    difference = found["o_plus"] - found["o_minus"]
    assert 0.3 - found["s_plus"] - 1e-9 <= difference <= 0.3 + found["s_minus"] + 1e-9


def test_the_first_owner_of_a_hull():
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    early = [1, 2, 3, 6, 4, 5, 7, 8]  # two positives above every negative
    late = [1, 2, 3, 8, 4, 5, 6, 7]
    owner = first_owner(roc_hull(y, {"ASVM": early, "TH": late}))
    assert owner["owner"] == "ASVM"
    assert first_owner(roc_hull(y, {"ASVM": early, "TH": early}))["owner"] == "shared"


def row(name, model, repeat, area):
    models = {model: {"test": {"areas": {"0.1": area}}, "fit": {}}}
    return {
        "kind": "compare",
        "set": name,
        "t": 0.1,
        "method": model,
        "repeat": repeat,
        "cpu": 0.0,
        "search": {},
        "models": models,
    }


def test_gains_are_relative_to_the_mean_of_the_other():
    rows = [
        row(name, model, repeat, area)
        for name in ("pima", "ionosphere")
        for repeat in (0, 1)
        for model, area in (("TH", 0.05), ("ASVM", 0.06))
    ]
    gain = overall(Results(Finished(rows)))["ASVM over TH"]
    assert gain["mean"] == pytest.approx(20.0)
    assert gain["better"] == 2


def test_a_table_of_two_tests_doubles_the_smaller_p():
    areas = {"ASVM 9:1": (0.061, 0.062, 0.066), "ASVM": (0.05, 0.05, 0.05), "TH": (0.06, 0.064, 0.062)}
    rows = [row("pima", model, repeat, area) for model, each in areas.items() for repeat, area in enumerate(each)]
    lines = weights(Results(Finished(rows))).splitlines()
    assert "p Holm, of 2" in lines[0]
    smaller, larger = ([float(value) for value in line.split("|")[-4:-1]] for line in lines[2:])
    assert smaller[0] < smaller[1] < larger[1]
    assert smaller[2] == pytest.approx(2 * smaller[1], rel=0.05)
    assert larger[2] == pytest.approx(larger[1], rel=0.05)


def test_grids_and_seeds_are_settings():
    assert SETTINGS["tau of the search, of what mu leaves"] == SEARCHED["tau"]
    data = make_two_gaussians(120, rare=0.25, random_state=0)
    search = ToleranceSearchCV(AsymmetricSVC(), None, cv=2).fit(data.X, data.y)
    assert len({setting["mu"] for setting in search.cv_results_["params"]}) == len(SEARCHED["mu"])
    assert len({setting["tau"] for setting in search.cv_results_["params"]}) == 1 + len(SEARCHED["tau"])
    kinds = {cell["kind"] for cell in pictures()} - {"audit", "core"}
    assert all(any(kind in name for name in SETTINGS["seeds"]) for kind in kinds)
