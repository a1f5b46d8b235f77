"""Two passes over a source, a tuned fit, and a threshold from rows that took no part in it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from askew.detection.detector import Detector
from askew.detection.gathering import Gathered, Plan, gather
from askew.detection.methods import METHODS, Method, candidates, method_named
from askew.detection.tuning import Clock, OutOfTime, Tuned, common_tolerance, tune
from askew.estimators.table_preparation import TablePreparation
from askew.exceptions import DataError, InfeasibleError, ParameterError
from askew.sources import Source, SvmlightSource
from askew.summaries import draw_by_number
from askew.tables import Progress, Survey, take_survey
from askew.tolerance import ToleranceClassifier, negatives_required

HELD_SHARE, LARGEST_HELD_SHARE = 0.3, 0.5
FULL_COVARIANCE = 2000
"""Features up to which the full covariance of the negatives is kept."""


@dataclass(frozen=True)
class Request:
    """What a person asks of a fit.

    Attributes
    ----------
    target : str or None
        Column of the event; None when all rows are normal.
    positive : str or None
        Its value for the event; by default the larger of 0 and 1 or of -1 and 1, and of two others the rarer.
    method : str
        A name of ``askew.detection.methods``, or "auto".
    tolerance, confidence : float
        At most this false positive rate, with this probability.
    guarantee : {"order_statistic", "moments", "empirical"}
        The road to the threshold.
    drop, categorical : tuple of str
        Columns to leave out, and columns of numbers that are codes.
    minutes : float or None
        Time for tuning; what is found by then is used.
    seed : int
        Draws the calibration rows.
    """

    target: str | None = None
    positive: str | None = None
    method: str = "auto"
    tolerance: float = 0.01
    confidence: float = 0.95
    guarantee: str = "order_statistic"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    minutes: float | None = None
    seed: int = 0

    def check(self) -> None:
        for name in ("tolerance", "confidence"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise ParameterError(f"{name} must lie between 0 and 1; got {getattr(self, name):g}.")
        if self.guarantee not in ("order_statistic", "moments", "empirical"):
            raise ParameterError(f"guarantee must be order_statistic, moments or empirical; got {self.guarantee!r}.")
        if self.method != "auto":
            method = method_named(self.method, one_class=self.target is None)
            if self.guarantee == "moments" and not method.is_streamed:
                raise ParameterError(
                    f"The guarantee from moments is for --method moment; got {self.method!r}. Use order_statistic."
                )


def _silent(*_: Any) -> None:
    return None


def train(
    source: Source,
    request: Request,
    progress: Progress = _silent,
    tell: Callable[[str, int, int], None] = _silent,
) -> Detector:
    """Fit a detector from a source of any size.

    Parameters
    ----------
    source : Source
    request : Request
    progress : callable
        Told of passes over the rows: (what, rows so far, rows in all or None).
    tell : callable
        Told of tuning: (method, fits done, fits in all).

    Returns
    -------
    Detector
    """
    begin = time.perf_counter()
    request.check()
    survey, held_share = survey_for(source, request, progress)
    is_sparse = isinstance(source, SvmlightSource)
    entries = candidates(request.method, survey.n_rows, one_class=survey.target is None, is_sparse=is_sparse)
    if request.guarantee == "moments":
        entries = [METHODS["moment"]]
    gathered = gather(source, survey, plan_for(survey, entries, held_share, request), progress)
    _check_gathered(gathered, survey)
    return build_detector(best_of(entries, gathered, request, tell), gathered, request, survey, begin)


def build_detector(tuned: Tuned, gathered: Gathered, request: Request, survey: Survey, begin: float) -> Detector:
    """Place the threshold and write the card; ``begin`` is when the work started, by ``time.perf_counter``."""
    classifier = calibrated(tuned, gathered, request, survey)
    card = _card(request, survey, gathered, tuned, classifier, time.perf_counter() - begin)
    return Detector(survey.preparation, classifier, card)


def survey_for(source: Source, request: Request, progress: Progress) -> tuple[Survey, float]:
    """A survey whose preparation saw no calibration row, and the share of rows held for calibration."""
    share = HELD_SHARE

    def survey() -> Survey:
        return take_survey(
            source,
            TablePreparation(kinds=dict.fromkeys(request.categorical, "category")),
            request.target,
            request.positive,
            drop=request.drop,
            trains=lambda start, n: draw_by_number(start, n, request.seed) >= share,
            progress=progress,
        )

    found = survey()
    if request.guarantee != "order_statistic":
        return found, share
    needed = negatives_required(request.tolerance, request.confidence)
    if found.n_negative * share < 1.2 * needed + 10:  # few negatives: hold out more of them, and look again
        share = LARGEST_HELD_SHARE
        if found.n_negative * share < needed:
            raise InfeasibleError(
                f"tolerance={request.tolerance:g} at confidence={request.confidence:g} needs at least {needed:,} "
                f"negatives for calibration, beside those for training; the data hold {found.n_negative:,} in all, of "
                f"which half are held out. Raise --tolerance, lower --confidence, add negatives, or take a threshold "
                "without this promise: --guarantee moments (with --method moment) or --guarantee empirical."
            )
        found = survey()
    return found, share


def plan_for(survey: Survey, entries: list[Method], held_share: float, request: Request, most: int = 200_000) -> Plan:
    """How much of the data the methods need to see as rows, ``most`` negatives at the utmost."""
    covariance = None
    if any(method.is_streamed for method in entries):
        d = len(survey.preparation.get_feature_names_out())
        covariance = "full" if d <= FULL_COVARIANCE else "diagonal"
    return Plan(
        held_share=held_share,
        most_negatives=min(most, max(method.most_rows for method in entries)),
        covariance=covariance,
        seed=request.seed,
    )


def best_of(
    entries: list[Method], gathered: Gathered, request: Request, tell: Callable[[str, int, int], None]
) -> Tuned:
    """The method that ranks best in cross-validation, among those that time and the data allow.

    A method that fails, or whose last fit does not converge, leaves the contest with a warning that says why. Where
    none is left, the error of the first one is raised.
    """
    if len(entries) == 1:
        return tune(entries[0], gathered, request.tolerance, Clock(), lambda *at: tell(entries[0].title, *at))
    clock = Clock.of_minutes(request.minutes)
    tolerance = common_tolerance(entries, gathered, request.tolerance)
    found: list[tuple[Tuned, list[warnings.WarningMessage]]] = []
    left: list[str] = []
    errors: list[Exception] = []
    for k, method in enumerate(entries):
        mine = clock.share(len(entries) - k) if k else Clock()  # the first is always finished
        try:
            with warnings.catch_warnings(record=True) as remarks:
                warnings.simplefilter("always")
                tuned = tune(method, gathered, tolerance, mine, lambda *at, m=method: tell(m.title, *at))
        except OutOfTime:
            left.append(f"{method.title} left the contest: its share of --minutes {request.minutes:g} was over.")
        except Exception as error:  # whatever a method raises, the others may still do
            errors.append(error)
            left.append(f"{method.title} left the contest: {str(error) or type(error).__name__}")
        else:
            found.append((tuned, remarks))
    if not found:
        raise errors[0]
    best, remarks = max(found, key=lambda pair: (pair[0].has_converged, pair[0].score))
    for tuned, _ in found:
        if best.has_converged and not tuned.has_converged:
            left.append(
                f"{tuned.method.title} left the contest: with the parameters chosen on a sample its fit on all "
                "training rows did not converge."
            )
    for remark in remarks:  # those of the methods that were not chosen are nobody's concern
        warnings.warn(remark.message, remark.category, stacklevel=2)
    for line in left:
        warnings.warn(line, UserWarning, stacklevel=2)
    return best


def calibrated(tuned: Tuned, gathered: Gathered, request: Request, survey: Survey) -> ToleranceClassifier:
    """The threshold, from the held-out rows."""
    classifier = ToleranceClassifier(
        tuned.estimator,
        request.tolerance,
        request.confidence,
        method=request.guarantee,
        calibration="prefit",
    )
    if survey.target is None:
        return classifier.fit(gathered.held_negatives)
    return classifier.fit(*gathered.held)


def _check_gathered(gathered: Gathered, survey: Survey) -> None:
    if survey.target is not None and gathered.positives.shape[0] < 2:
        raise DataError(
            f"The event occurs {survey.n_positive} times, {gathered.positives.shape[0]} of them in the training part; "
            "at least 2 are needed there. Gather more, or use --one-class on the normal rows."
        )


def _card(
    request: Request,
    survey: Survey,
    gathered: Gathered,
    tuned: Tuned,
    classifier: ToleranceClassifier,
    seconds: float,
) -> dict[str, Any]:
    """What there is to know about the fit, as plain data."""
    share = survey.n_positive / survey.n_rows
    held = classifier.calibration_
    has_both = held.n > 0 and len(held.positives) > 0
    labels = np.repeat([0, 1], [held.n, len(held.positives)])
    scores = np.concatenate([held.negatives, held.positives])
    return {
        "request": asdict(request),
        "target": None if survey.target is None else asdict(survey.target),
        "method": tuned.method.name,
        "title": tuned.method.title,
        "params": tuned.params,
        "n_rows": survey.n_rows,
        "n_positive": survey.n_positive,
        "n_training_positives": gathered.n_positives,
        "n_training_negatives": gathered.n_negatives,
        "base_rate": share,
        "tuning_score": None if np.isnan(tuned.score) else tuned.score,
        "tuning_tolerance": tuned.tolerance,
        "auc": float(roc_auc_score(labels, scores)) if has_both else None,
        "features": [str(name) for name in survey.preparation.get_feature_names_out()],
        "preparation": survey.preparation.explain(),
        "promise": classifier.report(prevalence=share).as_dict(),
        "fit_seconds": tuned.seconds,
        "seconds": seconds,
    }
