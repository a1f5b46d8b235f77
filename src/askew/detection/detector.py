"""The whole job on a table: prepare, hold out, choose, promise, explain, save."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from askew.detection.card import Card
from askew.detection.contest import Tell, Tuned, choose, compare
from askew.detection.hold_out import Gathered, Plan, check_feasible, gather, survey_rows
from askew.detection.methods import METHODS, Method, candidates, compared, method_named
from askew.detection.page import findings_on, report_on
from askew.detection.scoring import Counts, Evaluation, evaluated, scored_blocks, scored_tables, write_scores
from askew.estimators import TablePreparation
from askew.exceptions import DataError, ParameterError
from askew.findings import collected, warn
from askew.persistence import load, save
from askew.report import MethodResult, Report
from askew.sources import Source, SvmlightSource, check_outputs, open_source
from askew.sources.names import nearest
from askew.tables import Progress, Survey
from askew.tolerance import Calibration, ToleranceClassifier, negatives_required

__all__ = ["Detector"]

Vector = NDArray[np.float64]


def _silent(*_: Any) -> None:
    return None


class Detector(BaseEstimator):
    """Find rare events in a table, with a promise about false alarms.

    Part of the rows is held out, and chooses nothing: the others teach how the table becomes numbers, choose method and
    parameters, and train. The held-out rows then place the threshold, so that with probability ``confidence`` at most a
    share ``tolerance`` of future normal rows raises an alarm. ``askew fit`` is this class in a shell.

    Parameters
    ----------
    method : str, default="auto"
        "moment", "asymmetric", "svc", "scaled", "logistic" or "boosting"; for normal rows alone "covariance",
        "one-class" or "svdd". "auto" takes the moment method on many rows and on few whichever of three ranks best.
    tolerance, confidence : float in (0, 1), default=0.01 and 0.95
        At most this false positive rate, with this probability.
    guarantee : {"order_statistic", "moments", "empirical"}, default="order_statistic"
        The road to the threshold, see `ToleranceClassifier`.
    hold_out : float in (0, 1), default=0.25
        Share of the rows that places the threshold; half of the negatives where that would be too few for the promise.
    minutes : float, default=None
        Time for the contest of several methods; what is found by then is used.
    pos_label : label, default=None
        The event, where the target has other values than 0 and 1.
    preparation : TablePreparation, default=None
        Everything about columns.
    random_state : int, default=0
        Draws the rows that are held out, by their number in the order of the source.

    Attributes
    ----------
    preparation_ : TablePreparation
        Learnt from the training rows.
    classifier_ : ToleranceClassifier
        Around the fitted estimator, which takes prepared rows.
    card_ : Card
        What was done and promised.

    Examples
    --------
    >>> from askew import Detector
    >>> from askew.datasets import Transactions
    >>> table = Transactions(rare=0.02).sample(20_000, random_state=0)
    >>> detector = Detector(method="moment").fit(table, target="is_fraud")
    >>> detector.card_.promise.guaranteed_rate <= 0.01
    True
    >>> detector.score_rows(table).column_names
    ['row', 'score', 'alarm', 'reasons']
    """

    _guarantees: ClassVar[tuple[str, ...]] = ("order_statistic", "moments", "empirical")

    def __init__(
        self,
        method: str = "auto",
        *,
        tolerance: float = 0.01,
        confidence: float = 0.95,
        guarantee: str = "order_statistic",
        hold_out: float = 0.25,
        minutes: float | None = None,
        pos_label: object = None,
        preparation: TablePreparation | None = None,
        random_state: int = 0,
    ) -> None:
        self.method = method
        self.tolerance = tolerance
        self.confidence = confidence
        self.guarantee = guarantee
        self.hold_out = hold_out
        self.minutes = minutes
        self.pos_label = pos_label
        self.preparation = preparation
        self.random_state = random_state

    def fit(
        self, table: Any, target: str | None = None, *, progress: Progress = _silent, tell: Tell = _silent
    ) -> Detector:
        """Fit to a table of any size, in two passes.

        Parameters
        ----------
        table : frame, dict of columns, path (file, folder, pattern), Dask or Spark frame, or source
        target : str, default=None
            Column of the event; None when all rows are normal.
        progress : callable, default=None
            Told of passes over the rows: (what, rows so far, rows in all or None).
        tell : callable, default=None
            Told of the search: (method, fits done, fits in all).

        Returns
        -------
        self
        """
        begin, source = time.perf_counter(), self._opened(table, target)
        with collected() as noticed:
            survey, share = self._survey(source, target, progress)
            is_sparse = isinstance(source, SvmlightSource)
            methods = candidates(self.method, survey.n_rows, one_class=survey.target is None, is_sparse=is_sparse)
            if self.guarantee == "moments":
                methods = [METHODS["moment"]]
            gathered = self._gathered(source, survey, share, methods, progress)
            tuned = choose(methods, gathered, self.tolerance, self.minutes, tell)
            return self._adopt(survey, gathered, tuned, (), source, begin, noticed)

    def compare(
        self,
        table: Any,
        target: str | None = None,
        methods: Sequence[str] = (),
        *,
        progress: Progress = _silent,
        tell: Tell = _silent,
        **words: Any,
    ) -> Report:
        """Judge methods on the same folds of the training rows, and fit the best one as ``fit`` does.

        Parameters
        ----------
        table, target, progress, tell
            As for ``fit``.
        methods : sequence of str, default=()
            All that fit the data by default, with logistic regression and gradient boosting beside them.
        **words : dict
            For the report, see `report`.

        Returns
        -------
        Report
            With the figures of every method; they are in ``card_.methods`` too.
        """
        begin, source = time.perf_counter(), self._opened(table, target)
        if target is None:
            raise DataError("A comparison needs rows of both kinds. Name the column of the event with --target.")
        with collected() as noticed:
            survey, share = self._survey(source, target, progress)
            entries = compared(list(methods), survey.n_positive, is_sparse=isinstance(source, SvmlightSource))
            gathered = self._gathered(source, survey, share, entries, progress, most=50_000)
            base_rate = survey.n_positive / survey.n_rows
            results, judged, tuned = compare(entries, gathered, self.tolerance, self.minutes, base_rate, tell)
            self._adopt(survey, gathered, tuned, tuple(results), source, begin, noticed)
        X, y = gathered.held
        some = np.random.default_rng(0).permutation(len(y))[:4000]
        note = (
            f"Figures of the comparison are means over folds of {len(gathered.training[1]):,} training rows: t-AUC up "
            f"to a false alarm rate of {judged:g}, TPR at {self.tolerance:g}. Methods that did not finish all folds "
            "come last."
        )
        return report_on(self, sample=(X[some], y[some] == 1), notes=[note], **words)

    def decision_function(self, table: Any, *, progress: Progress = _silent) -> Vector:
        """Distance of the score of each row from the threshold; above 0 is an alarm."""
        check_is_fitted(self, "card_")
        return np.concatenate([scores for *_, scores in scored_blocks(self, self._source(table), progress)])

    def predict(self, table: Any) -> NDArray[np.bool_]:
        """Which rows raise an alarm."""
        return self.decision_function(table) > 0

    def score_rows(
        self, table: Any, *, keep: Sequence[str] = (), reasons: int = 3, progress: Progress = _silent
    ) -> Any:
        """Number, score, alarm and reasons of each row.

        Parameters
        ----------
        table : as for ``fit``
        keep : sequence of str, default=()
            Columns to copy, an identifier say.
        reasons : int, default=3
            Columns named as reasons for each alarm, where the score is linear.

        Returns
        -------
        pyarrow.Table
            ``row`` counts from 0, ``score`` above 0 is an alarm; ``to_pandas()`` makes a frame of it.
        """
        import pyarrow as pa

        check_is_fitted(self, "card_")
        schema, tables = scored_tables(self, self._source(table), keep, reasons, progress)
        return pa.concat_tables(tables).cast(schema)

    def write_scores(
        self,
        table: Any,
        output: str,
        *,
        keep: Sequence[str] = (),
        alarms_only: bool = False,
        reasons: int = 3,
        progress: Progress = _silent,
    ) -> Counts:
        """What ``score_rows`` gives, into a file, in flat memory; ``-`` is CSV on standard output."""
        check_is_fitted(self, "card_")
        source = self._source(table)
        check_outputs([output], source)
        schema, tables = scored_tables(self, source, keep, reasons, progress)
        return write_scores(schema, tables, output, alarms_only=alarms_only)

    def evaluate(
        self, labelled: Any, target: str | None = None, *, pos_label: object = None, progress: Progress = _silent
    ) -> Evaluation:
        """Hold the promise against new rows with known labels.

        Parameters
        ----------
        labelled : as for ``fit``
        target, pos_label : default=None
            Column and label of the event there, those of the fit by default. A detector of normal rows needs both.
        """
        check_is_fitted(self, "card_")
        return evaluated(self, self._source(labelled), target, pos_label, progress)

    def report(self, **words: Any) -> Report:
        """The report on the rows that placed the threshold.

        Parameters
        ----------
        **words : dict
            ``title``, ``event`` (what the positives are called), ``volume_per_day``, ``command``, ``notes``.
        """
        check_is_fitted(self, "card_")
        return report_on(self, **words)

    def reasons(self, X: Any, top: int = 3) -> list[str]:
        """For each prepared row, the columns that push a linear score up most against the average row.

        Returns
        -------
        list of str
            Such as ``"amount +2.31, country +0.80"``; columns that push down are not reasons for an alarm.
        """
        names, member = np.unique(self.preparation_.sources_out_, return_inverse=True)
        pushes = (_dense(X) - self.preparation_.means_out_) * self._coefficients()
        sums = np.zeros((X.shape[0], len(names)))
        np.add.at(sums.T, member, pushes.T)
        order = np.argsort(-sums, axis=1)[:, :top]
        return [
            ", ".join(f"{names[j]} {sums[i, j]:+.2f}" for j in order[i] if sums[i, j] > 0) for i in range(X.shape[0])
        ]

    def weights(self) -> list[tuple[str, float]]:
        """Prepared columns of a linear score with their weights, the largest first."""
        weights, names = self._coefficients(), self.preparation_.get_feature_names_out()
        return [(str(names[j]), float(weights[j])) for j in np.argsort(-np.abs(weights))]

    def scores_of(self, X: Any) -> Vector:
        """Distances of prepared rows from the threshold."""
        try:
            distance = np.asarray(self.classifier_.decision_function(X), dtype=np.float64)
        except DataError:
            raise
        except ValueError as error:  # of scikit-learn: steps with NaN inside hand it on to one that refuses NaN
            told = str(error).split("\n")[0]
            raise DataError(
                f"The prepared rows could not be scored ({told}), so the model is damaged or made for other columns. "
                "Fit it again."
            ) from error
        return distance if hasattr(self.classifier_, "classes_") else -distance

    def save(self, path: str | PathLike[str]) -> None:
        """Write the detector to a file, see `askew.save`."""
        check_is_fitted(self, "card_")
        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Detector:
        """Read a detector from a file, see `askew.load`."""
        found = load(path)
        if not isinstance(found, cls):
            raise DataError(f"{path} holds a {type(found).__name__} and no Detector. Read it with askew.load.")
        return found

    @classmethod
    def of_format_1(cls, objects: dict[str, Any], card: dict[str, Any]) -> Detector:
        """The detector of a model file that ``askew fit`` wrote in format 1."""
        told = Card.of_format_1(card)
        known = {name: told.settings[name] for name in ("method", "tolerance", "confidence", "guarantee", "minutes")}
        made = cls(pos_label=told.settings["positive"], random_state=told.settings["seed"], **known)
        made.preparation_, made.classifier_, made.card_ = objects["preparation"], objects["classifier"], told
        return made

    @property
    def is_linear(self) -> bool:
        """Whether a score is a sum over features, so that each row can be explained."""
        return hasattr(self.classifier_.estimator_, "coef_")

    @property
    def held_out(self) -> Calibration:
        """Scores of the rows that placed the threshold, as distances from it."""
        sign = 1.0 if self.classifier_.alarm_side_ == "above" else -1.0
        return self.classifier_.calibration_.distances(sign * self.classifier_.threshold_)

    def _check(self, target: str | None) -> None:
        for name in ("tolerance", "confidence", "hold_out"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise ParameterError(f"{name} must lie between 0 and 1; got {getattr(self, name):g}.")
        if self.guarantee not in self._guarantees:
            raise ParameterError(f"guarantee must be order_statistic, moments or empirical; got {self.guarantee!r}.")
        if self.method != "auto":
            method = method_named(self.method, one_class=target is None)
            if self.guarantee == "moments" and not method.is_streamed:
                raise ParameterError(
                    f"The guarantee from moments is for --method moment; got {self.method!r}. Use order_statistic."
                )

    def _opened(self, table: Any, target: str | None) -> Source:
        self._check(target)
        kinds = (self.preparation or TablePreparation()).kinds or {}
        source = open_source(table, text=[name for name, kind in kinds.items() if kind != "number"])
        for name in kinds:
            if source.columns and name not in source.columns:
                raise ParameterError(f"There is no column {name!r}. {nearest(name, source.columns)}")
        return source

    def _source(self, table: Any) -> Source:
        """New rows, read as those of the fit were."""
        kinds = self.preparation_.kinds or {}
        texts = [name for name, kind in kinds.items() if kind != "number"]
        n_features = None if self.preparation_.needed_ else self.preparation_.n_features_in_
        return open_source(table, text=texts, n_features=n_features)

    def _survey(self, source: Source, target: str | None, progress: Progress) -> tuple[Survey, float]:
        prototype = TablePreparation() if self.preparation is None else self.preparation
        is_exact = self.guarantee == "order_statistic"
        needed = negatives_required(self.tolerance, self.confidence) if is_exact else 0
        survey, share = survey_rows(
            source, lambda: clone(prototype), target, self.pos_label, self.hold_out, needed, self.random_state, progress
        )
        if is_exact:
            check_feasible(survey.n_negative, share, self.tolerance, self.confidence)
        return survey, share

    def _gathered(
        self,
        source: Source,
        survey: Survey,
        share: float,
        methods: Sequence[Method],
        progress: Progress,
        most: int = 200_000,
    ) -> Gathered:
        """The second pass; ``most`` negatives are kept as rows at the utmost."""
        plan = Plan(
            held_share=share,
            held_positive_share=min(share, self.hold_out),
            most_negatives=min(most, max(method.most_rows for method in methods)),
            has_moments=any(method.is_streamed for method in methods),
            seed=self.random_state,
        )
        gathered = gather(source, survey, plan, progress)
        n_training = gathered.positives.shape[0]
        if survey.target is not None and n_training < 2:
            raise DataError(
                f"The event occurs {survey.n_positive} times, {n_training} of them in the training part; at least 2 "
                "are needed there. Gather more, or use --one-class on the normal rows."
            )
        return gathered

    def _adopt(
        self,
        survey: Survey,
        gathered: Gathered,
        tuned: Tuned,
        methods: tuple[MethodResult, ...],
        source: Source,
        begin: float,
        noticed: list[Any],
    ) -> Detector:
        """Place the threshold on the held-out rows, and set all that was learnt at once."""
        classifier = ToleranceClassifier(
            tuned.estimator,
            self.tolerance,
            self.confidence,
            method=self.guarantee,
            calibration="prefit",
            pos_label=None if survey.target is None else 1,
        )
        rows = (gathered.held_negatives,) if survey.target is None else gathered.held
        classifier.fit(*rows)
        done = Detector(**self.get_params(deep=False))
        done.preparation_, done.classifier_ = survey.preparation, classifier
        share, held = survey.n_positive / survey.n_rows, classifier.calibration_
        labels = np.repeat([0, 1], [held.n, len(held.positives)])
        scores = np.concatenate([held.negatives, held.positives])
        done.card_ = Card(
            target=None if survey.target is None else asdict(survey.target),
            method=tuned.method.name,
            title=tuned.method.title,
            params=tuned.params,
            settings=_told(self.get_params(deep=False)),
            n_rows=survey.n_rows,
            n_positive=survey.n_positive,
            n_training_positives=gathered.n_positives,
            n_training_negatives=gathered.n_negatives,
            base_rate=share,
            tuning_score=tuned.score,
            tuning_tolerance=tuned.tolerance,
            auc=float(roc_auc_score(labels, scores)) if held.n and len(held.positives) else None,
            features=tuple(map(str, survey.preparation.get_feature_names_out())),
            preparation=tuple(survey.preparation.explain()),
            promise=classifier.report(prevalence=share).promise,
            fit_seconds=tuned.seconds,
            seconds=time.perf_counter() - begin,
            methods=methods,
            data=source.name,
        )
        for finding in findings_on(done):
            warn(finding)
        self.preparation_, self.classifier_ = done.preparation_, done.classifier_
        self.card_ = replace(done.card_, findings=tuple(dict.fromkeys(noticed)))
        return self

    def _coefficients(self) -> Vector:
        coefficients = np.asarray(_dense(self.classifier_.estimator_.coef_), dtype=np.float64).ravel()
        return coefficients if self.classifier_.alarm_side_ == "above" else -coefficients

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "card_")


def _told(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as plain data, those left at None left out."""
    shown = {name: value for name, value in params.items() if value is not None and name != "preparation"}
    if params["preparation"] is not None:
        defaults = TablePreparation().get_params()
        given = params["preparation"].get_params()
        shown |= {name: value for name, value in given.items() if value != defaults[name]}
    return shown


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
