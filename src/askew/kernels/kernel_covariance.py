"""The kernel covariance matrix Δ of a weighted set of points.

Solves
    Δ = QCQ with C = diag(w) − ww'/Σw: the scatter of the kernel columns over the data, so that β'Δβ is Σw times the
    variance of the score Qβ over the data. Equal weights of 1 give the paper's Q(I − 1_N)Q, and a weight equals
    repetition for any w.
Given
    Q as a matrix that produces rows and products, and w > 0.
Returns
    Products Δv = Q(C(Qv)) at twice the cost of Qv; the trace from one pass over the pairs of points; rows at n times
    the cost of a row of Q, unless ``form`` has computed Δ whole, which costs n³ once.
Reference
    Khan, Ksantini, Ahmad, Guan, Incorporating covariance information in one class SVC, eq. 9; Mika et al. (1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.symmetric_product import symmetric_product, symmetric_scatter
from askew.qp import Ability
from askew.threads import spans, workers

Array = NDArray[Any]
Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

ROWS_PRODUCED = 256  # rows of Q produced at a time
POINTS_ALWAYS_FORMED = 512  # a product this small costs less than thinking about it


_CHEAP = frozenset({Ability.WHOLE, Ability.POINTS, Ability.DEVICE})


class KernelCovariance:
    """Δ = Q(diag(w) − ww'/Σw)Q.

    Parameters
    ----------
    matrix : SymmetricMatrix
        Q.
    weight : array of shape (n,)
        w, all positive.
    dtype : float32 or float64
        Precision of the pass over Q and of Δ when it is formed.
    """

    def __init__(self, matrix: Any, weight: Vector, dtype: Any = np.float64) -> None:
        self.matrix, self.weight, self.dtype = matrix, weight, np.dtype(dtype)
        self.n, self.total = matrix.n, float(weight.sum())
        self.whole: Array | None = None
        self._diagonal: Vector | None = None
        self._trace: float | None = None

    @property
    def is_formed(self) -> bool:
        """Whether Δ is held as an array."""
        return self.whole is not None

    def centre(self, v: Array) -> Array:
        """Cv, for a vector or the rows of an array."""
        mean = v @ self.weight.astype(v.dtype) / v.dtype.type(self.total)
        return (v - mean[..., None]) * self.weight.astype(v.dtype)

    def matvec(self, v: Vector) -> Vector:
        """Δv in float64."""
        return self.spread(self.matrix.matvec(v))

    def spread(self, plain: Vector, dtype: Any = np.float64) -> Vector:
        """Δv from Qv: Q(C(Qv)), a product with all of Q."""
        centred = self.centre(plain)
        if not self.matrix.abilities.isdisjoint(_CHEAP):  # entries that cost nothing are not worth saving
            return self.matrix.matvec(centred)
        return symmetric_product(self.matrix, centred, dtype)

    def diagonal(self) -> Vector:
        """Δ_ii, from one pass over Q."""
        if self._diagonal is None:
            squares, weight = np.empty(self.n), self.weight.astype(self.dtype)

            def work(first: int, last: int) -> None:
                rows = self.matrix.rows(np.arange(first, last), self.dtype)
                rows -= (rows @ weight / rows.dtype.type(self.total))[:, None]
                squares[first:last] = np.square(rows, out=rows) @ weight

            with workers() as pool:
                pool.map(work, spans(self.n, ROWS_PRODUCED))
            self._diagonal = squares
        return self._diagonal

    def trace(self) -> float:
        """Σ w_i Δ_ii."""
        if self._trace is None and self.n <= POINTS_ALWAYS_FORMED:
            self.form()
        if self._trace is None:
            self.survey(np.zeros(self.n))
        assert self._trace is not None
        return self._trace

    def survey(self, plain: Vector) -> Vector:
        """Δv from Qv in the precision ``dtype``, and the trace of Δ on the way: one pass over the pairs of points."""
        self._trace, product = symmetric_scatter(self.matrix, self.weight, self.centre(plain), self.dtype)
        return product

    def form(self) -> None:
        """Hold Δ whole: one symmetric n×n×n product."""
        if self.is_formed:
            return
        centred, whole = np.empty((2, self.n, self.n), self.dtype)
        weight, root = self.weight.astype(self.dtype), np.sqrt(self.weight).astype(self.dtype)

        def centre(first: int, last: int) -> None:
            rows = self.matrix.rows(np.arange(first, last), self.dtype)
            rows -= (rows @ weight / rows.dtype.type(self.total))[:, None]
            np.multiply(rows, root, out=centred[first:last])

        def multiply(first: int, last: int) -> None:
            np.matmul(centred[first:last], centred[:last].T, out=whole[first:last, :last])
            whole[:first, first:last] = whole[first:last, :first].T

        with workers() as pool:
            pool.map(centre, spans(self.n, ROWS_PRODUCED))
            pool.map(multiply, spans(self.n, ROWS_PRODUCED)[::-1])  # the longest first
        self.whole, self._diagonal = whole, np.diagonal(whole).astype(np.float64)
        self._trace = float(self.weight @ self._diagonal)

    def prepare(self, indices: Indices, dtype: Any) -> Any:
        """What ``tile`` needs of these rows: their place in Δ when it is formed well enough, else Q[indices]C."""
        if self.whole is not None and self.whole.dtype.itemsize >= np.dtype(dtype).itemsize:
            return indices
        return self.centre(self.matrix.rows(indices, dtype))

    def tile(self, prepared: Any, columns: slice) -> Array:
        """Δ[indices, columns] for prepared indices."""
        if prepared.ndim == 1:
            assert self.whole is not None
            return self.whole[prepared, columns]
        total = np.zeros((len(prepared), columns.stop - columns.start), prepared.dtype)
        for first, last in spans(self.n, 4 * ROWS_PRODUCED):
            right = self.matrix.tile(self.matrix.prepare(np.arange(first, last), prepared.dtype), columns)
            total += prepared[:, first:last] @ right
        return total

    def pays_to_form(self, budget: int) -> bool:
        """Whether one n×n×n product is cheaper than going without; Δ and what it is made from must fit into the budget.

        A stand-in and products Q(Qβ) are cheaper from a few hundred points on, for one programme and for a walk of ten
        (measured). A Q that may be indefinite has no stand-in, and rows of Δ one by one cost n² each.
        """
        fits = 2 * self.n * self.n * self.dtype.itemsize <= budget
        return self.n <= POINTS_ALWAYS_FORMED or (fits and self.matrix.is_psd is False)
