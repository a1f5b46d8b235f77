"""Model files: the same scores again, no code run, strangers and other versions refused by name."""

import io
import json
import zipfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import skops.io

from askew import Detector, TablePreparation, load, save
from askew.datasets import Transactions
from askew.detection import Card
from askew.exceptions import DataError
from askew.persistence import read_card

CARD = "askew.json"


@pytest.fixture(scope="module")
def table():
    return Transactions(rare=0.05).sample(1500, random_state=0)


@pytest.fixture(scope="module")
def detector(table):
    return Detector("moment", tolerance=0.05).fit(table, "is_fraud")


@pytest.mark.parametrize("method", ["moment", "logistic", "svc", "one-class", "svdd", "covariance"])
def test_the_same_scores_after_loading(table, tmp_path, method):
    is_one_class = method in ("one-class", "svdd", "covariance")
    data = {k: v for k, v in table.items() if not (is_one_class and k == "is_fraud")}
    fitted = Detector(method, tolerance=0.05).fit(data, None if is_one_class else "is_fraud")
    save(fitted, tmp_path / "m.skops")
    loaded = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.decision_function(table), fitted.decision_function(table))
    assert loaded.card_ == fitted.card_
    assert str(loaded.classifier_.report()) == str(fitted.classifier_.report())


def test_an_updated_model_is_saved_with_its_new_negatives(detector, table, tmp_path):
    updated = deepcopy(detector)
    quiet = detector.preparation_.transform({name: values[table["is_fraud"] == 0] for name, values in table.items()})
    before = updated.classifier_.n_calibration_
    updated.classifier_.update(updated.classifier_.score_samples(quiet))
    save(updated, tmp_path / "m.skops")
    loaded = load(tmp_path / "m.skops")
    assert loaded.classifier_.n_calibration_ == before + quiet.shape[0]
    np.testing.assert_array_equal(loaded.decision_function(table), updated.decision_function(table))
    loaded.classifier_.update([loaded.classifier_.threshold_ - 1.0])
    assert loaded.classifier_.n_calibration_ == before + quiet.shape[0] + 1


@pytest.mark.parametrize("method", ["moment", "svc"])
def test_nan_in_the_arrays_of_a_file_never_silences_it(table, tmp_path, method):
    fitted = Detector(method, tolerance=0.05).fit(table, "is_fraud")
    save(fitted, tmp_path / "m.skops")
    expected, refusals = fitted.decision_function(table), []
    with zipfile.ZipFile(tmp_path / "m.skops") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for damaged in [name for name in members if name.endswith(".npy")]:
        array = np.load(io.BytesIO(members[damaged]))
        if array.dtype.kind != "f" or array.size == 0:
            continue
        buffer = io.BytesIO()
        np.save(buffer, np.full_like(array, np.nan))
        with zipfile.ZipFile(tmp_path / "damaged.skops", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, buffer.getvalue() if name == damaged else content)
        loaded, output = load(tmp_path / "damaged.skops"), tmp_path / "s.parquet"
        try:
            loaded.write_scores(table, str(output), reasons=0)
        except DataError as error:
            refusals.append(str(error))
            assert not output.exists()
        else:  # an array that no score depends on
            np.testing.assert_array_equal(loaded.decision_function(table), expected)
            output.unlink()
    assert refusals
    for told in refusals:
        assert "rows 1 to 1,500: " in told
        assert "1500 of 1500 scores are NaN" in told or "the model is damaged" in told
        assert "it again" in told


def test_a_threshold_that_is_nan_is_refused(detector, table):
    damaged = deepcopy(detector)
    damaged.classifier_._placed_ = replace(damaged.classifier_._placed_, value=float("nan"))
    with pytest.raises(DataError, match="threshold is NaN"):
        damaged.decision_function(table)


def test_the_card_can_be_read_without_building(detector, tmp_path):
    detector.save(tmp_path / "m.skops")
    card = read_card(tmp_path / "m.skops")["card"]
    assert card["target"]["name"] == "is_fraud"
    assert card["promise"]["guaranteed_rate"] <= 0.05
    assert Card.of(card) == detector.card_
    assert Card.of({**card, "of a later version": 1}) == detector.card_


def test_a_file_of_another_model_is_no_detector(tmp_path):
    save(TablePreparation(), tmp_path / "p.skops")
    with pytest.raises(DataError, match="TablePreparation and no Detector"):
        Detector.load(tmp_path / "p.skops")


class Stranger:
    """A type that no model of askew has."""


def test_an_unknown_type_is_refused_and_named(detector, tmp_path):
    detector_with = deepcopy(detector)
    detector_with.preparation_ = Stranger()
    save(detector_with, tmp_path / "m.skops")
    with pytest.raises(DataError, match=r"Stranger.*not loaded"):
        load(tmp_path / "m.skops")


class Harmful:
    """Acts when it is built from a file."""

    def __init__(self, flag):
        self.flag = flag

    def __setstate__(self, state):
        Path(state["flag"]).touch()

    def __getstate__(self):
        return {"flag": self.flag}


def test_code_in_a_file_is_not_run(detector, tmp_path):
    flag, path = tmp_path / "ran", tmp_path / "m.skops"
    harmful = deepcopy(detector)
    harmful.preparation_ = Harmful(str(flag))
    save(harmful, path)
    plain = skops.io.dumps(Harmful(str(flag)))
    skops.io.loads(plain, trusted=skops.io.get_untrusted_types(data=plain))
    assert flag.exists()  # it would act if it were trusted
    flag.unlink()
    with pytest.raises(DataError, match="Harmful"):
        load(path)
    assert not flag.exists()


def rewritten(path, **changes):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[CARD] = json.dumps({**json.loads(members[CARD]), **changes}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_file_of_another_version_says_what_to_install(detector, tmp_path):
    save(detector, tmp_path / "m.skops")
    rewritten(tmp_path / "m.skops", format=99, versions={"askew": "7.2"})
    with pytest.raises(DataError, match=r"written by askew 7\.2 in model format 99.*Install askew==7\.2"):
        load(tmp_path / "m.skops")


def test_another_scikit_learn_is_warned_of(detector, table, tmp_path):
    save(detector, tmp_path / "m.skops")
    rewritten(tmp_path / "m.skops", versions={"askew": "0.1.0", "scikit-learn": "0.24.1"})
    with pytest.warns(UserWarning, match=r"scikit-learn 0\.24\.1"):
        loaded = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.decision_function(table), detector.decision_function(table))


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        load(tmp_path / "m.skops")
    (tmp_path / "m.skops").write_text("text")
    with pytest.raises(DataError, match="not a model"):
        load(tmp_path / "m.skops")


def test_a_failed_save_leaves_the_old_file(detector, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    save(detector, path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(skops.io, "dump", full)
    with pytest.raises(OSError, match="disk full"):
        save(detector, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
