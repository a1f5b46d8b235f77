"""Names in figures lie on nothing: neither on lines, nor on points, nor on each other."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from studies.protocol.figures import canvas, critical_difference, place_labels


def test_no_line_of_the_rank_plot_crosses_a_name():
    figure, axes = canvas(width=8.6, height=4.2)
    names = [f"method {i}" for i in range(11)]
    critical_difference(axes[0, 0], names, np.random.default_rng(0).uniform(1, 11, 11), 2.5)
    figure.canvas.draw()
    lines = [axes[0, 0].transData.transform(line.get_xydata()) for line in axes[0, 0].lines]
    shown = [text for text in axes[0, 0].texts if text.get_text().startswith("method")]
    assert len(shown) == len(names)
    for text in shown:
        box = text.get_window_extent()
        for line in lines:
            dense = np.concatenate([np.linspace(a, b, 200) for a, b in pairwise(line)])
            assert not np.any(box.count_contains(dense)), text.get_text()


def test_names_of_points_stand_clear_of_points_and_of_each_other():
    figure, axes = canvas(width=8.6, height=6.0)
    rng = np.random.default_rng(1)
    places = {f"method {i}": tuple(rng.uniform(0, 1, 2)) for i in range(20)}
    places |= {"near": (0.5, 0.5), "nearer": (0.505, 0.5), "nearest": (0.505, 0.505)}
    axes[0, 0].plot(*zip(*places.values(), strict=True), "o", markersize=5)
    place_labels(axes[0, 0], places, dict.fromkeys(places, "black"))
    figure.canvas.draw()
    boxes = {}
    for text in axes[0, 0].texts:
        text.arrow_patch.set_visible(False)
        boxes[text.get_text()] = type(text).__mro__[1].get_window_extent(text)
    points = axes[0, 0].transData.transform(list(places.values()))
    assert set(boxes) == set(places)
    for name, box in boxes.items():
        assert not box.count_contains(points), name
        assert not any(box.overlaps(other) for it, other in boxes.items() if it != name), name
