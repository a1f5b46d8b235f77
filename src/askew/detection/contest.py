"""Choosing method and parameters by cross-validated t-AUC on the training rows, within a limit of time.

All candidates are judged on the same rows, cut into the same folds, prepared in the same way. Rows that place the
threshold take no part. ``auto`` searches the parameters of each candidate on these folds and takes the best; a
comparison searches anew within each training fold, so that its figures are free of the search.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from askew.detection.hold_out import FULL_COVARIANCE, Gathered
from askew.detection.methods import Method
from askew.exceptions import DataError
from askew.findings import Finding, collected, find, warn
from askew.metrics import tolerance_auc_score, tpr_at_fpr
from askew.report import MethodResult
from askew.selection import ToleranceSearchCV
from askew.tolerance.score import alarm_scores

FOLDS, FEWER_FOLDS = 5, 3
MANY_POSITIVES = 100  # from which three folds tell as much as five
FEWEST_ABOVE = 20  # held-out negatives that must lie within the tolerance for t-AUC to be more than luck
Tell = Callable[[str, int, int], None]
"""Told of a search: (method, fits done, fits in all)."""


class OutOfTime(Exception):
    """The time allowed is over."""


@dataclass(frozen=True)
class Clock:
    """A moment to stop at; None for never."""

    end: float | None = None

    @classmethod
    def of_minutes(cls, minutes: float | None) -> Clock:
        return cls(None if minutes is None else time.monotonic() + 60.0 * minutes)

    def check(self) -> None:
        if self.end is not None and time.monotonic() > self.end:
            raise OutOfTime

    def share(self, parts: int) -> Clock:
        """A clock for the next one of ``parts`` equal pieces of what is left."""
        if self.end is None:
            return self
        now = time.monotonic()
        return Clock(now + (self.end - now) / max(parts, 1))


@dataclass(frozen=True)
class Found:
    """What a search has found: parameters, and their mean t-AUC divided by the tolerance it was judged up to.

    Attributes
    ----------
    rows : int
        How many rows were searched.
    """

    method: Method
    params: dict[str, Any]
    score: float
    tolerance: float
    rows: int
    y: Any


@dataclass(frozen=True)
class Tuned:
    """A method with its parameters chosen, fitted on all training rows.

    Attributes
    ----------
    seconds : float
        Time of the last fit alone.
    """

    method: Method
    estimator: Any
    params: dict[str, Any]
    score: float | None
    tolerance: float | None
    seconds: float

    @property
    def has_converged(self) -> bool:
        """Whether the last fit did: at parameters that served fewer rows, it may not."""
        return getattr(self.estimator, "fit_status_", 0) == 0


def judged_tolerance(tolerance: float, n_negatives: int, folds: int) -> float:
    """The tolerance itself, or the smallest that the negatives of a fold can judge."""
    return float(min(0.5, max(tolerance, FEWEST_ABOVE * folds / max(n_negatives, 1))))


def folds_of(n_positives: int) -> int:
    """Number of folds that give each at least one positive."""
    if n_positives < 2:
        raise DataError(
            f"There are {n_positives} rows of the event to train on; at least 2 are needed. "
            "Gather more, or use --one-class."
        )
    return min(FEWER_FOLDS if n_positives >= MANY_POSITIVES else FOLDS, n_positives)


def choose(methods: Sequence[Method], gathered: Gathered, tolerance: float, minutes: float | None, tell: Tell) -> Tuned:
    """The method that ranks best in cross-validation, tuned and fitted on all training rows.

    A method that fails, is out of time, or whose last fit does not converge, leaves the contest with a finding that
    says why. Where none is left, the error of the first one is raised.
    """
    if len(methods) == 1:
        return _fitted(_searched(methods[0], gathered, tolerance, tell), gathered)
    clock, rows = Clock.of_minutes(minutes), limited(*gathered.training, min(each.search_rows for each in methods))
    found, left, errors = [], [], []
    for k, method in enumerate(methods):
        mine = clock.share(len(methods) - k) if k else Clock()  # the first is always finished
        try:
            found.append(search(method, *rows, tolerance, mine, partial(tell, method.title)))
        except OutOfTime:
            left.append(_gone(method, f"its share of the {minutes:g} minutes was over."))
        except Exception as error:  # whatever a method raises, the others may still do
            errors.append(error)
            left.append(_gone(method, str(error) or type(error).__name__))
    found.sort(key=lambda each: -each.score)
    return _first_that_fits(found, gathered, tolerance, tell, left, errors)


def compare(
    methods: Sequence[Method],
    gathered: Gathered,
    tolerance: float,
    minutes: float | None,
    base_rate: float,
    tell: Tell,
) -> tuple[list[MethodResult], float, Tuned]:
    """Figures of each method on rows of folds that it has not seen, the best first; and the best, tuned and fitted.

    Returns
    -------
    results : list of MethodResult
    judged : float
        The tolerance that t-AUC was judged up to.
    tuned : Tuned
    """
    X, y = gathered.training
    folds = folds_of(int(y.sum()))
    cuts = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(np.zeros(len(y)), y))
    judged, clock = judged_tolerance(tolerance, int((y == 0).sum()) // folds, 1), Clock.of_minutes(minutes)
    judgements = []
    for k, method in enumerate(methods):
        # references have to finish for a comparison to be one; the others share what is left
        mine = clock if method.is_reference else clock.share(len(methods) - k) if k else Clock()
        judgements.append((method, *_judge(method, X, y, cuts, (tolerance, judged), base_rate, mine, tell)))
    # means over different folds do not compare, so methods that finished come first
    judgements.sort(key=lambda each: (each[2], each[1].tolerance_auc or 0.0), reverse=True)
    results = [result for _, result, _ in judgements]
    usable = [method for method, result, _ in judgements if result.tolerance_auc is not None]
    if not usable:
        raise DataError(f"No method could be judged: {results[0].note}. Raise --minutes, or give more rows.")
    return results, judged, _first_that_fits(usable, gathered, tolerance, tell, [], [])


def search(method: Method, X: Any, y: Any, tolerance: float, clock: Clock, tell: Callable[[int, int], None]) -> Found:
    """Parameters by ToleranceSearchCV on folds that depend on the rows alone, the same ones for every method."""
    if method.is_one_class:
        return Found(method, {}, float("nan"), tolerance, len(y), y)
    folds = folds_of(int(y.sum()))
    judged = judged_tolerance(tolerance, int((y == 0).sum()), folds)

    def report(done: int, total: int, _: float) -> None:
        tell(done, total + 1)  # the fit on all rows comes last, and may take as long as the search
        clock.check()

    # threads of small fits wait for each other longer than they work, on a busy machine many times longer
    few = len(y) < 50_000 and method.is_reference
    with threadpool_limits(1 if few else None, user_api="openmp"), _tried():
        found = ToleranceSearchCV(
            _built(method, X.shape[1]),
            dict(method.grid) if method.grid is not None else None,
            tolerance=judged,
            normalize=True,
            cv=StratifiedKFold(folds, shuffle=True, random_state=0),
            refit=False,
            progress=report,
        ).fit(X, y)
    return Found(method, dict(found.best_params_), found.best_score_, judged, len(y), y)


def limited(X: Any, y: Any, most_rows: int) -> tuple[Any, Any]:
    """All positives (up to half) and a sample of the negatives, in random order; the same rows on every call."""
    rng = np.random.default_rng(0)
    positives, negatives = rng.permutation(np.flatnonzero(y == 1)), rng.permutation(np.flatnonzero(y == 0))
    if len(y) > most_rows:
        positives = positives[: most_rows // 2]
        negatives = negatives[: most_rows - len(positives)]
    rows = rng.permutation(np.concatenate([positives, negatives]))
    return X[rows], y[rows]


def _searched(method: Method, gathered: Gathered, tolerance: float, tell: Tell) -> Found:
    rows = limited(*gathered.training, method.search_rows)
    return search(method, *rows, tolerance, Clock(), partial(tell, method.title))


def _fitted(found: Found, gathered: Gathered) -> Tuned:
    """The last fit, on all training rows that the method can see."""
    method, params = found.method, found.params
    X, y = gathered.training
    estimator = _built(method, X.shape[1])
    begin = time.perf_counter()
    if method.is_streamed:
        if gathered.moments is None:
            raise DataError("There are no negatives to take moments of.")
        estimator.set_params(**params).fit_from_moments(gathered.positives, gathered.moments)
    else:
        params = _fit_rows(found, estimator, *limited(X, y, method.most_rows))
    seconds, score = time.perf_counter() - begin, None if np.isnan(found.score) else found.score
    return Tuned(method, estimator, params, score, found.tolerance, seconds)


def _fit_rows(found: Found, estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """Fit on rows in memory, with the parameters as they mean the same there."""
    if found.method.is_one_class:
        estimator.fit(X[np.flatnonzero(y == 0)])
        return {}
    params = found.method.carry(found.params, found.y, y)
    estimator.set_params(**params).fit(X, y)
    return params


def _built(method: Method, n_features: int) -> Any:
    estimator = method.build()
    if method.is_streamed and n_features > FULL_COVARIANCE:
        estimator.set_params(covariance="diagonal")
    return estimator


def _first_that_fits(
    ranked: Sequence[Found | Method],
    gathered: Gathered,
    tolerance: float,
    tell: Tell,
    left: list[Finding],
    errors: list[Exception],
) -> Tuned:
    """The first of the ranked methods whose fit on all training rows converges, else the first that has one.

    Where more rows serve the search of a method than the contest had, its parameters are searched again on these.
    """
    n_rows, chosen, fallback = len(gathered.training[1]), None, None
    for each in ranked:
        method = each if isinstance(each, Method) else each.method
        try:
            with collected() as noticed, warnings.catch_warnings(record=True) as remarks:
                warnings.simplefilter("always")
                if isinstance(each, Method) or each.rows < min(method.search_rows, n_rows):
                    each = _searched(method, gathered, tolerance, tell)
                tuned = _fitted(each, gathered)
        except Exception as error:  # the next best may still do
            errors.append(error)
            left.append(_gone(method, f"its fit on all training rows failed: {str(error) or type(error).__name__}"))
            continue
        if tuned.has_converged:
            chosen = tuned, noticed, remarks
            break
        fallback = fallback or (tuned, noticed, remarks)
        reason = "with the parameters chosen on a sample its fit on all training rows did not converge."
        left.append(_gone(method, reason))
    chosen = chosen or fallback
    if chosen is None:
        raise errors[0]
    tuned, noticed, remarks = chosen  # remarks on the methods that were not chosen are nobody's concern
    known = {str(finding): finding for finding in noticed}
    for remark in remarks:
        if (said := str(remark.message)) in known:
            warn(known[said], remark.category)
        else:
            warnings.warn(remark.message, remark.category, stacklevel=2)
    for finding in left:
        if not finding.sentence.startswith(f"{tuned.method.title} "):
            warn(finding)
    return tuned


def _judge(
    method: Method,
    X: Any,
    y: Any,
    cuts: list[Any],
    tolerances: tuple[float, float],
    base_rate: float,
    clock: Clock,
    tell: Tell,
) -> tuple[MethodResult, bool]:
    """Search and score on every fold, as far as time and the method allow; the figures, and whether all folds ended."""
    tolerance, judged = tolerances
    found: list[tuple[float, float, float, float]] = []
    note = "reference" if method.is_reference else ""
    for k, (train, test) in enumerate(cuts):
        told = partial(tell, f"{method.title}, fold {k + 1}/{len(cuts)}")
        try:
            with _tried():
                rows = X[train], y[train]
                best = search(method, *limited(*rows, method.search_rows), tolerance, clock, told)
                estimator, begin = _built(method, X.shape[1]), time.perf_counter()
                _fit_rows(best, estimator, *limited(*rows, method.most_rows))
                seconds = time.perf_counter() - begin
        except OutOfTime:
            note = f"{len(found)} of {len(cuts)} folds in the time allowed" if found else "out of time"
            break
        except Exception as error:  # whatever a method raises, the others are compared
            note = f"failed: {str(error)[:120] or type(error).__name__}"
            break
        scores = alarm_scores(estimator, X[test])
        area = tolerance_auc_score(y[test], scores, judged, normalize=True)
        tpr = float(tpr_at_fpr(y[test], scores, tolerance))
        found.append((float(roc_auc_score(y[test], scores)), area, tpr, seconds))
    if not found:
        return MethodResult(method.title, None, None, None, None, None, note), False
    auc, area, tpr, seconds = (float(value) for value in np.mean(found, axis=0))
    alerts = 1e6 * (base_rate * tpr + (1.0 - base_rate) * tolerance)
    return MethodResult(method.title, auc, area, tpr, alerts, seconds, note), len(found) == len(cuts)


@contextmanager
def _tried() -> Iterator[None]:
    """Warnings and findings of fits that are only tried are nobody's concern; those of the last fit are."""
    with collected(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _gone(method: Method, reason: str) -> Finding:
    return find("ASK207", method=method.title, reason=reason)
