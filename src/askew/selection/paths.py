"""Candidates that share kernels and solutions.

Candidates with the same kernel form a group, and the kernel is computed once for all of them and all folds (once per
fold where a transformer in front, or ``gamma="scale"``, makes it depend on the training rows). On a fold the group is
one path: candidates in an order in which neighbours differ little, each solved from the last one's solution, and the
first from that of the group before. Folds run side by side in threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from askew.arrays import Home, is_elsewhere, row_precision
from askew.exceptions import AskewError
from askew.kernels.array_stored import ArrayStored
from askew.kernels.stored import Stored
from askew.selection.outcomes import Candidate, Outcomes
from askew.selection.progress import Progress
from askew.selection.rows import Rows
from askew.selection.snake import snake
from askew.solvers import Prepared, prepare
from askew.threads import alone, workers
from askew.tolerance.holdout import take_rows
from askew.tuning import Fold, PathPoint, for_another_kernel, offers_paths

ALWAYS, PAYS = 4000, 20  # a matrix of more rows than this is stored when at least so many fits will use it


@dataclass
class _Group:
    """Candidates with one kernel and one set of transformers in front of it."""

    front: Any
    machine: Any
    members: list[int] = field(default_factory=list)
    machines: list[Any] = field(default_factory=list)

    def put_in_order(self) -> None:
        """From loose to tight, in every group alike, so that the first of one is near the first of the next."""
        names = sorted(self.machine._path_parameters())
        order = snake([{name: machine.get_params()[name] for name in names} for machine in self.machines])[::-1]
        self.members, self.machines = [self.members[i] for i in order], [self.machines[i] for i in order]

    @property
    def is_shared(self) -> bool:
        """Whether one matrix serves all folds: nothing in it was learnt from the training rows."""
        is_learnt = self.machine.gamma == "scale" and self.machine.kernel not in ("linear", "precomputed")
        return self.front is None and not is_learnt


class Paths:
    """Evaluate by warm-started paths on shared kernels.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Its last step is ``Searchable``.
    rows : Rows
        Of two classes; X is already an array or a CSR matrix unless there are transformers in front.
    n_jobs : int or None
        Threads; None for as many as BLAS would use.
    cache_bytes : int
        Memory for kernels. A matrix that does not fit is not stored: solvers then compute and cache its rows.
    """

    def __init__(self, estimator: Any, rows: Rows, n_jobs: int | None, cache_bytes: int) -> None:
        self.estimator, self.rows, self.n_jobs, self.cache_bytes = estimator, rows, n_jobs, cache_bytes
        self._lock, self._front_key, self._transformed = threading.Lock(), "", {}
        self._mine = threading.local()  # what a thread keeps from one path to the next
        self._firsts: dict[int, PathPoint] = {}  # by fold, the first point of the last path

    def evaluate(self, candidates: list[Candidate], progress: Progress) -> Outcomes:
        """Scores of every candidate on every fold."""
        outcomes = Outcomes.empty(candidates, len(self.rows.folds))
        progress.expect(outcomes.scores.size)
        self._firsts = {}
        with workers() as pool:
            threads = min(_thread_count(self.n_jobs, pool.count), len(self.rows.folds))
            with ThreadPoolExecutor(threads) as executor:
                shared = None
                for group in self._groups(candidates):
                    shared = self._shared(group, shared) if group.is_shared else None
                    run = partial(self._run, group, shared, threads, outcomes, progress)
                    for _ in executor.map(run, range(len(self.rows.folds))):
                        pass
        return outcomes

    def _groups(self, candidates: list[Candidate]) -> list[_Group]:
        """Candidates by kernel, from wide kernels to narrow ones: to more support vectors."""
        groups: dict[str, _Group] = {}
        for number in snake(candidates):
            front, machine = split(clone(self.estimator).set_params(**clone(candidates[number], safe=False)))
            kept = {k: v for k, v in machine.get_params().items() if k not in machine._path_parameters()}
            key = joblib.hash((None if front is None else front.get_params(), type(machine), kept))
            group = groups.setdefault(key, _Group(front, machine))
            group.members.append(number)
            group.machines.append(machine)
        for group in groups.values():
            group.put_in_order()
        return list(groups.values())

    def _run(
        self, group: _Group, shared: Any, threads: int, outcomes: Outcomes, progress: Progress, number: int
    ) -> None:
        """The path of a group on one fold."""
        train, test = self.rows.folds[number]
        with alone(), Home(self.rows.X if is_elsewhere(self.rows.X) else None).lane():
            weight, begin = self.rows.mask(train), time.perf_counter()
            X, matrix = self._through(group.front, number), shared
            if matrix is None:
                matrix = self._matrix(group.machine, X, weight, threads, len(group.members))
            fold = Fold(matrix, self.rows.classes, self.rows.codes, weight, X)
            setup = (time.perf_counter() - begin) / len(group.members)
            scores = self._walk(group, fold, number, test, outcomes)
            begin = time.perf_counter()
            works = ~np.isnan(scores[0])
            members = np.array(group.members)
            outcomes.scores[members[works], number] = self.rows.judge(test, scores[:, works])
            outcomes.score_seconds[members, number] = (time.perf_counter() - begin) / len(members)
            outcomes.fit_seconds[members, number] += setup
        progress.step(len(group.members))

    def _walk(
        self, group: _Group, fold: Fold, number: int, test: NDArray[np.int64], outcomes: Outcomes
    ) -> NDArray[np.float64]:
        """Scores of the held-out rows for every candidate of the group; a column of NaN for one that does not work."""
        solve, point = self._solver(fold.matrix), self._firsts.pop(number, None)
        scores = np.full((len(test), len(group.members)), np.nan)
        for column, (member, machine) in enumerate(zip(group.members, group.machines, strict=True)):
            begin = time.perf_counter()
            try:
                point = machine._path_point(fold, point, solve)
            except AskewError as error:
                outcomes.fail(error)
            else:
                scores[:, column] = point.scores[test]
                outcomes.resolved[member, number] = point.is_resolved
                self._firsts.setdefault(number, for_another_kernel(point))
            outcomes.fit_seconds[member, number] = time.perf_counter() - begin
        return scores

    def _through(self, front: Any, number: int) -> Any:
        """All rows as the transformers make them when they have seen the training rows of a fold only."""
        if front is None:
            return self.rows.X
        key = joblib.hash(front.get_params())
        with self._lock:
            if self._front_key != key:  # results are kept for one setting of the transformers at a time
                self._front_key, self._transformed = key, {}
            known = self._transformed
        if number not in known:
            train = self.rows.training(self.rows.folds[number][0])
            fitted = clone(front).fit(take_rows(self.rows.X, train), self.rows.y[train])
            known[number] = as_numbers(fitted.transform(self.rows.X))
        return known[number]

    def _shared(self, group: _Group, last: Any) -> Any:
        """The kernel of a group, for all folds; ``last`` is that of the group before, no longer needed."""
        everywhere, fits = np.ones(len(self.rows.codes)), len(group.members) * len(self.rows.folds)
        return self._matrix(group.machine, self.rows.X, everywhere, 1, fits, last)

    def _matrix(self, machine: Any, X: Any, weight: Any, copies: int, fits: int, last: Any = None) -> Any:
        """The kernel on all rows, stored where ``copies`` of it have room and enough fits will use it."""
        matrix = clone(machine)._path_matrix(X, weight)
        if matrix is None or machine.kernel == "precomputed" or (matrix.n > ALWAYS and fits < PAYS):
            return matrix
        if is_elsewhere(X):
            return self._stored_elsewhere(machine, matrix, copies)
        with_float32 = row_precision(matrix.n, machine.tol, matrix.argument_bound()) == np.float32
        if copies * Stored.bytes_needed(matrix.n, with_float32) > self.cache_bytes:
            return matrix
        return Stored(matrix, with_float32, last if isinstance(last, Stored) else None)

    def _stored_elsewhere(self, machine: Any, matrix: Any, copies: int) -> Any:
        single = row_precision(matrix.n, machine.tol, matrix.argument_bound())
        room = self.cache_bytes // copies
        fitting = [dtype for dtype in (np.float64, single) if ArrayStored.bytes_needed(matrix.n, dtype) <= room]
        if not fitting:
            return matrix
        stored = ArrayStored(matrix, fitting[0])
        stored.home.finish()
        return stored

    def _solver(self, matrix: Any) -> Callable[..., Any]:
        """The solver for a fold's matrix, in the memory that the last path of this thread has left."""
        if not hasattr(self._mine, "prepared"):
            self._mine.prepared = prepare(matrix, memory=self.cache_bytes // len(self.rows.folds))
        prepared: Prepared = self._mine.prepared
        prepared.turn_to(matrix)
        return prepared.solve


def split(estimator: Any) -> tuple[Any, Any]:
    """The transformers in front, or None, and the machine they feed."""
    if not isinstance(estimator, Pipeline):
        return None, estimator
    front = [(name, step) for name, step in estimator.steps[:-1] if step not in (None, "passthrough")]
    return (Pipeline(front) if front else None), estimator.steps[-1][1]


def is_searchable(estimator: Any, candidates: list[Candidate]) -> bool:
    """Whether every candidate ends in a machine that offers paths."""
    return all(offers_paths(split(clone(estimator).set_params(**candidate))[1]) for candidate in candidates)


def as_numbers(X: Any) -> Any:
    """What a kernel takes: a C-ordered float array or a CSR matrix, finite."""
    if is_elsewhere(X):
        return X
    return check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")


def _thread_count(n_jobs: int | None, available: int) -> int:
    if n_jobs is None:
        return available
    return max(1, available + 1 + n_jobs if n_jobs < 0 else n_jobs)
