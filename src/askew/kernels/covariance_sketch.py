"""A stand-in for the covariance-guided matrix whose rows are cheap.

Solves
    With M = W^½QW^½, û = w^½/‖w^½‖ and U orthonormal with U'û = 0,
        Δ = BB' + QW^½ΠW^½Q,   B = QW^½U,   Π = I − ûû' − UU',
    and the last term lies between 0 and τQ when τ is the largest eigenvalue of ΠMΠ. The stand-in is
        P̃ = (η + (1−η)sτ)Q + (1−η)sBB',
    a multiple of Q plus a matrix of rank r. It is as good as needed for any data: at most 1/ε of the eigenvalues of
    M/tr M exceed ε, so a few hundred columns leave a τ that ηQ outweighs.
Given
    P (``CovarianceGuided``) and r. U spans the kernel columns of r rows taken evenly from the data: for every
    subspace P̃ is a valid stand-in, a good one only saves rounds.
Returns
    Rows of P̃ at the cost of a row of Q and r products. After a step d with Pd known, τ is re-read from the curvature
    along d and P̃ is corrected to agree with P there, as in the method of Broyden, Fletcher, Goldfarb and Shanno.
    Nothing is approximated in the answer: ``askew.solvers.stand_in`` judges and steers by exact products with P.
Reference
    Halko, Martinsson, Tropp (2011), SIAM Review 53:217, for the sketch; Nocedal and Wright (2006), chapters 6 and 7,
    for corrections of limited memory; Barzilai and Borwein (1988) for reading a curvature from a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.covariance_guided import CovarianceGuided
from askew.kernels.kernel_covariance import KernelCovariance
from askew.threads import workers

Array = NDArray[Any]
Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MEMORY = 16  # steps remembered


class CovarianceSketch:
    """B = QW^½U for one set of points, shared by every η.

    Parameters
    ----------
    covariance : KernelCovariance
    rank : int
        r; cut to n − 1.
    """

    def __init__(self, covariance: KernelCovariance, rank: int) -> None:
        self.covariance = covariance
        matrix, weight, dtype = covariance.matrix, covariance.weight, covariance.dtype
        marks = np.unique(np.linspace(0, matrix.n - 1, min(rank, matrix.n - 1)).astype(np.int64))
        root = np.sqrt(weight)
        basis = _orthonormal(root[:, None] * matrix.rows(marks, dtype).T, root / np.sqrt(covariance.total))
        products = covariance.survey(np.column_stack([weight, root[:, None] * basis]).astype(dtype))
        self.columns = np.ascontiguousarray(products[:, 1:])
        self.residual = self._mean_residual(root, basis, products[:, 0])

    def _mean_residual(self, root: Vector, basis: Array, sums: Array) -> float:
        """tr MΠM / tr ΠMΠ: the mean of what is left of the spectrum, weighted by itself; ``sums`` is Qw."""
        covariance, weighted = self.covariance, root[:, None] * self.columns
        kept = float(covariance.weight @ sums) / covariance.total + float(np.einsum("ij,ij", basis, weighted))
        own = float(covariance.weight @ covariance.matrix.diagonal())
        squares = covariance.trace() - float(np.einsum("ij,ij", weighted, weighted))
        left = own - kept
        return max(0.0, squares) / left if left > 1e-9 * own else 0.0

    def stand_in(self, guided: CovarianceGuided) -> SketchedGuided:
        """P̃ for the matrix P of one η."""
        return SketchedGuided(guided, self, self.residual)


def _orthonormal(columns: Vector, direction: Vector) -> Vector:
    """A basis of the span of the columns without a direction, to the accuracy of the columns."""
    with workers():  # BLAS at one thread: the products are small, and two pools would fight
        columns = columns - np.outer(direction, direction @ columns)
        values, vectors = np.linalg.eigh(columns.T @ columns)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300)
        return columns @ (vectors[:, kept] / np.sqrt(values[kept]))


@dataclass(frozen=True)
class Step:
    """A step d that was taken, with Pd and Qd."""

    move: Vector
    change: Vector
    plain: Vector


class SketchedGuided:
    """P̃ = aQ + bBB' + corrections, a = η + (1−η)sτ, b = (1−η)s.

    Parameters
    ----------
    guided : CovarianceGuided
    sketch : CovarianceSketch
    residual : float
        τ.
    steps : tuple of Step
        Steps along which P̃ is corrected to P, by the update of Broyden, Fletcher, Goldfarb and Shanno.
    """

    is_psd = True

    def __init__(
        self, guided: CovarianceGuided, sketch: CovarianceSketch, residual: float, steps: tuple[Step, ...] = ()
    ) -> None:
        self.guided, self.sketch, self.residual, self.steps = guided, sketch, residual, steps
        self.matrix, self.n = guided.matrix, guided.n
        self.columns = np.sqrt(guided.share) * sketch.columns
        self.signs = np.ones(self.columns.shape[1], self.columns.dtype)
        for step in steps:
            self._correct(step)
        self._right: dict[Any, Array] = {}

    @property
    def factor(self) -> float:
        """a, the multiple of Q."""
        return self.guided.eta + self.guided.share * self.residual

    def refine(self, move: Vector, change: Vector, believed: Vector) -> SketchedGuided:
        """P̃ that knows d, given Pd and P̃d: corrected along d, and with the τ that d shows."""
        plain = (believed - self._low_rank(move)) / self.factor
        own = float(move @ plain)
        if not own > 0 or not self.guided.share or not move @ change > 0:
            return self
        kept = self.sketch.columns.T.astype(np.float64) @ move
        residual = (float(move @ change) - self.guided.eta * own) / self.guided.share - float(kept @ kept)
        least = 1e-3 * max(self.sketch.residual, 1e-12)
        steps = (*self.steps[1 - MEMORY :], Step(move, change, plain))
        return SketchedGuided(self.guided, self.sketch, float(max(residual / own, least)), steps)

    def _correct(self, step: Step) -> None:
        """P̃ + yy'/d'y − uu'/d'u with y = Pd and u = P̃d."""
        believed = self.factor * step.plain + self._low_rank(step.move)
        added = np.column_stack(
            [
                step.change / np.sqrt(float(step.move @ step.change)),
                believed / np.sqrt(float(step.move @ believed)),
            ]
        )
        self.columns = np.column_stack([self.columns, added.astype(self.columns.dtype)])
        self.signs = np.append(self.signs, np.array([1, -1], self.signs.dtype))

    def _low_rank(self, v: Vector) -> Vector:
        """What the columns add to P̃v."""
        columns = self.columns.astype(np.float64)
        return columns @ (self.signs * (columns.T @ v))

    def argument_bound(self) -> float:
        return self.matrix.argument_bound()

    def diagonal(self) -> Vector:
        squares = np.einsum("ij,ij,j->i", self.columns, self.columns, self.signs, dtype=np.float64)
        return self.factor * self.matrix.diagonal() + squares

    def matvec(self, v: Vector) -> Vector:
        return self.factor * self.matrix.matvec(v) + self._low_rank(v)

    def tile_width(self, m: int, itemsize: int) -> int:
        return self.matrix.tile_width(m, itemsize)

    def prepare(self, indices: Indices, dtype: Any) -> Any:
        """The left-hand side of P̃[indices, :], for ``tile``."""
        if np.dtype(dtype) not in self._right:
            self._right[np.dtype(dtype)] = np.ascontiguousarray((self.columns * self.signs).T, dtype)
        return self.matrix.prepare(indices, dtype), self.columns[indices].astype(dtype, copy=False)

    def tile(self, prepared: Any, columns: slice, out: Array | None = None) -> Array:
        """P̃[indices, columns] for prepared indices, into ``out`` when given."""
        plain, left = prepared
        tile = self.matrix.tile(plain, columns, out)
        tile *= tile.dtype.type(self.factor)
        tile += left @ self._right[tile.dtype][:, columns]
        return tile

    def rows(self, indices: Indices, dtype: Any = np.float64) -> Array:
        """P̃[indices, :]."""
        return self.tile(self.prepare(indices, dtype), slice(0, self.n))

    def block(self, indices: Indices, dtype: Any = np.float64) -> Array:
        """P̃[indices][:, indices]."""
        left = self.columns[indices].astype(dtype, copy=False)
        out = self.matrix.block(indices, dtype)
        out *= out.dtype.type(self.factor)
        out += (left * self.signs.astype(dtype)) @ left.T
        return out
