"""The picture of a boundary."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError

from askew import OneClassSVM
from askew.displays.boundary import BoundaryDisplay
from askew.exceptions import DataError, ParameterError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(120, 2))


@pytest.fixture
def axes():
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    yield ax
    pyplot.close(figure)


def test_the_line_is_where_the_score_is_zero(X, axes):
    model = OneClassSVM(nu=0.2).fit(X)
    display = BoundaryDisplay.from_estimator(model, X, resolution=120, ax=axes)
    line = np.vstack([path.vertices for path in display.contour_.get_paths()])
    assert np.abs(model.decision_function(line)).max() < 0.01 * np.abs(display.scores).max()
    assert display.ax_ is axes
    assert display.figure_ is axes.figure


def test_scores_lie_on_the_grid(X, axes):
    model = OneClassSVM(nu=0.2).fit(X)
    display = BoundaryDisplay.from_estimator(model, X, resolution=20, ax=axes)
    assert display.scores[3, 7] == pytest.approx(model.decision_function([[display.across[7], display.up[3]]])[0])


def test_rows_and_support_vectors_are_shown(X, axes):
    model = OneClassSVM(nu=0.2).fit(X)
    display = BoundaryDisplay.from_estimator(model, X, resolution=30, ax=axes)
    np.testing.assert_array_equal(display.points_.get_offsets(), X)
    np.testing.assert_array_equal(display.support_.get_offsets(), model.support_vectors_)
    outside = int(np.sum(model.predict(X) == -1))
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    expected = [f"inside: {120 - outside}", f"outside: {outside}", f"support vectors: {len(model.support_)}"]
    assert words == ["OneClassSVM", *expected]


def test_a_model_without_support_vectors_is_drawn(X, axes):
    display = BoundaryDisplay.from_estimator(
        IsolationForest(n_estimators=10, random_state=0).fit(X), X, resolution=15, ax=axes
    )
    assert display.support_ is None


def test_a_model_that_accepts_everything_has_no_line(X, axes):
    class Everything(IsolationForest):
        def decision_function(self, X):
            return np.ones(len(X))

    display = BoundaryDisplay.from_estimator(Everything(n_estimators=5).fit(X), X, resolution=10, ax=axes)
    assert display.contour_ is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_a_frame_label_the_axes(X, axes, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"width": X[:, 0], "height": X[:, 1]})
    BoundaryDisplay.from_estimator(OneClassSVM(nu=0.2).fit(frame), frame, resolution=10, ax=axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("width", "height")


def test_what_cannot_be_drawn_is_refused(X):
    wide = np.c_[X, X[:, 0]]
    model = OneClassSVM().fit(wide)
    with pytest.raises(DataError, match=r"two features; got X of shape \(120, 3\)"):
        BoundaryDisplay.from_estimator(model, wide)
    with pytest.raises(ParameterError, match="resolution"):
        BoundaryDisplay.from_estimator(OneClassSVM().fit(X), X, resolution=1)
    with pytest.raises(NotFittedError):
        BoundaryDisplay.from_estimator(OneClassSVM(), X)


def test_the_example_runs(tmp_path, monkeypatch):
    """Figure 2 of the paper, as a file."""
    import runpy
    import sys
    from pathlib import Path

    from matplotlib import pyplot

    example = Path(__file__).parents[3] / "examples" / "plot_covariance_one_class.py"
    if not example.exists():
        pytest.skip("the examples are not beside the tests")
    target = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", [str(example), str(target)])
    runpy.run_path(str(example))
    pyplot.close("all")
    assert target.stat().st_size > 10_000
