"""The pieces of the COSVM study: readings of the protocol, made problems, what a cell records."""

from __future__ import annotations

import numpy as np
import pytest

from askew import SVDD, OneClassSVM
from askew.estimators import KNNDescription
from askew.exceptions import DataError
from studies.cosvm import paper
from studies.cosvm.experiment import MADE, cells, made, reference, work
from studies.cosvm.summary import summarise
from studies.cosvm.tables import _difference, _rank_if_joined
from studies.cosvm.targets import ARRAYS, SCALINGS, TITLES, Model, areas, draw, scaled
from studies.protocol.gap import relative_gap


def test_the_readings_differ_in_who_counts_as_target():
    scores = {"train": [3.0, 4.0], "held_out": [1.0], "outliers": [2.0, 0.0]}
    found = areas(scores)
    assert found["held out"] == pytest.approx(1 / 2)
    assert found["all targets"] == pytest.approx(5 / 6)
    assert found["literal"] == pytest.approx(1.0)


def test_units_come_from_the_training_targets_alone():
    rng = np.random.default_rng(0)
    model = Model(rng.normal(5, 2, (40, 3)), rng.normal(50, 1, (5, 3)), rng.normal(-9, 1, (7, 3)))
    standard = scaled(model, "standard")
    np.testing.assert_allclose(standard.train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(standard.train.std(axis=0), 1)
    assert standard.held_out.mean() > 10
    ranged = scaled(model, "range")
    assert ranged.train.min() == 0
    assert ranged.train.max() == pytest.approx(1)
    assert ranged.outliers.max() < 0


def test_arrays_are_scaled_row_by_row():
    rng = np.random.default_rng(0)
    model = Model(*(rng.lognormal(size=(n, 30)) for n in (9, 2, 5)))
    louder = Model(model.train, 7 * model.held_out, model.outliers**2)
    for part in ("train", "held_out", "outliers"):
        np.testing.assert_allclose(getattr(scaled(louder, ARRAYS), part), getattr(scaled(model, ARRAYS), part))


def test_made_outliers_stand_on_the_axis_they_are_named_after():
    near, far = (made(side, 0) for side in MADE)
    assert near.train.std(axis=0)[1] / near.train.std(axis=0)[0] == pytest.approx(10, rel=0.3)
    assert np.abs(near.outliers[:, 0]).mean() > 2.5 * np.abs(near.held_out[:, 0]).mean()
    assert np.abs(far.outliers[:, 1]).mean() > 2.5 * np.abs(far.held_out[:, 1]).mean()


def test_svdd_ranks_as_the_one_class_svm_at_the_same_width():
    """So a difference of the two in a table is one of widths."""
    found = work({"kind": "table", "target": "along much variance", "scaling": "raw", "repeat": 0})["methods"]
    assert found["SVDD"]["auc"] == pytest.approx(found["OSVM"]["auc"])
    assert max(each.get("gap", 0.0) for each in found.values()) < 1e-3


def test_the_gap_is_small_where_the_fit_converged():
    X = np.random.default_rng(0).normal(size=(80, 3))
    for machine in (OneClassSVM(nu=0.2), SVDD(nu=0.2)):
        assert 0 <= relative_gap(machine.fit(X), len(X)) < 1e-3
    assert relative_gap(KNNDescription().fit(X), len(X)) is None


def test_references_are_scored_on_outliers_they_have_not_seen():
    rng = np.random.default_rng(0)
    alike = Model(*(rng.normal(size=(n, 4)) for n in (60, 60, 60)))
    apart = Model(alike.train, alike.held_out, alike.outliers + 4)
    assert reference(alike)["methods"]["SVC"]["auc"] == pytest.approx(0.5, abs=0.15)
    assert reference(apart)["methods"]["SVC"]["auc"] > 0.99


def test_every_cell_is_there_once_and_the_papers_models_are_among_them():
    for quick in (True, False):
        keys = [tuple(cell.values()) for cell in cells(quick)]
        assert len(keys) == len(set(keys))
    tables = [cell for cell in cells(False) if cell["kind"] == "table" and cell["target"] in TITLES]
    assert {cell["target"] for cell in tables} == set(paper.TABLE_1)
    assert len({cell["repeat"] for cell in tables}) >= paper.N_MODELS


def test_references_stand_beside_every_scaling():
    beside = {(cell["target"], cell["scaling"]) for cell in cells(False) if cell["kind"] == "reference"}
    tables = {(cell["target"], cell["scaling"]) for cell in cells(False) if cell["kind"] == "table"}
    assert beside == tables


def test_the_rank_of_a_reference_is_its_place_among_the_six():
    six = {method: {"auc": auc} for method, auc in zip(paper.METHODS, (0.9, 0.8, 0.7, 0.6, 0.5, 0.4), strict=True)}
    found = {"descriptions": {s: dict.fromkeys(TITLES, six) for s in SCALINGS}}
    for auc, place in ((0.95, 1), (0.75, 3), (0.7, 3.5), (0.1, 7)):
        found["references"] = {s: {target: {"SVC": {"auc": auc}} for target in TITLES} for s in SCALINGS}
        assert _rank_if_joined(found, "raw", "SVC") == place


def test_bold_stands_and_slanted_is_alone():
    test = {"difference": 0.02, "half_width": 0.01, "p_corrected": 0.01}
    assert _difference(test, 0.04) == "**+2.0 ± 1.0**"
    assert _difference(test, 0.2) == "*+2.0 ± 1.0*"
    assert _difference({**test, "p_corrected": 0.06}, 1.0) == "+2.0 ± 1.0"


def test_summary_of_finished_cells():
    wanted = [{"kind": "table", "target": "along little variance", "scaling": "raw", "repeat": r} for r in (0, 1)]
    found = summarise([{**cell, **work(cell), "cpu": 60.0} for cell in wanted])
    assert found["cpu_minutes"] == 2.0
    own = found["descriptions"]["raw"]["along little variance"]["OSVM"]
    assert 0.5 < own["auc"] <= 1
    assert own["half_width"] > 0
    test = found["tests"]["raw"]["along little variance"]["COSVM"]["OSVM"]
    assert test["p_corrected"] >= test["p_naive"]


def test_a_tenth_of_the_targets_is_taken_away():
    try:
        first, again, other = (draw("haberman+", repeat, "raw") for repeat in (0, 0, 1))
    except DataError as missing:
        pytest.skip(f"needs the data folder: {missing}")
    assert (len(first.train), len(first.held_out), len(first.outliers)) == (73, 8, 225)
    np.testing.assert_array_equal(first.held_out, again.held_out)
    assert not np.array_equal(first.held_out, other.held_out)
