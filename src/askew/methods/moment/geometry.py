"""The whitened geometry of the positives of one machine, in which the negatives are round, and scores in it.

Solves
    K̂ on the positives for a covariance structure M, a ridge ρ and a kernel function;
    linear: w = (M + ρI)⁻¹ Σα_i(x_i − x̄), score w'x + (intercept − w'x̄);
    else:   Σα_i K̂(x_i, x) + intercept, new points whitened a few at a time.
Given
    ``Evidence`` of ``askew.summaries``, a ridge, and a kernel.
Returns
    K̂ as a ``Gram``, w, or scores in float64.
Reference
    Leclère, Grave, El Ghaoui, section 3.3 and figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from askew.kernels import Gram, KernelFunction, Linear, make_function
from askew.methods.moment.programme import Fit
from askew.moments.structure import Structure
from askew.summaries import Evidence
from askew.threads import spans

Vector = NDArray[np.float64]

SCORED_ENTRIES = 2**22  # entries of whitened rows held at a time when scoring


class Kernel(NamedTuple):
    """The kernel of whitened points, as the user gave it."""

    name: str = "linear"
    gamma: float | str = "scale"
    degree: float = 3
    coef0: float = 0.0

    def on(self, points: Any, weight: Vector) -> KernelFunction:
        """The kernel function on some points, ``gamma`` made a number there."""
        if self.name == "linear":
            return Linear()
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / points.shape[1]
        elif isinstance(gamma, str):
            lengths = Gram(Linear(), points).diagonal()
            mean_length = float(weight @ lengths / weight.sum())
            gamma = 1.0 / mean_length if mean_length > 0 else 1.0
        return make_function(self.name, gamma, self.degree, self.coef0)


@dataclass(frozen=True)
class KernelScore:
    """score(x) = Σ α_i K̂(x_i, x) + intercept."""

    structure: Structure
    function: KernelFunction
    support_vectors: Any
    alpha: Vector
    intercept: float

    def scores(self, X: Any) -> Vector:
        """Score of every row."""
        support = self.support_vectors
        if not len(self.alpha):
            return np.full(X.shape[0], self.intercept)
        if sparse.issparse(X) or sparse.issparse(support):
            X, support = sparse.csr_array(X), sparse.csr_array(support)
        gram, scores = Gram(self.function, self.structure.whiten(support)), np.empty(X.shape[0])
        for start, stop in spans(X.shape[0], max(64, SCORED_ENTRIES // max(1, X.shape[1]))):
            scores[start:stop] = gram.weighted_sum(self.structure.whiten(X[start:stop]), self.alpha)
        return scores + self.intercept


@dataclass(frozen=True)
class Geometry:
    """Positives of one machine, whitened under one ridge.

    Attributes
    ----------
    evidence : Evidence
    structure : Structure
        With its ridge.
    function : KernelFunction
    matrix : Gram
        K̂ on the positives.
    """

    evidence: Evidence
    structure: Structure
    function: KernelFunction
    matrix: Gram

    @classmethod
    def of(cls, evidence: Evidence, ridge: float, kernel: Kernel) -> Geometry:
        """Factorise the covariance under the ridge, and whiten the positives once."""
        structure = evidence.structure.with_ridge(ridge)
        points = structure.whiten(evidence.X)
        function = kernel.on(points, evidence.weight)
        return cls(evidence, structure, function, Gram(function, points))

    def directions(self, alphas: Vector, out: Vector) -> None:
        """w of every column of ``alphas``, to the rows of ``out``; for a linear kernel."""
        self.structure.directions(self.evidence.X, alphas, out)

    def score(self, fit: Fit) -> KernelScore:
        """The score of a solved programme."""
        support = np.flatnonzero(fit.alpha)
        vectors, alpha = self.evidence.X[support], fit.alpha[support]
        return KernelScore(self.structure, self.function, vectors, alpha, fit.intercept)
