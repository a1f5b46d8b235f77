"""The pictures show the numbers of the metrics, in scikit-learn's manner."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest

from askew.displays import NpRocDisplay, RocHullDisplay, ToleranceRocDisplay
from askew.exceptions import DataError, ParameterError
from askew.metrics import RocCurve, averaged_roc, roc_hull, tolerance_auc_score
from askew.tolerance import ToleranceClassifier, np_roc

matplotlib.use("agg")

from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.svm import OneClassSVM


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < 0.15).astype(int)
    return rng.normal(size=(1500, 3)) + 1.5 * y[:, None], y


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_tolerance_roc_shows_the_window_and_its_area(sample):
    X, y = sample
    display = ToleranceRocDisplay.from_predictions(y, X[:, 0], tolerance=0.2, name="first", shade=True)
    assert display.area == pytest.approx(tolerance_auc_score(y, X[:, 0], 0.2))
    shown = display.line_.get_xydata()
    assert shown[0].tolist() == [0.0, 0.0]
    assert shown[-1, 0] == 0.2
    assert np.trapezoid(shown[:, 1], shown[:, 0]) == pytest.approx(display.area)
    assert display.ax_.get_xlim()[1] == pytest.approx(0.202)
    assert legend(display)[0].startswith(f"first: 0.2-AUC = {display.area:.4g} (")
    assert display.figure_ is display.ax_.figure


def test_tolerance_roc_of_estimators_shares_axes(sample):
    X, y = sample
    model = LogisticRegression().fit(X, y)
    first = ToleranceRocDisplay.from_estimator(model, X, y, tolerance=0.1, color="red")
    second = ToleranceRocDisplay.from_estimator(
        OneClassSVM().fit(X[y == 0]), X, y, tolerance=0.1, ax=first.ax_, chance=True
    )
    assert second.ax_ is first.ax_
    assert first.line_.get_color() == "red"
    assert first.area == pytest.approx(tolerance_auc_score(y, model.decision_function(X), 0.1))
    # A detector's outliers are the positives, so its low scores rank first.
    assert second.area > 0.1**2 / 2
    swapped = ToleranceRocDisplay.from_estimator(model, X, y, tolerance=0.1, pos_label=0)
    assert swapped.area == pytest.approx(tolerance_auc_score(y == 0, -model.decision_function(X), 0.1))
    assert "LogisticRegression: " in legend(first)[0]


def test_tolerance_roc_averages_curves(sample):
    X, y = sample
    curves = [RocCurve.of(y, X[:, j]) for j in range(3)]
    display = ToleranceRocDisplay.from_curves(curves, tolerance=0.3)
    average = averaged_roc(curves, fpr=np.linspace(0, 0.3, 301))
    np.testing.assert_allclose(display.line_.get_ydata(), average.tpr)
    assert display.area == pytest.approx(np.mean([curve.area(0.3) for curve in curves]))
    assert len(display.ax_.collections) == 1
    with pytest.raises(DataError, match="at least two"):
        ToleranceRocDisplay.from_curves([], tolerance=0.3)


def test_roc_hull_marks_who_is_best(sample):
    X, y = sample
    scores = {"sum": X.sum(axis=1), "first": X[:, 0], "noise": np.random.default_rng(1).normal(size=len(y))}
    display = RocHullDisplay.from_predictions(y, scores, tolerance=0.5)
    hull = roc_hull(y, scores)
    np.testing.assert_allclose(display.hull_line_.get_xydata(), np.column_stack([hull.fpr, hull.tpr]))
    assert set(display.lines_) == set(scores)
    assert any(text.startswith("noise: never best") for text in legend(display))
    assert any("∞]" in text for text in legend(display))
    single = RocHullDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    assert list(single.lines_) == ["LogisticRegression"]
    with pytest.raises(ParameterError, match="tolerance=0"):
        display.plot(tolerance=0)


def test_np_roc_shows_band_and_tolerance_in_force(sample):
    X, y = sample
    model = ToleranceClassifier(LogisticRegression(), 0.05, random_state=0).fit(X, y)
    display = NpRocDisplay.from_estimator(model)
    curve = model.np_roc()
    np.testing.assert_allclose(display.line_.get_xydata(), np.column_stack([curve.tolerance, curve.tpr]))
    assert display.ax_.get_xscale() == "log"
    assert [line.get_xdata()[0] for line in display.ax_.lines[1:]] == [0.05]
    again = NpRocDisplay.from_predictions(y, X[:, 0], confidence=0.9, log=False, tolerances=[0.1, 0.2])
    expected = np_roc(X[y == 0, 0], X[y == 1, 0], confidence=0.9, tolerances=[0.1, 0.2])
    np.testing.assert_array_equal(again.curve.threshold, expected.threshold)
    assert again.ax_.get_xscale() == "linear"


def test_matplotlib_is_not_imported_before_a_picture_is_drawn():
    code = "import sys, askew.displays; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_the_error_says_how_to_get_it():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from askew.displays import ToleranceRocDisplay\n"
        "from askew.exceptions import MissingDependencyError\n"
        "try:\n    ToleranceRocDisplay.from_predictions([0, 1], [0, 1], tolerance=0.5)\n"
        "except MissingDependencyError as error:\n    sys.exit(0 if 'askew[plot]' in str(error) else 1)\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
