"""Model files of format 1, one of each method, written before names stood for types: they score and report as then."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("skops")
import askew
from askew.persistence import read_card
from askew.sources import open_source

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
        (rows,) = open_source(str(FOLDER / "rows.svm"), n_features=6).blocks()
    np.testing.assert_allclose(detector.score(rows), SCORES[method], rtol=1e-9)
    report = detector.classifier.report(prevalence=card["base_rate"])
    assert {name: card["promise"][name] for name in ("threshold", "guaranteed_rate", "n_calibration")} == {
        name: report.as_dict()[name] for name in ("threshold", "guaranteed_rate", "n_calibration")
    }
