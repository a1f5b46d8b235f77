"""The covariance-guided kernel matrix.

Solves
    P = ηQ + (1−η)sΔ with Δ = Q(diag(w) − ww'/Σw)Q and s a scale:
        raw    s = 1, as the paper has it; Δ grows with the number of points, so η means something else on every set
        mean   s = 1/Σw: Δ/N is the covariance of kernel columns, which has a limit as N grows
        trace  s = tr Q / tr Δ (weighted traces): η is the share of Q whatever the size of the data or of the kernel
    All three are the same family: with t the trace scale, P = cP' where P' has η' = η/c and s = t, and
    c = η + (1−η)s/t = tr P / tr Q. So the solution at η is that of the trace scale at η', and only c differs.
Given
    Δ (``KernelCovariance``), η in [0, 1], s.
Returns
    A symmetric matrix: rows, blocks, products, diagonal; and the dense weights that turn a score with the bent kernel
        k̃(x, x') = ηk(x, x') + (1−η)s q(x)'C q(x'),   q(x) = k(X, x),
    into a plain sum: Σβ_i k̃(x_i, x) = Σβ̃_i k(x_i, x) with β̃ = ηβ + (1−η)sCQβ.
Reference
    Khan, Ksantini, Ahmad, Guan, Incorporating covariance information in one class SVC, eqs. 8 and 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import ParameterError
from askew.kernels.kernel_covariance import KernelCovariance
from askew.qp import Ability
from askew.qp.matrix import RowsOfTiles

Array = NDArray[Any]
Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

SCALES = ("raw", "mean", "trace")


class CovarianceGuided(RowsOfTiles):
    """P = ηQ + (1−η)sΔ.

    Parameters
    ----------
    covariance : KernelCovariance
        Δ, which knows Q and the weights.
    eta : float
        Share of Q, in [0, 1].
    scale : float
        s; see ``scale_of``.
    """

    abilities = frozenset({Ability.ROWS, Ability.GUIDED})

    def __init__(self, covariance: KernelCovariance, eta: float, scale: float) -> None:
        self.covariance, self.matrix = covariance, covariance.matrix
        self.eta, self.scale = float(eta), float(scale)
        self.n = covariance.n
        self.is_psd = True if self.matrix.is_psd or self.eta == 0 else self.matrix.is_psd
        self._last: tuple[Vector, Vector] | None = None

    @property
    def share(self) -> float:
        """(1−η)s, the factor of Δ."""
        return (1.0 - self.eta) * self.scale

    @property
    def size(self) -> float:
        """c = tr P / tr Q: what a tolerance in units of the kernel is multiplied by."""
        return self.eta + (self.share / trace_scale(self.covariance) if self.share else 0.0)

    def argument_bound(self) -> float:
        """As for Q: Δ is made from its entries."""
        return self.matrix.argument_bound()

    def diagonal(self) -> Vector:
        if not self.share:
            return self.eta * self.matrix.diagonal()
        return self.eta * self.matrix.diagonal() + self.share * self.covariance.diagonal()

    def matvec(self, v: Vector) -> Vector:
        """Pv in float64, without Δ."""
        return self.matvec_from(self.plain(v))

    def plain(self, v: Vector) -> Vector:
        """Qv in float64; the last one is remembered, since a solution is judged first and then read."""
        if self._last is None or not np.array_equal(self._last[0], v):
            self._last = v.copy(), self.matrix.matvec(v)
        return self._last[1]

    def matvec_from(self, plain: Vector, dtype: Any = np.float64) -> Vector:
        """Pv from Qv; the product with Q that is left is made in the precision asked for."""
        if not self.share:
            return self.eta * plain
        return self.eta * plain + self.share * self.covariance.spread(plain, dtype)

    def tile_width(self, m: int, itemsize: int) -> int:
        """Rows of Δ that are made on demand are made whole; else as for Q."""
        if self.share and not self.covariance.is_formed:
            return max(1, min(self.n, 1024))
        return self.matrix.tile_width(m, itemsize)

    def prepare(self, indices: Indices, dtype: Any) -> Any:
        """The left-hand side of P[indices, :], for ``tile``."""
        bent = self.covariance.prepare(indices, dtype) if self.share else None
        return self.matrix.prepare(indices, dtype), bent

    def tile(self, prepared: Any, columns: slice, out: Array | None = None) -> Array:
        """P[indices, columns] for prepared indices, into ``out`` when given."""
        plain, bent = prepared
        tile = self.matrix.tile(plain, columns, out)
        tile *= tile.dtype.type(self.eta)
        if bent is not None:
            tile += tile.dtype.type(self.share) * self.covariance.tile(bent, columns)
        return tile

    def block(self, indices: Indices, dtype: Any = np.float64) -> Array:
        """P[indices][:, indices]."""
        out = self.eta * self.matrix.block(indices, dtype)
        if not self.share:
            return out
        share = out.dtype.type(self.share)
        prepared = self.covariance.prepare(indices, dtype)
        if prepared.ndim == 1:
            assert self.covariance.whole is not None
            out += share * self.covariance.whole[np.ix_(prepared, prepared)].astype(out.dtype, copy=False)
        else:
            out += share * (prepared @ self.matrix.rows(indices, dtype).T)
        return out

    def dense_weights(self, beta: Vector, plain: Vector) -> Vector:
        """β̃ = ηβ + (1−η)sCQβ, given β and Qβ."""
        return self.eta * beta + self.share * self.covariance.centre(plain)


def trace_scale(covariance: KernelCovariance, trace: float | None = None) -> float:
    """t = tr Q / tr Δ over the weighted points; 1 when Δ vanishes (a kernel constant on the data)."""
    own = float(covariance.weight @ covariance.matrix.diagonal())
    spread = covariance.trace() if trace is None else trace
    return own / spread if own > 0 and spread > 1e-14 * own * own else 1.0


def scale_of(covariance: KernelCovariance, name: str, trace: float | None = None) -> float:
    """The number s a ``covariance_scale`` stands for; ``trace`` is put for tr Δ where it is not to be computed."""
    if name == "raw":
        return 1.0
    if name == "mean":
        return 1.0 / covariance.total
    if name == "trace":
        return trace_scale(covariance, trace)
    raise ParameterError(f"covariance_scale must be one of {', '.join(map(repr, SCALES))}; got {name!r}.")


def eta_from_blend(blend: float, covariance: KernelCovariance, scale: float) -> float:
    """η at scale s with the same solution as η' = ``blend`` at the trace scale: η/(η + (1−η)s/t) = η'."""
    ratio = scale / trace_scale(covariance)
    return blend * ratio / (blend * ratio + 1.0 - blend) if blend < 1 else 1.0
