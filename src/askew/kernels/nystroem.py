"""Nyström features: a kernel as an inner product of few numbers per point.

Solves
    With m landmarks, K_mm = UΛU' their kernel matrix and k_m(x) the kernel of x with each of them,
        φ(x) = P'k_m(x),   P = U_r Λ_r^{-½},   φ(a)'φ(b) = k_m(a)'K_mm⁺k_m(b) ≈ k(a, b),
    where r keeps the eigenvalues above ``EIGENVALUE_CUT`` of the largest. The kernel is met exactly on the span of the
    landmarks: with every point a landmark nothing is lost.
Given
    A positive semi-definite kernel function and the landmarks, dense or sparse (``landmarks`` chooses them).
Returns
    Features of any points, block by block in threads; and, for weights w of the features, the weights Pw of the
    landmarks, since w'φ(x) = (Pw)'k_m(x): a score costs m kernel values and no projection.
Reference
    Williams and Seeger (2001), Using the Nyström method to speed up kernel machines, NIPS 13.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.function import KernelFunction
from askew.kernels.gram import Gram
from askew.threads import spans, workers

Array = NDArray[Any]
Vector = NDArray[np.float64]

EIGENVALUE_CUT = 1e-12  # of the largest eigenvalue: below, rounding of K_mm decides
ROWS_MAPPED = 1024  # points whose features are made at a time


class Nystroem:
    """The map x ↦ φ(x).

    Parameters
    ----------
    function : KernelFunction
        Positive semi-definite.
    landmarks : array or CSR matrix of shape (m, d)
    """

    def __init__(self, function: KernelFunction, landmarks: Any) -> None:
        self.landmarks, self.gram = landmarks, Gram(function, landmarks)
        K = self.gram.block(np.arange(self.gram.n), np.float64)
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        kept = values > EIGENVALUE_CUT * max(float(values[-1]), 1e-300)
        self.projector: Vector = vectors[:, kept] / np.sqrt(values[kept])

    @property
    def rank(self) -> int:
        """r, the number of features."""
        return int(self.projector.shape[1])

    def features(self, X: Any, dtype: Any = np.float64, out: Array | None = None) -> Array:
        """φ of every row, shape (n, r), into ``out`` when given."""
        if out is None:
            out = np.empty((X.shape[0], self.rank), dtype)
        self.gram.cross(X[:1])  # operands are made once, not per thread

        def work(first: int, last: int) -> None:
            out[first:last] = self.gram.cross(X[first:last]) @ self.projector

        with workers() as pool:
            pool.map(work, spans(X.shape[0], ROWS_MAPPED))
        return out

    def combine(self, X: Any, v: Vector) -> Vector:
        """Σ_i v_i φ(x_i) without the features: the kernel of the landmarks with the rows, then one projection."""
        landmarks = self.gram.points.X
        return self.projector.T @ Gram(self.gram.function, X).weighted_sum(landmarks, v)

    def landmark_weights(self, weights: Vector) -> Vector:
        """Pw, for one column of feature weights or several."""
        return self.projector @ weights

    def rotated(self, rotation: Vector) -> Nystroem:
        """The map x ↦ R'φ(x); inner products stay where R is orthogonal."""
        other = copy(self)
        other.projector = self.projector @ rotation
        return other
