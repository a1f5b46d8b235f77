"""Methods side by side: each tuned inside every training fold, judged on the rows it has not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from askew.detection.detector import Detector
from askew.detection.gathering import Gathered, gather
from askew.detection.methods import METHODS, Method, method_named
from askew.detection.training import Request, build_detector, plan_for, survey_for
from askew.detection.tuning import Clock, OutOfTime, folds_of, judged_tolerance, tune
from askew.exceptions import DataError
from askew.metrics import tolerance_auc_score, tpr_at_fpr
from askew.moments import CovarianceModel
from askew.sources import Source, SvmlightSource
from askew.tables import Progress, Survey
from askew.tolerance.score import alarm_scores

FOLDS = 3
FEW_POSITIVES = 20
"""Below this many, one-class methods, which need none, are compared as well."""
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Judged:
    """One method's figures, means over folds; None where it did not finish.

    Attributes
    ----------
    tolerance_auc : float or None
        Area under the ROC curve up to the judged tolerance, divided by it.
    tpr_at_tolerance : float or None
        At the tolerance asked for, on the rows of the fold: measured, not promised.
    """

    method: Method
    auc: float | None = None
    tolerance_auc: float | None = None
    tpr_at_tolerance: float | None = None
    alerts_per_million: float | None = None
    fit_seconds: float | None = None
    note: str = ""
    is_complete: bool = False


@dataclass(frozen=True, eq=False)
class Comparison:
    """All methods' figures, the best one as a detector with its promise, and how they were found."""

    rows: list[Judged]
    detector: Detector
    judged_tolerance: float
    n_rows_used: int
    sample: tuple[Any, Any]


def compare_methods(
    source: Source, request: Request, names: Sequence[str], progress: Progress, tell: Tell
) -> Comparison:
    """Compare methods on a source, then fit the best one and place its threshold.

    Parameters
    ----------
    names : sequence of str
        Methods to compare; empty for all that fit the data.
    """
    request.check()
    begin = time.perf_counter()
    survey, held_share = survey_for(source, request, progress)
    entries = _entries(names, survey, isinstance(source, SvmlightSource))
    gathered = gather(source, survey, plan_for(survey, entries, held_share, request, most=50_000), progress)
    X, y = gathered.training
    folds = folds_of(int(y.sum()), FOLDS)
    judged = judged_tolerance(request.tolerance, int((y == 0).sum()) // folds, 1)
    clock = Clock.of_minutes(request.minutes)
    rows = []
    for k, method in enumerate(entries):
        # references have to finish for a comparison to be one; the others share what is left
        share = clock if method.is_reference else clock.share(len(entries) - k) if k else Clock()
        rows.append(_judge(method, (X, y), folds, (request.tolerance, judged), survey, share, tell))
    # means over different folds do not compare, so methods that finished come first
    rows.sort(key=lambda row: (row.is_complete, row.tolerance_auc or 0.0), reverse=True)
    detector = _best(rows, gathered, request, survey, tell, begin)
    held_X, held_y = gathered.held
    some = np.random.default_rng(0).permutation(len(held_y))[:4000]
    return Comparison(rows, detector, judged, len(y), (held_X[some], held_y[some] == 1))


def _entries(names: Sequence[str], survey: Survey, is_sparse: bool) -> list[Method]:
    if survey.target is None:
        raise DataError("A comparison needs rows of both kinds. Name the column of the event with --target.")
    if names:
        return [METHODS[name] if name in METHODS else method_named(name, one_class=False) for name in names]
    order = ["moment", "logistic", "boosting", "svc", "asymmetric", "scaled"]
    if is_sparse:
        order = ["moment", "logistic", "svc"]
    if survey.n_positive < FEW_POSITIVES and not is_sparse:
        order += ["one-class"]
    return [METHODS[name] for name in order]


def _judge(
    method: Method,
    rows: tuple[Any, Any],
    folds: int,
    tolerances: tuple[float, float],
    survey: Survey,
    clock: Clock,
    tell: Tell,
) -> Judged:
    """Tune and score on every fold, as far as time and the method allow."""
    X, y = rows
    tolerance, judged = tolerances
    found: list[tuple[float, float, float, float]] = []
    note = "reference" if method.is_reference else ""
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    for k, (train, test) in enumerate(splitter.split(np.zeros(len(y)), y)):
        try:
            part = _part(X[train], y[train], method)
            tuned = tune(
                method,
                part,
                tolerance,
                clock,
                lambda done, total, k=k: tell(f"{method.title}, fold {k + 1}/{folds}", done, total),
            )
        except OutOfTime:
            note = f"{len(found)} of {folds} folds in the time allowed" if found else "out of time"
            break
        except Exception as error:  # whatever a method raises, the others are compared
            note = f"failed: {str(error)[:120] or type(error).__name__}"
            break
        scores = alarm_scores(tuned.estimator, X[test])
        found.append(
            (
                float(roc_auc_score(y[test], scores)),
                tolerance_auc_score(y[test], scores, judged, normalize=True),
                float(tpr_at_fpr(y[test], scores, tolerance)),
                tuned.seconds,
            )
        )
    if not found:
        return Judged(method, note=note)
    auc, area, tpr, seconds = (float(value) for value in np.mean(found, axis=0))
    share = survey.n_positive / survey.n_rows
    alerts = 1e6 * (share * tpr + (1.0 - share) * tolerance)
    return Judged(method, auc, area, tpr, alerts, seconds, note, len(found) == folds)


def _part(X: Any, y: Any, method: Method) -> Gathered:
    """A fold's training rows in the form a whole fit has them."""
    positives, negatives = X[np.flatnonzero(y == 1)], X[np.flatnonzero(y == 0)]
    moments = None
    if method.is_streamed:
        name = "full" if X.shape[1] <= 2000 else "diagonal"
        moments = CovarianceModel(name).moments_of(negatives, None, streaming=True)
    empty = X[:0]
    return Gathered(positives, negatives, empty, empty, moments, positives.shape[0], negatives.shape[0])


def _best(
    rows: list[Judged], gathered: Gathered, request: Request, survey: Survey, tell: Tell, begin: float
) -> Detector:
    """The first row's method that works on all training rows too, tuned there, with a threshold."""
    usable = [row for row in rows if row.tolerance_auc is not None]
    if not usable:
        raise DataError(f"No method could be judged: {rows[0].note}. Raise --minutes, or give more rows.")
    for place, row in enumerate(usable):
        told = partial(tell, f"{row.method.title}, all rows")
        try:
            tuned = tune(row.method, gathered, request.tolerance, Clock(), told)
        except Exception as error:  # the next best may still do
            if place + 1 == len(usable):
                raise
            reason = str(error) or type(error).__name__
            warnings.warn(f"{row.method.title} failed on all training rows: {reason}", UserWarning, stacklevel=2)
        else:
            break
    return build_detector(tuned, gathered, request, survey, begin)
