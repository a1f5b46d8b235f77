"""Choosing the parameters of a method by cross-validated t-AUC, within a limit of time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from askew.detection.gathering import Gathered
from askew.detection.methods import Method
from askew.estimators.moment_svc_cv import areas_from_moments
from askew.exceptions import DataError
from askew.selection import ToleranceSearchCV

FOLDS, FEWER_FOLDS = 5, 3
MANY_POSITIVES = 100  # from which three folds tell as much as five
FEWEST_ABOVE = 20  # held-out negatives that must lie within the tolerance for t-AUC to be more than luck


class OutOfTime(Exception):
    """The time allowed is over."""


@dataclass(frozen=True)
class Clock:
    """A moment to stop at; None for never."""

    end: float | None = None

    @classmethod
    def of_minutes(cls, minutes: float | None) -> Clock:
        return cls(None if minutes is None else time.monotonic() + 60.0 * minutes)

    @property
    def is_over(self) -> bool:
        return self.end is not None and time.monotonic() > self.end

    def check(self) -> None:
        if self.is_over:
            raise OutOfTime

    def share(self, parts: int) -> Clock:
        """A clock for the next one of ``parts`` equal pieces of what is left."""
        if self.end is None:
            return self
        now = time.monotonic()
        return Clock(now + (self.end - now) / max(parts, 1))


@dataclass(frozen=True)
class Tuned:
    """A method with its parameters chosen and fitted on all training rows.

    Attributes
    ----------
    method : Method
    estimator : fitted estimator
    params : dict
    score : float
        Mean t-AUC over folds, divided by ``tolerance``; NaN where nothing was tuned.
    tolerance : float
        The false positive rate up to which it was judged.
    seconds : float
        Time of the last fit alone.
    """

    method: Method
    estimator: Any
    params: dict[str, Any]
    score: float
    tolerance: float
    seconds: float

    @property
    def has_converged(self) -> bool:
        """Whether the last fit did: at parameters that served fewer rows, it may not."""
        return getattr(self.estimator, "fit_status_", 0) == 0


def judged_tolerance(tolerance: float, n_negatives: int, folds: int) -> float:
    """The tolerance itself, or the smallest that the negatives of a fold can judge."""
    return float(min(0.5, max(tolerance, FEWEST_ABOVE * folds / max(n_negatives, 1))))


def common_tolerance(methods: list[Method], gathered: Gathered, tolerance: float) -> float:
    """The tolerance that the searches of all these methods can judge: scores at different ones do not compare."""
    judged = [tolerance]
    for method in methods:
        n_positives, n_negatives = gathered.positives.shape[0], gathered.negatives.shape[0]
        if method.is_streamed:
            judged.append(judged_tolerance(tolerance, n_negatives, 1))
        elif not method.is_one_class:
            for most_rows in (method.most_rows, method.search_rows):
                n_positives, n_negatives = kept_counts(n_positives, n_negatives, most_rows)
            judged.append(judged_tolerance(tolerance, n_negatives, folds_of(n_positives)))
    return max(judged)


def folds_of(n_positives: int, most: int | None = None) -> int:
    """Number of folds that give each at least one positive."""
    most = most or (FEWER_FOLDS if n_positives >= MANY_POSITIVES else FOLDS)
    if n_positives < 2:
        raise DataError(
            f"There are {n_positives} rows of the event to train on; at least 2 are needed. "
            "Gather more, or use --one-class."
        )
    return min(most, n_positives)


def tune(method: Method, gathered: Gathered, tolerance: float, clock: Clock, tell: Callable[[int, int], None]) -> Tuned:
    """Search, then fit. Only training rows are touched."""
    if method.is_one_class:
        return _fit_plainly(method, gathered.negatives, tolerance)
    if method.is_streamed:
        return _tune_on_moments(method, gathered, tolerance, clock, tell)
    return _tune_on_rows(method, *gathered.training, tolerance, clock, tell)


@contextmanager
def _candidates_may_fail() -> Iterator[None]:
    """Warnings of settings that are only tried are nobody's concern; those of the final fit are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        yield


def _tune_on_rows(
    method: Method, X: Any, y: Any, tolerance: float, clock: Clock, tell: Callable[[int, int], None]
) -> Tuned:
    """Search by ToleranceSearchCV on rows in memory, a sample of the negatives where there are too many."""
    X, y = limited(X, y, method.most_rows)
    some_X, some_y = limited(X, y, method.search_rows)
    folds = folds_of(int(some_y.sum()))
    judged = judged_tolerance(tolerance, int((some_y == 0).sum()), folds)

    n_fits = 1

    def report(done: int, total: int, _: float) -> None:
        nonlocal n_fits
        n_fits = total + 1  # the fit on all rows comes last, and may take as long as the search
        tell(done, n_fits)
        clock.check()

    # threads of small fits wait for each other longer than they work, on a busy machine many times longer
    few = len(y) < 50_000 and method.is_reference
    with threadpool_limits(1 if few else None, user_api="openmp"):
        search = ToleranceSearchCV(
            method.build(),
            dict(method.grid) if method.grid is not None else None,
            tolerance=judged,
            normalize=True,
            cv=StratifiedKFold(folds, shuffle=True, random_state=0),
            refit=False,
            progress=report,
        )
        with _candidates_may_fail():
            search.fit(some_X, some_y)
        params = method.carry(dict(search.best_params_), some_y, y)
        estimator = method.build().set_params(**params)
        begin = time.perf_counter()
        estimator.fit(X, y)
        seconds = time.perf_counter() - begin
    tell(n_fits, n_fits)
    return Tuned(method, estimator, params, search.best_score_, judged, seconds)


def kept_counts(n_positives: int, n_negatives: int, most_rows: int) -> tuple[int, int]:
    """How many positives and negatives to keep: where there are too many rows, all positives up to half."""
    if n_positives + n_negatives > most_rows:
        n_positives = min(n_positives, most_rows // 2)
    return n_positives, min(n_negatives, most_rows - n_positives)


def limited(X: Any, y: Any, most_rows: int, seed: int = 0) -> tuple[Any, Any]:
    """All positives (up to half) and a sample of the negatives, in random order."""
    rng = np.random.default_rng(seed)
    positives, negatives = rng.permutation(np.flatnonzero(y == 1)), rng.permutation(np.flatnonzero(y == 0))
    n_positives, n_negatives = kept_counts(len(positives), len(negatives), most_rows)
    rows = rng.permutation(np.concatenate([positives[:n_positives], negatives[:n_negatives]]))
    return X[rows], y[rows]


def _fit_plainly(method: Method, X: Any, tolerance: float) -> Tuned:
    rows = np.random.default_rng(0).permutation(X.shape[0])[: method.most_rows]
    begin = time.perf_counter()
    estimator = method.build().fit(X[rows])
    return Tuned(method, estimator, {}, float("nan"), tolerance, time.perf_counter() - begin)


def _tune_on_moments(
    method: Method, gathered: Gathered, tolerance: float, clock: Clock, tell: Callable[[int, int], None]
) -> Tuned:
    """Folds over the positives only: in the moments of many negatives a few thousand weigh nothing."""
    base = method.build()
    if gathered.moments is None:
        raise DataError("There are no negatives to take moments of.")
    if gathered.moments.is_diagonal:
        base.set_params(covariance="diagonal")
    positives, negatives = gathered.positives, gathered.negatives
    folds = folds_of(positives.shape[0])
    judged = judged_tolerance(tolerance, negatives.shape[0], 1)
    part = np.random.default_rng(0).permutation(positives.shape[0]) % folds
    grid = list((method.grid or {"C": [base.C]})["C"])
    scores = np.zeros((len(grid), folds))
    for k, areas in enumerate(areas_from_moments(base, grid, positives, gathered.moments, negatives, part, judged)):
        scores[:, k] = areas
        tell((k + 1) * len(grid), scores.size)
        clock.check()
    best = int(np.argmax(scores.mean(axis=1)))
    begin = time.perf_counter()
    estimator = base.set_params(C=grid[best]).fit_from_moments(positives, gathered.moments)
    seconds = time.perf_counter() - begin
    return Tuned(method, estimator, {"C": grid[best]}, float(scores[best].mean()), judged, seconds)
