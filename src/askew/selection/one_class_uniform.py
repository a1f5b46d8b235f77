"""Artificial outliers: points spread evenly over the room that the target rows take up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from sklearn.utils import check_random_state

from askew.moments import Moments

Vector = NDArray[np.float64]


def uniform_outliers(X: Vector, n_outliers: int, *, margin: float = 1.1, random_state: Any = None) -> Vector:
    """Points drawn evenly from the ellipsoid around the target rows.

    The ellipsoid has the mean and the axes of the rows' covariance, and is the least that holds every row, times
    ``margin``. The share of them that a model accepts estimates the volume of its description. A box would do in a few
    dimensions; in more, nearly all of a box lies in its corners, away from any data.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Target rows.
    n_outliers : int
    margin : float, default=1.1
        Factor of the radius.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    array of shape (n_outliers, n_features)

    References
    ----------
    Tax and Duin (2001). Uniform object generation for optimizing one-class classifiers. JMLR 2:155.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.selection.one_class_uniform import uniform_outliers
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 10.0]
    >>> bool(uniform_outliers(X, 1000, random_state=0)[:, 1].std() > 10.0)
    True
    """
    rng = check_random_state(random_state)
    X = np.asarray(X, dtype=np.float64)
    d = X.shape[1]
    moments = Moments.of(X)
    covariance = moments.covariance.copy()
    covariance.flat[:: d + 1] += 1e-6 * (float(np.trace(covariance)) / d or 1.0)
    axes = cholesky(covariance, lower=True)
    reach = float(np.max(np.linalg.norm(np.linalg.solve(axes, (X - moments.mean).T), axis=0)))
    directions = rng.normal(size=(n_outliers, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = margin * (reach or 1.0) * rng.uniform(size=(n_outliers, 1)) ** (1.0 / d)
    return moments.mean + (radii * directions) @ axes.T
