"""How strongly to bend: a search over k that is cheap enough to be the default.

Solves
    Among candidate strengths k the one whose cross-validated gain over k = 0, less one standard error of that gain, is
    largest; k = 0 itself, the plain C-SVC, where no candidate gains more than its standard error.
Given
    A ``Task``, folds, candidates, a measure, and ``solve``. The kernel is computed once and cut into folds, the plain
    machine is fitted once per fold, and every further solve starts from it: D only rescales rows and columns.
Returns
    ``Search``: the strengths chosen, and what was measured of each candidate.
Stops when
    all candidates are measured.
Reference
    Maratea and Petrosino, section 5, who leave the estimation of k as future work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.kernels.bends import Bend, squared_distances
from askew.methods.kernel_scaling import Fitted, Indices, Solve, Task, Vector, first_fit, scale, score
from askew.methods.kernel_scaling_measures import Measure
from askew.methods.kernel_scaling_rules import Strengths, rule_of
from askew.qp import Precomputed

LARGEST_SEARCH = 2000
"""Rows a search looks at. Beyond them a gain is known better than the choice between half decades of k needs."""
HALF_DECADES = tuple(np.round(10.0 ** (np.arange(-2, 4) / 2), 3).tolist())
"""0.1, 0.316, 1, …, 31.6."""


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    chosen : (float, float)
        k_majority and k_minority; twice the same k for scalings that have one.
    candidates : list of (float, float)
        The first is (0, 0), the plain C-SVC.
    gains, errors : arrays of shape (n_candidates,)
        Cross-validated gain over the plain C-SVC and its standard error.
    n_rows, n_folds : int
        How many rows were looked at, in how many folds; no folds where a class has too few different rows.
    """

    chosen: Strengths
    candidates: list[Strengths]
    gains: Vector
    errors: Vector
    n_rows: int
    n_folds: int


def candidates_of(scaling: str, fixed: tuple[float | None, float | None]) -> list[Strengths]:
    """(0, 0) and the strengths to try; an entry of ``fixed`` that is a number is kept at it.

    Beyond 3 on the minority's side its few rows vanish from the kernel: no data set was seen to gain there.
    """
    if scaling != "asymmetric":
        return [(0.0, 0.0), *((k, k) for k in HALF_DECADES)]
    wanted = ((0.0, *HALF_DECADES[2:]), (0.0, *HALF_DECADES[2:4]))
    tried = [choices if k is None else (k,) for choices, k in zip(wanted, fixed, strict=True)]
    grid = list(product(*tried))
    return grid if fixed != (None, None) else sorted(grid, key=lambda pair: pair != (0.0, 0.0))


def deal_folds(y: Vector, identity: Indices, n_folds: int) -> Indices:
    """Fold of each row: classes spread evenly, repetitions of a row kept together, independent of the order of rows."""
    fold, start = np.empty(len(y), dtype=np.int64), 0
    for sign in (-1.0, 1.0):
        mine = y == sign
        names, place = np.unique(identity[mine], return_inverse=True)
        fold[mine] = (start + place) % n_folds
        start += len(names)
    return fold


def search(
    task: Task,
    scaling: str,
    candidates: Sequence[Strengths],
    solve: Solve,
    measure: Measure,
    *,
    n_folds: int = 5,
    max_scalings: int = 1,
    tol: float = 1e-3,
) -> Search:
    """Measure the candidates by cross-validation and choose one."""
    kept = _rows_to_search(task)
    y, identity = task.y[kept], task.identity[kept]
    rarest = min(len(np.unique(identity[y == sign])) for sign in (-1.0, 1.0))
    n_folds, nothing = min(n_folds, rarest), np.zeros(len(candidates))
    if n_folds < 2:
        return Search(candidates[0], list(candidates), nothing, nothing, len(kept), 0)
    fold = deal_folds(y, identity, n_folds)
    stored = _stored(task.part(kept))
    scores = np.empty((len(candidates), len(kept)))
    for number in range(n_folds):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        part = _Fold(stored, train, test)
        first = first_fit(part.task, solve)
        for k, strengths in enumerate(candidates):
            machines = scale(part.task, first, rule_of(scaling, strengths), solve, max_scalings, tol)
            scores[k, test] = part.test_scores(machines)
    gains, errors = measure(scores, y, task.weight[kept], fold)
    best = int(np.argmax(gains - errors))
    return Search(candidates[best], list(candidates), gains, errors, len(kept), n_folds)


class _Fold:
    """Training rows of one fold as a task of their own, and the test rows as they see them."""

    def __init__(self, stored: Task, train: Indices, test: Indices) -> None:
        self.train, self.test = train, test
        self.task = _stored(stored.part(train))
        self.cross = stored.matrix.rows(test)[:, train]
        self.own = stored.matrix.diagonal()
        self.inputs = None if stored.input_space is None else stored.input_space.rows(test)[:, train]

    def test_scores(self, machines: list[Fitted]) -> Vector:
        stages = [machine.stage for machine in machines]
        sums = np.stack([self.cross[:, e.support] @ e.coefficients for e in (s.expansion for s in stages)], axis=1)
        return score(stages, sums, self._distances)

    def _distances(self, bend: Bend) -> NDArray[Any]:
        some = bend.anchors
        if bend.space == "input" and self.inputs is not None:
            return squared_distances(self.inputs[:, some], np.zeros(len(self.test)), np.zeros(len(some)))
        return squared_distances(self.cross[:, some], self.own[self.test], self.own[self.train[some]])


def _stored(task: Task) -> Task:
    """The same task with its matrices computed and held."""

    def held(matrix: Any) -> Any:
        return None if matrix is None else Precomputed(matrix.rows(np.arange(matrix.n)), is_psd=matrix.is_psd)

    return Task(held(task.matrix), task.y, task.cost, task.weight, task.identity, held(task.input_space))


def _rows_to_search(task: Task) -> Indices:
    """All rows, or of each class those that come first by identity: up to half of the limit of the rarer class."""
    if len(task.y) <= LARGEST_SEARCH:
        return np.arange(len(task.y))
    kept, room = [], LARGEST_SEARCH
    rare = task.is_minority if task.is_minority.sum() <= len(task.y) / 2 else ~task.is_minority
    for mine, share in ((rare, LARGEST_SEARCH // 2), (~rare, LARGEST_SEARCH)):
        rows = np.flatnonzero(mine)
        first = rows[np.argsort(task.identity[rows], kind="stable")][: min(share, room)]
        kept.append(first)
        room -= len(first)
    return np.sort(np.concatenate(kept))
