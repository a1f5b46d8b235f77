"""The k-nearest-neighbour data description."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from askew.estimators.baselines.threshold_description import ThresholdDescription
from askew.fitting import as_fitted
from askew.sklearn_private import Interval

Vector = NDArray[np.float64]


class KNNDescription(ThresholdDescription):
    """Normal is what has neighbours near by: minus the distance to the k-th nearest training row.

    A baseline for :class:`askew.CovarianceOneClassSVM` that follows any shape and needs all training rows to score.
    It is sensitive to outliers among them, and to the scale of the features.

    Parameters
    ----------
    n_neighbors : int, default=5
        k. With sample weights, the distance within which the weights of the neighbours sum to k.
    fraction_rejected : float, default=0.2
        Fraction of the training rows, each scored without itself, that the threshold rejects; in [0, 1).

    Attributes
    ----------
    neighbors_ : NearestNeighbors
    offset_ : float
        ``decision_function = score_samples - offset_``.

    References
    ----------
    Harmeling et al. (2006). From outliers to prototypes: ordering data. Neurocomputing 69.

    Examples
    --------
    >>> import numpy as np
    >>> from askew.estimators import KNNDescription
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> KNNDescription().fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ThresholdDescription._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }
    _takes_sparse: ClassVar[bool] = True
    _scored_with = ("n_neighbors",)
    _learnt_privately = frozenset({"_reach", "_rows", "_weight"})

    def __init__(self, n_neighbors: int = 5, *, fraction_rejected: float = 0.2) -> None:
        self.n_neighbors = n_neighbors
        self.fraction_rejected = fraction_rejected

    def _describe(self, X: Any, weight: Vector) -> Vector:
        # so many neighbours weigh at least k, whichever they are
        enough = int(np.searchsorted(np.cumsum(np.sort(weight)), as_fitted(self, "n_neighbors") * (1 - 1e-9))) + 1
        self._reach = min(enough, X.shape[0])
        self._weight = weight
        self._rows = X
        self.neighbors_ = NearestNeighbors(n_neighbors=self._reach).fit(X)
        distances, who = self.neighbors_.kneighbors(X, min(self._reach + 1, X.shape[0]))
        near = weight[who]
        near[who == np.arange(X.shape[0])[:, None]] -= 1.0  # a row is not its own neighbour, but its repetitions are
        return -self._distance(distances, np.maximum(near, 0.0))

    def _score(self, X: Any) -> Vector:
        distances, who = self.neighbors_.kneighbors(X, self._reach)
        return -self._distance(distances, self._weight[who])

    def _distance(self, distances: Vector, near: Vector) -> Vector:
        """The distance within which neighbours weigh k, or the largest there is."""
        is_enough = np.cumsum(near, axis=1) >= as_fitted(self, "n_neighbors") * (1 - 1e-9)
        place = np.where(is_enough.any(axis=1), np.argmax(is_enough, axis=1), distances.shape[1] - 1)
        return distances[np.arange(len(distances)), place]

    def __getstate__(self) -> dict[str, Any]:
        """The rows without their tree, whose indices a model file could forge: it is grown again from the rows."""
        state = dict(super().__getstate__())
        state.pop("neighbors_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_rows" in state:
            self.neighbors_ = NearestNeighbors(n_neighbors=self._reach).fit(self._rows)
