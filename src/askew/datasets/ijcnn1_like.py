"""A generated stand-in for ijcnn1: misfires of an engine, told from the speed around each firing.

Ten 0/1 columns name the cylinder, two give the slowly changing load and speed, and ten hold a window of the
acceleration around the firing. A misfire is a dip, at low load a surge, whose size depends on load and speed,
on top of a vibration that differs by cylinder and conditions: the classes separate well, but not linearly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from askew.datasets.dataset import Dataset, signs
from askew.exceptions import ParameterError

_CYLINDERS = 10
_WINDOW = 10
_BEFORE = 4  # positions of the window before the firing
_ECHO = np.array([-0.7, -1.0, -0.35, 0.3, 0.15])  # the dip of a misfire and what follows it
_NAMES = (
    *(f"cylinder{c}" for c in range(_CYLINDERS)),
    "load",
    "speed",
    *(f"acceleration{k:+d}" for k in range(-_BEFORE, _WINDOW - _BEFORE)),
)


def make_ijcnn1_like(n_samples: int = 20_000, *, rare: float = 0.1, random_state: Any = None) -> Dataset:
    """Generate a set with the shape, skew and difficulty of ijcnn1.

    For timings where the real file is absent; scores on it say nothing about ijcnn1 itself.

    Parameters
    ----------
    n_samples : int
        At least 20.
    rare : float
        Fraction of misfires (positives), in (0, 0.5].
    random_state : int, RandomState or None

    Returns
    -------
    Dataset
        22 features, rows in random order.

    Examples
    --------
    >>> from askew.datasets import make_ijcnn1_like
    >>> data = make_ijcnn1_like(1000, random_state=0)
    >>> data.X.shape, data.n_positive
    ((1000, 22), 100)
    """
    if n_samples < 20:
        raise ParameterError(f"n_samples must be at least 20; got {n_samples}.")
    if not 0 < rare <= 0.5:
        raise ParameterError(f"rare must lie in (0, 0.5]; got {rare}.")
    rng = check_random_state(random_state)
    total = n_samples + _WINDOW
    cylinder = np.arange(total) % _CYLINDERS
    load, speed = _slow(total, rng, -0.8, 0.6), _slow(total, rng, 0.05, 0.7)
    misfire = np.zeros(total, dtype=bool)
    firings = _BEFORE + np.arange(n_samples)  # those whose whole window is recorded
    misfire[rng.choice(firings, max(1, round(rare * n_samples)), replace=False)] = True
    acceleration = _acceleration(cylinder, load, speed, misfire, rng)
    windows = np.lib.stride_tricks.sliding_window_view(acceleration, _WINDOW)[:n_samples]
    X = np.hstack([np.eye(_CYLINDERS)[cylinder[firings]], load[firings, None], speed[firings, None], windows])
    order = rng.permutation(n_samples)
    return Dataset("ijcnn1_like", X[order], signs(misfire[firings])[order], _NAMES)


def _slow(total: int, rng: Any, low: float, high: float) -> NDArray[np.float64]:
    """A condition of driving: a few random waves, scaled to [low, high]."""
    time = np.linspace(0.0, 1.0, total)[:, None]
    waves = np.sin(2 * np.pi * (rng.uniform(1, 12, 6) * time + rng.uniform(0, 1, 6))).sum(axis=1)
    waves = (waves - waves.min()) / max(np.ptp(waves), 1e-12)
    return low + (high - low) * waves


def _acceleration(cylinder: Any, load: Any, speed: Any, misfire: Any, rng: Any) -> NDArray[np.float64]:
    """Vibration of each cylinder, the echoes of misfires, and noise."""
    phases, turns = rng.uniform(0, 2 * np.pi, _CYLINDERS), rng.uniform(2, 6, _CYLINDERS)
    vibration = 0.25 * (0.2 + speed**2) * np.sin(phases[cylinder] + turns[cylinder] * (load + speed))
    depth = misfire * (0.15 + 0.6 * speed) * np.sign(load + 0.25)
    centre = int(np.argmin(_ECHO))
    echo = np.convolve(depth, _ECHO)[centre : centre + len(depth)]
    return vibration + echo + 0.03 * rng.standard_normal(len(depth))
