"""Squared distances read off a kernel matrix.

Solves
    ‖φ(x_i) − φ(x_j)‖² = K_ii + K_jj − 2K_ij in the feature space of any kernel, windows at a time.
    Distances in input space are the same formula for k(a, b) = −½‖a − b‖², whose feature distance is ‖a − b‖².
Given
    A symmetric matrix that produces tiles of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askew.arrays import namespace, transform
from askew.kernels.function import Array, KernelFunction
from askew.threads import spans, workers

Vector = NDArray[np.float64]
_WINDOW_ENTRIES = 2**20  # entries of a window of distances


@dataclass(frozen=True)
class NegativeDistance(KernelFunction):
    """k(a, b) = −½‖a − b‖²: not positive semi-definite, but its feature distance is the distance of the points."""

    is_psd: ClassVar[bool] = False
    is_translation_invariant: ClassVar[bool] = True

    def left(self, squared_norms: Array) -> list[Array]:
        return [-0.5 * squared_norms, namespace(squared_norms).ones_like(squared_norms)]

    def right(self, squared_norms: Array) -> list[Array]:
        return [namespace(squared_norms).ones_like(squared_norms), -0.5 * squared_norms]

    def finish(self, products: Array) -> None:
        transform("minimum", products, 0)

    def diagonal(self, squared_norms: Array) -> Array:
        return namespace(squared_norms).zeros_like(squared_norms)


def squared_distances(products: Array, own: Vector, other: Vector) -> Array:
    """K_aa + K_bb − 2K_ab for products K_ab of shape (a, b); never below zero by rounding."""
    distances = -2.0 * products
    distances += own[:, None]
    distances += other
    return np.maximum(distances, 0.0, out=distances)


class Distances:
    """Squared distances between the points of a kernel matrix.

    Parameters
    ----------
    matrix : SymmetricMatrix

    Examples
    --------
    >>> import numpy as np
    >>> from askew.kernels import Gram, Linear
    >>> Distances(Gram(Linear(), np.array([[1.0], [4.0]]))).to_anchors(np.array([0])).tolist()
    [[0.0], [9.0]]
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix, self.own = matrix, matrix.diagonal()
        self.n: int = matrix.n

    def subset(self, indices: NDArray[np.int64]) -> Distances:
        """The distances between some of the points."""
        return Distances(self.matrix.subset(indices))

    def to_anchors(self, anchors: NDArray[np.int64]) -> Array:
        """All points to some of them, shape (n, len(anchors)), held whole."""
        tile = self.matrix.tile(self.matrix.prepare(anchors, np.float64), slice(0, self.n))
        return squared_distances(tile.T, self.own, self.own[anchors])

    def over_windows(self, anchors: NDArray[np.int64], work: Any) -> None:
        """Call ``work(first, last, distances)`` on windows of the points, in threads; distances to the anchors."""
        prepared, other = self.matrix.prepare(anchors, np.float64), self.own[anchors]

        def window(first: int, last: int) -> None:
            tile = self.matrix.tile(prepared, slice(first, last))
            work(first, last, squared_distances(tile.T, self.own[first:last], other))

        with workers() as pool:
            pool.map(window, spans(self.n, max(1, _WINDOW_ENTRIES // max(1, len(anchors)))))
