"""Two Gaussian classes whose every property is known: the rare one is +1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from askew.datasets.dataset import Dataset
from askew.exceptions import ParameterError

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """The distribution of a generated set.

    Attributes
    ----------
    rare : float
        Probability of the positive class.
    means : (positive, negative), arrays of shape (d,)
    covariances : (positive, negative), arrays of shape (d, d)
    """

    rare: float
    means: tuple[Matrix, Matrix]
    covariances: tuple[Matrix, Matrix]

    def bayes_score(self, X: Matrix) -> Matrix:
        """log P(+1 | x) − log P(−1 | x): no score ranks better, and its sign decides best."""
        positive, negative = (self._log_density(X, k) for k in (0, 1))
        return positive - negative + np.log(self.rare) - np.log1p(-self.rare)

    def sample(self, n_samples: int, random_state: Any = None) -> Dataset:
        """Rows in random order, round(rare · n_samples) of them positive and at least one of each class."""
        rng = check_random_state(random_state)
        positives = int(np.clip(round(self.rare * n_samples), 1, n_samples - 1))
        counts = (positives, n_samples - positives)
        blocks = [
            mean + rng.standard_normal((count, len(mean))) @ np.linalg.cholesky(covariance).T
            for mean, covariance, count in zip(self.means, self.covariances, counts, strict=True)
        ]
        order = rng.permutation(n_samples)
        y = np.repeat(np.array([1, -1], dtype=np.int8), counts)
        names = tuple(f"x{j}" for j in range(len(self.means[0])))
        return Dataset("gaussians", np.vstack(blocks)[order], y[order], names, truth=self)

    def _log_density(self, X: Matrix, k: int) -> Matrix:
        factor = np.linalg.cholesky(self.covariances[k])
        z = np.linalg.solve(factor, (np.asarray(X, dtype=np.float64) - self.means[k]).T)
        constant = len(factor) * np.log(2 * np.pi) + 2 * np.log(np.diagonal(factor)).sum()
        return -0.5 * (np.einsum("ij,ij->j", z, z) + constant)


def make_skewed(
    n_samples: int = 10_000,
    *,
    rare: float = 0.002,
    n_features: int = 10,
    separation: float = 3.0,
    condition: float = 10.0,
    random_state: Any = None,
) -> Dataset:
    """Generate a rare Gaussian class inside a common one, with unequal covariances and a known Bayes score.

    Parameters
    ----------
    n_samples : int
    rare : float
        Fraction of positives, in (0, 1).
    n_features : int
    separation : float
        Mahalanobis distance of the means under the covariance of the negatives.
    condition : float
        Condition number of the negatives' covariance, ≥ 1; its axes point in random directions.
    random_state : int, RandomState or None

    Returns
    -------
    Dataset
        Its ``truth`` is a ``GaussianClasses``.

    Examples
    --------
    >>> from askew.datasets import make_skewed
    >>> data = make_skewed(5000, rare=0.01, random_state=0)
    >>> data.X.shape, data.n_positive
    ((5000, 10), 50)
    >>> from sklearn.metrics import roc_auc_score
    >>> bool(roc_auc_score(data.y, data.truth.bayes_score(data.X)) > 0.95)
    True
    """
    _check(n_samples, rare)
    if n_features < 1:
        raise ParameterError(f"n_features must be at least 1; got {n_features}.")
    if not condition >= 1:
        raise ParameterError(f"condition must be at least 1, where the covariance is round; got {condition}.")
    rng = check_random_state(random_state)
    axes, _ = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    scales = np.geomspace(1.0, condition, n_features)
    negative = (axes * scales) @ axes.T
    direction = rng.standard_normal(n_features)
    shift = (axes * np.sqrt(scales)) @ (separation * direction / np.linalg.norm(direction))
    truth = GaussianClasses(
        rare,
        means=(shift, np.zeros(n_features)),
        covariances=(0.5 * (negative + np.eye(n_features)), negative),
    )
    return truth.sample(n_samples, rng)


def make_two_gaussians(
    n_samples: int = 500, *, rare: float = 0.1, separation: float = 2.5, random_state: Any = None
) -> Dataset:
    """Generate two Gaussian clouds in the plane, the negatives long and tilted: a set for pictures.

    Parameters
    ----------
    n_samples : int
    rare : float
        Fraction of positives, in (0, 1).
    separation : float
        Distance of the means.
    random_state : int, RandomState or None

    Returns
    -------
    Dataset
        Its ``truth`` is a ``GaussianClasses``.

    Examples
    --------
    >>> from askew.datasets import make_two_gaussians
    >>> make_two_gaussians(100, rare=0.2, random_state=0).n_positive
    20
    """
    _check(n_samples, rare)
    truth = GaussianClasses(
        rare,
        means=(np.array([separation, separation]) / np.sqrt(2), np.zeros(2)),
        covariances=(0.3 * np.eye(2), np.array([[2.0, -1.2], [-1.2, 1.0]])),
    )
    return truth.sample(n_samples, random_state)


def _check(n_samples: int, rare: float) -> None:
    if n_samples < 2:
        raise ParameterError(f"n_samples must be at least 2, one per class; got {n_samples}.")
    if not 0 < rare < 1:
        raise ParameterError(f"rare must lie in (0, 1); got {rare}.")
