"""Scoring with scaled machines: both steps in one pass over the union of their support vectors.

Solves
    For every machine and every new point x: the sums Σ_i c_i k(x_i, x) of all its stages, the factors D(x) between
    them, and the score of the last stage.
Given
    Machines as lists of ``Stage``; the kernel on the union of all their support vectors.
Returns
    Scores of shape (n_points, n_machines). Bends without anchors need the sums alone, whatever computes them. Bends
    with anchors need the kernel values themselves: these are produced for a block of points, used for the sums and
    for the distances, and forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.bends import Bend, squared_distances
from askew.methods.kernel_scaling import Indices, Stage, Vector, score
from askew.threads import spans, workers

Machine = Sequence[Stage]
_TILE = 2**20


def unite(machines: Sequence[Machine], codes: Indices) -> tuple[Indices, list[list[Stage]]]:
    """Rows that any stage needs, class by class, and the machines with rows renumbered by their place among these."""
    needed = [stage.expansion.support for machine in machines for stage in machine]
    needed += [stage.bend.anchors for machine in machines for stage in machine if stage.bend is not None]
    union = np.unique(np.concatenate(needed))
    union = union[np.argsort(codes[union], kind="stable")]
    position = np.full(len(codes), -1)
    position[union] = np.arange(len(union))
    return union, [[stage.moved(position) for stage in machine] for machine in machines]


def columns_of(machines: Sequence[Machine], n_support: int) -> NDArray[np.float64]:
    """Coefficients of all stages of all machines over the union, shape (n_support, n_stages in all)."""
    stages = [stage for machine in machines for stage in machine]
    columns = np.zeros((n_support, len(stages)))
    for column, stage in zip(columns.T, stages, strict=True):
        column[stage.expansion.support] = stage.expansion.coefficients
    return columns


def needs_distances(machines: Sequence[Machine]) -> bool:
    """Whether any bend has anchors."""
    return any(stage.bend is not None and len(stage.bend.anchors) for machine in machines for stage in machine)


def scores_from_sums(machines: Sequence[Machine], sums: NDArray[Any], sight: Any = None) -> NDArray[np.float64]:
    """Scores of all machines, from the sums of all their stages and a way to see distances."""
    out, begin = np.empty((len(sums), len(machines))), 0
    for k, machine in enumerate(machines):
        out[:, k] = score(machine, sums[:, begin : begin + len(machine)], sight or _blind(len(sums)))
        begin += len(machine)
    return out


class Surroundings:
    """The support vectors as new points see them.

    Parameters
    ----------
    kernel : object with ``cross(Z)``
        k between new points and the union of support vectors.
    own : array
        k(x_i, x_i) of the support vectors.
    own_of : callable
        k(z, z) of new points.
    input_space : Gram or None
        −½‖z − x_i‖², for bends that measure distances there; None to measure all in feature space.
    """

    def __init__(self, kernel: Any, own: Vector, own_of: Any, input_space: Any = None) -> None:
        self.kernel, self.own, self.own_of, self.input_space = kernel, own, own_of, input_space

    def scores(self, machines: Sequence[Machine], Z: Any) -> NDArray[np.float64]:
        """Scores of all machines at the rows of Z, in blocks and threads."""
        columns = columns_of(machines, len(self.own))
        out = np.empty((Z.shape[0], len(machines)))

        def work(first: int, last: int) -> None:
            block = Z[first:last, :]
            tile = self.kernel.cross(block)
            out[first:last] = scores_from_sums(machines, tile @ columns, self.sight(block, tile))

        with workers() as pool:
            pool.map(work, spans(Z.shape[0], max(1, _TILE // max(1, len(self.own)))))
        return out

    def sight(self, block: Any, tile: NDArray[Any]) -> Any:
        """Squared distances of a block of points to the anchors of a bend."""
        own = self.own_of(block)

        def distances(bend: Bend) -> NDArray[Any]:
            some = bend.anchors
            if bend.space == "input" and self.input_space is not None:
                products, zero = self.input_space.cross(block)[:, some], np.zeros(len(tile))
                return squared_distances(products, zero, np.zeros(len(some)))
            return squared_distances(tile[:, some], own, self.own[some])

        return distances


def _blind(n_points: int) -> Any:
    return lambda bend: np.empty((n_points, 0))


def last_columns(machines: Sequence[Machine], n_support: int) -> NDArray[np.float64]:
    """Coefficients of the last stage of every machine, shape (n_machines, n_support)."""
    return columns_of([machine[-1:] for machine in machines], n_support).T
