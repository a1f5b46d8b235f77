"""The volume of the bent metric against differences, and the picture drawn from it."""

import numpy as np
import pytest

from askew.datasets import make_ring
from askew.displays.magnification import MagnificationDisplay
from askew.estimators.kernel_scaled_svc import KernelScaledSVC
from askew.exceptions import DataError, ParameterError
from askew.kernels.bends import Sight, squared_distances
from askew.methods.kernel_scaling_rules import SCALINGS

DATA = make_ring(240, rare=0.15, random_state=0)


def _model(scaling, X=DATA.X, y=DATA.y, k=1.5, **parameters):
    strengths = {"k_majority": k, "k_minority": 0.4 * k} if scaling == "asymmetric" else {"k": k}
    return KernelScaledSVC(C=10.0, scaling=scaling, **strengths, **parameters).fit(X, y)


def _factor(model, x):
    """D of the last stage at one point, from the model's own parts."""
    gamma, A = model.gamma_, model.support_vectors_
    k = np.exp(-gamma * np.sum((A - x) ** 2, axis=1))
    stages, log_d, score = model.stages_[0], 0.0, None
    for number, stage in enumerate(stages):
        if stage.bend is not None:
            some = stage.bend.anchors
            if stage.bend.space == "input":
                seen = np.sum((A[some] - x) ** 2, axis=1)[None]
            else:
                seen = squared_distances(k[None, some], np.ones(1), np.ones(len(some)))
            log_d += (stage.bend.log_factor(Sight(np.array([score]), seen))[0] - log_d) / number
        e = stage.expansion
        score = np.exp(log_d) * e.coefficients @ k[e.support] + e.intercept
    return np.exp(log_d)


def _volume_by_differences(model, x, h=1e-4):
    """√det of ∂²K'/∂x_i∂x'_j with K' written out and differentiated numerically."""
    bent = lambda a, b: _factor(model, a) * np.exp(-model.gamma_ * np.sum((a - b) ** 2)) * _factor(model, b)  # noqa: E731
    d, step = len(x), h * np.eye(len(x))
    g = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            corners = [(s, t, bent(x + s * step[i], x + t * step[j])) for s in (1, -1) for t in (1, -1)]
            g[i, j] = sum(s * t * value for s, t, value in corners) / (4 * h * h)
    return np.sqrt(np.linalg.det(g))


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("parameters", [{}, {"max_scalings": 3}], ids=["once", "three times"])
def test_magnification_is_the_volume_of_the_metric(scaling, parameters):
    model = _model(scaling, **parameters)
    points = DATA.X[::40] + 0.05
    expected = [_volume_by_differences(model, x) for x in points]
    np.testing.assert_allclose(model.magnification(points), expected, rtol=2e-4)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_in_three_dimensions_too(scaling):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(120) < 25, 1, 0)
    X = rng.standard_normal((120, 3)) + y[:, None]
    model = _model(scaling, X, y)
    expected = [_volume_by_differences(model, x) for x in X[:4] + 0.05]
    np.testing.assert_allclose(model.magnification(X[:4] + 0.05), expected, rtol=2e-4)


def test_without_a_bend_it_is_the_constant_of_the_rbf_kernel():
    model = _model("symmetric", k=0.0, gamma=0.7)
    np.testing.assert_allclose(model.magnification(DATA.X[:5]), 2 * 0.7)


def test_it_is_largest_near_the_boundary_of_the_first_fit():
    model = _model("symmetric", k=4.0)
    near = np.abs(model.plain_decision_function(DATA.X)) < 0.3
    volume = model.magnification(DATA.X)
    assert near.sum() > 3
    assert np.median(volume[near]) > 2 * np.median(volume[~near])


def test_other_kernels_are_refused():
    with pytest.raises(ParameterError, match="kernel='linear'"):
        _model("symmetric", kernel="linear").magnification(DATA.X)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_picture_shows_what_the_model_says(pyplot, scaling):
    model = _model(scaling)
    display = MagnificationDisplay.from_estimator(model, DATA.X, DATA.y, grid_resolution=25)
    corner = np.array([[display.xx0[3, 7], display.xx1[3, 7]]])
    np.testing.assert_allclose(display.magnification[3, 7] * 2 * model.gamma_, model.magnification(corner)[0])
    np.testing.assert_allclose(display.score[3, 7], model.decision_function(corner)[0])
    assert display.boundary_ is not None
    assert len(display.ax_.collections) >= 4  # surface, two lines, two classes of rows
    assert display.figure_ is display.ax_.figure


def test_it_draws_where_it_is_told_and_survives_a_flat_surface(pyplot):
    _, ax = pyplot.subplots()
    model = _model("symmetric", k=0.0)
    display = MagnificationDisplay.from_estimator(model, DATA.X, ax=ax, grid_resolution=10, colorbar=False)
    assert display.ax_ is ax
    display.figure_.canvas.draw()


def test_three_features_cannot_be_drawn():
    X = np.column_stack([DATA.X, DATA.X[:, 0]])
    with pytest.raises(DataError, match=r"two features for two classes; got X of shape \(240, 3\)"):
        MagnificationDisplay.from_estimator(_model("symmetric", X), X)
