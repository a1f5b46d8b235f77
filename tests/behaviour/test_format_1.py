"""Model files of format 1, one of each method, written before names stood for types: they score and report as then."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("skops")
import askew
from askew.persistence import read_card

FOLDER = Path(__file__).parent / "fixtures" / "format1"
SCORES = json.loads((FOLDER / "scores.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(FOLDER / "rows.csv", parse_dates=["time"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning", "ignore:ASK401")
@pytest.mark.parametrize("method", SCORES)
def test_a_file_of_format_1_scores_and_reports(method, rows):
    path = FOLDER / f"{method}.skops"
    card = read_card(path)
    assert card["format"] == 1
    detector = askew.load(path)
    if method == "sparse":
        rows = str(FOLDER / "rows.svm")
    assert type(detector) is askew.Detector
    np.testing.assert_allclose(detector.decision_function(rows), SCORES[method], rtol=1e-9)
    facts = ("threshold", "guaranteed_rate", "n_calibration")
    for report in (detector.report(), detector.classifier_.report(prevalence=card["base_rate"])):
        assert {name: card["promise"][name] for name in facts} == {name: report.as_dict()[name] for name in facts}
    assert detector.card_.command == card["command"]
    assert detector.card_.title in detector.report().text()
