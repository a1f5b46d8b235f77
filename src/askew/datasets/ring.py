"""A rare cluster inside a ring of common points: no line separates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from askew.datasets.dataset import Dataset
from askew.exceptions import ParameterError


@dataclass(frozen=True)
class Ring:
    """The distribution: a round Gaussian at the origin inside a ring with Gaussian thickness."""

    rare: float
    radius: float
    noise: float

    def bayes_score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """log P(+1 | x) − log P(−1 | x), from the densities of the distance to the origin."""
        r = np.linalg.norm(X, axis=1)
        positive = np.log(np.maximum(r, 1e-300)) - 0.5 * (r / self.noise) ** 2 - 2 * np.log(self.noise)
        offsets = np.array([r - self.radius, r + self.radius]) / self.noise
        negative = np.logaddexp(*(-0.5 * offsets**2)) - 0.5 * np.log(2 * np.pi) - np.log(self.noise)
        return positive - negative + np.log(self.rare) - np.log1p(-self.rare)


def make_ring(
    n_samples: int = 500,
    *,
    rare: float = 0.1,
    radius: float = 3.0,
    noise: float = 0.7,
    random_state: Any = None,
) -> Dataset:
    """Generate a rare cluster in the middle of a ring.

    Parameters
    ----------
    n_samples : int
    rare : float
        Fraction of positives (the cluster), in (0, 1).
    radius : float
        Radius of the ring of negatives.
    noise : float
        Standard deviation of the cluster in each direction, and of the ring's thickness.
    random_state : int, RandomState or None

    Returns
    -------
    Dataset
        Its ``truth`` has ``bayes_score``.

    Examples
    --------
    >>> from askew.datasets import make_ring
    >>> data = make_ring(300, random_state=0)
    >>> data.X.shape, data.n_positive
    ((300, 2), 30)
    """
    if n_samples < 2:
        raise ParameterError(f"n_samples must be at least 2, one per class; got {n_samples}.")
    if not 0 < rare < 1:
        raise ParameterError(f"rare must lie in (0, 1); got {rare}.")
    if not noise > 0 or not radius > 0:
        raise ParameterError(f"radius and noise must be positive; got radius={radius}, noise={noise}.")
    rng = check_random_state(random_state)
    positives = int(np.clip(round(rare * n_samples), 1, n_samples - 1))
    negatives = n_samples - positives
    angle = rng.uniform(0, 2 * np.pi, negatives)
    distance = radius + noise * rng.standard_normal(negatives)
    ring = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    cluster = noise * rng.standard_normal((positives, 2))
    order = rng.permutation(n_samples)
    y = np.repeat(np.array([1, -1], dtype=np.int8), (positives, negatives))
    X = np.vstack([cluster, ring])
    return Dataset("ring", X[order], y[order], ("x0", "x1"), truth=Ring(rare, radius, noise))
