"""A surrogate of the covariance-guided matrix whose rows are cheap.

Solves
    With R the kernel rows of m marks taken evenly from the data, K their own block and Q̂ = R'K⁻¹R (Nyström),
        Δ̂ = Q̂CQ̂ = R'K⁻¹(RCR')K⁻¹R,
    whose r largest eigendirections are BB'. What they leave out lies mostly along Q itself: with τ the mean of the
    eigenvalues left, weighted by themselves, the surrogate is
        P̃ = (η + (1−η)sτ)Q + (1−η)sBB',
    a multiple of Q plus a matrix of rank r. It needs no pass over Q: nm kernel entries and nm² products.
Given
    P (``CovarianceGuided``) and r; m = 4r.
Returns
    P̃ as a multiple of Q and a rest of low rank. After a step d with Pd known, τ is re-read from the curvature along d
    and P̃ is corrected to agree with P there, as in the method of Broyden, Fletcher, Goldfarb and Shanno.
    Nothing is approximated in the answer: ``askew.solvers.surrogate`` judges and steers by products with P.
Reference
    Williams and Seeger (2001), NIPS 13:682, for the sketch; Nocedal and Wright (2006), chapters 6 and 7, for
    corrections of limited memory; Barzilai and Borwein (1988) for reading a curvature from a step.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs, solve_triangular

from askew.kernels.covariance_guided import CovarianceGuided
from askew.kernels.kernel_covariance import KernelCovariance
from askew.qp import Ability
from askew.threads import spans, workers

Array = NDArray[Any]
Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MEMORY = 16  # steps remembered
RANK_LIMIT = 96
SMALL = 128  # marks up to which all eigenvalues are found faster than some
WINDOW = 1024  # columns of R at a time: they are made twice rather than kept, memory being dearer than entries


class CovarianceSketch:
    """B and τ for one set of points, shared by every η.

    Parameters
    ----------
    covariance : KernelCovariance
    rank : int, optional
        r; cut to the rank of K. When not given it follows n, as far as a better sketch saves more than it costs.

    Attributes
    ----------
    trace : float
        What the marks say of the trace of Δ.
    """

    def __init__(self, covariance: KernelCovariance, rank: int | None = None) -> None:
        self.covariance, self.dtype = covariance, covariance.dtype
        matrix = covariance.matrix
        rank = rank or min(RANK_LIMIT, max(16, matrix.n // 100))
        self.marks = np.unique(np.linspace(0, matrix.n - 1, min(4 * rank, matrix.n)).astype(np.int64))
        with workers():
            own = matrix.block(self.marks, np.float64)
            self.shift = float(own.mean())
            sums, scatter = self._survey()
            whitener = _whitener(own, self.dtype)
            spectrum = whitener.T @ scatter @ whitener
            values, vectors = _largest(spectrum, rank)
            self.residual = self._mean_residual(spectrum, values, whitener.T @ sums)
            self.trace = float(np.trace(scatter)) * covariance.total / len(self.marks)
            self.columns, self.crowd = self._columns(whitener @ (vectors * np.sqrt(values)))
        self.squares = np.einsum("ij,ij->i", self.columns, self.columns).astype(np.float64)

    def _survey(self) -> tuple[Vector, Vector]:
        """Rw and RCR', from entries less their mean: a wide kernel would drown its scatter in rounding."""
        covariance, m = self.covariance, len(self.marks)
        weight, lock = covariance.weight, threading.Lock()
        sums, scatter = np.zeros(m), np.zeros((m, m))

        def work(first: int, last: int) -> None:
            tile = self._tile(first, last)
            tile -= tile.dtype.type(self.shift)
            weighted = tile * weight[first:last].astype(tile.dtype)
            square, total = tile @ weighted.T, weighted.sum(axis=1, dtype=np.float64)
            with lock:
                np.add(scatter, square, out=scatter)
                np.add(sums, total, out=sums)

        self._map(work)
        scatter -= np.outer(sums, sums) / covariance.total
        return sums + self.shift * covariance.total, scatter

    def _columns(self, coefficients: Vector) -> tuple[Array, Vector]:
        """R' times the coefficients, and the sum of Q over the data at every point, guessed from the marks."""
        columns, crowd = np.empty((self.covariance.n, coefficients.shape[1]), self.dtype), np.empty(self.covariance.n)
        coefficients = coefficients.astype(self.dtype)

        def work(first: int, last: int) -> None:
            tile = self._tile(first, last)
            np.matmul(tile.T, coefficients, out=columns[first:last])
            crowd[first:last] = tile.mean(axis=0)

        self._map(work)
        return columns, self.covariance.total * crowd

    def _tile(self, first: int, last: int) -> Array:
        return self.covariance.matrix.tile(self._prepared, slice(first, last))

    def _map(self, work: Any) -> None:
        self._prepared = self.covariance.matrix.prepare(self.marks, self.dtype)
        self._tile(0, 1)  # operands are made once, not per thread
        with workers() as pool:
            pool.map(work, spans(self.covariance.n, WINDOW))
        del self._prepared

    def _mean_residual(self, spectrum: Vector, values: Vector, sums: Vector) -> float:
        """τ: Σλ²/Σλ over the eigenvalues left out, those the marks do not see being taken as equal."""
        covariance = self.covariance
        own = float(covariance.weight @ covariance.matrix.diagonal())
        seen = float(np.trace(spectrum))
        unseen = max(0.0, own - float(sums @ sums) / covariance.total - seen)
        left = max(0.0, seen - float(values.sum())) + unseen
        squares = max(0.0, float(np.sum(np.square(spectrum))) - float(values @ values))
        squares += unseen * unseen / max(1, covariance.n - len(self.marks))
        return squares / left if left > 1e-9 * own else 0.0

    def surrogate(self, guided: CovarianceGuided) -> SketchedGuided:
        """P̃ for the matrix P of one η."""
        return SketchedGuided(guided, self, self.residual)


def _whitener(own: Vector, dtype: Any) -> Vector:
    """T with TT' = K⁻¹, or K⁻¹ on the directions in which K is more than rounding."""
    rounding = 1e-10 if np.dtype(dtype) == np.float64 else 1e-6
    with suppress(np.linalg.LinAlgError):  # the cheap way, for a K that is definite
        lower = np.linalg.cholesky(own)
        if np.min(np.diagonal(lower)) ** 2 > 100 * rounding * np.max(np.diagonal(own)):
            return solve_triangular(lower, np.eye(len(own)), lower=True).T
    values, vectors = np.linalg.eigh(own)
    kept = values > rounding * max(float(values[-1]), 1e-300)
    return vectors[:, kept] / np.sqrt(values[kept])


def _largest(spectrum: Vector, rank: int) -> tuple[Vector, Vector]:
    """About the largest eigenvalues and their vectors, by a few rounds of subspace iteration: any subspace would do."""
    m = len(spectrum)
    if rank < m // 2 and m > SMALL:
        basis = np.linalg.qr(spectrum[:, np.linspace(0, m - 1, rank).astype(np.int64)])[0]
        for _ in range(2):
            basis = np.linalg.qr(spectrum @ basis)[0]
        values, vectors = np.linalg.eigh(basis.T @ spectrum @ basis)
        return np.maximum(values, 0.0), basis @ vectors
    values, vectors = np.linalg.eigh(spectrum)
    return np.maximum(values[-rank:], 0.0), vectors[:, -rank:]


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
    abilities: frozenset[Ability] = frozenset()

    def __init__(
        self, guided: CovarianceGuided, sketch: CovarianceSketch, residual: float, steps: tuple[Step, ...] = ()
    ) -> None:
        self.guided, self.sketch, self.residual, self.steps = guided, sketch, residual, steps
        self.matrix, self.n, self.dtype = guided.matrix, guided.n, sketch.dtype
        self.learnt, self.signs = np.empty((self.n, 0), self.dtype), np.empty(0, self.dtype)
        for step in steps:
            self._correct(step)

    @property
    def factor(self) -> float:
        """a, the multiple of Q."""
        return self.guided.eta + self.guided.share * self.residual

    def rest(self, indices: Any, steps: Vector) -> Vector:
        """What is not a multiple of Q adds to P̃[:, indices] steps."""
        steps = steps.astype(self.dtype)
        inner = self.dtype.type(self.guided.share) * (self.sketch.columns[indices].T @ steps)
        total = (self.sketch.columns @ inner).astype(np.float64)
        if len(self.signs):
            total += self.learnt @ (self.signs * (self.learnt[indices].T @ steps))
        return total

    def even_gradient(self) -> Vector:
        """P̃w, roughly: what the gradient is where every point has its share."""
        return self.factor * self.sketch.crowd + self.rest(slice(None), self.guided.covariance.weight)

    def product(self, move: Vector, believed: Vector) -> Vector:
        """Pd in the precision of the sketch, given P̃d: one product over all pairs."""
        return self.guided.matvec_from(self.plain(move, believed), self.dtype)

    def plain(self, move: Vector, believed: Vector) -> Vector:
        """Qd from P̃d."""
        return (believed - self.rest(slice(None), move)) / self.factor

    def refine(self, move: Vector, change: Vector, believed: Vector) -> SketchedGuided:
        """P̃ that knows d, given Pd and P̃d: corrected along d, and with the τ that d shows."""
        plain = self.plain(move, believed)
        own = float(move @ plain)
        if not own > 0 or not self.guided.share or not move @ change > 0:
            return self
        kept = self.sketch.columns.T @ move.astype(self.dtype)
        residual = (float(move @ change) - self.guided.eta * own) / self.guided.share - float(kept @ kept)
        least = 1e-3 * max(self.sketch.residual, 1e-12)
        steps = (*self.steps[1 - MEMORY :], Step(move, change, plain))
        return SketchedGuided(self.guided, self.sketch, float(max(residual / own, least)), steps)

    def _correct(self, step: Step) -> None:
        """P̃ + yy'/d'y − uu'/d'u with y = Pd and u = P̃d."""
        believed = self.factor * step.plain + self.rest(slice(None), step.move)
        added = np.column_stack(
            [
                step.change / np.sqrt(float(step.move @ step.change)),
                believed / np.sqrt(float(step.move @ believed)),
            ]
        )
        self.learnt = np.column_stack([self.learnt, added.astype(self.dtype)])
        self.signs = np.append(self.signs, np.array([1, -1], self.dtype))

    def argument_bound(self) -> float:
        return self.matrix.argument_bound()

    def diagonal(self) -> Vector:
        learnt = np.square(self.learnt) @ self.signs
        return self.factor * self.matrix.diagonal() + self.guided.share * self.sketch.squares + learnt

    def matvec(self, v: Vector) -> Vector:
        return self.factor * self.matrix.matvec(v) + self.rest(slice(None), v)

    def block(self, indices: Indices, dtype: Any = np.float64) -> Array:
        """P̃[indices][:, indices]."""
        out = self.matrix.block(indices, dtype)
        left = self.sketch.columns[indices].astype(dtype, copy=False)
        gemm = get_blas_funcs("gemm", (out,))  # in place: a block of its own for the product would cost more than it
        out = gemm(self.guided.share, left.T, left.T, self.factor, out.T, trans_a=1, overwrite_c=1).T
        if len(self.signs):
            learnt = self.learnt[indices].astype(dtype, copy=False)
            out += (learnt * self.signs.astype(dtype)) @ learnt.T
        return out
