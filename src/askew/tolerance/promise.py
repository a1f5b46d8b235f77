"""After the fit: moving the threshold, holding it against new negatives, and saying what it promises."""

from __future__ import annotations

import os
from dataclasses import replace as replaced
from threading import RLock
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from askew.exceptions import DataError, ParameterError
from askew.findings import find, warn
from askew.report import Promise, Report, summarise
from askew.tolerance.calibration import Calibration, one_per_group
from askew.tolerance.drift import DriftMonitor, DriftTest, DriftWarning
from askew.tolerance.np_roc import NpRoc, np_roc
from askew.tolerance.parameters import check_open_unit
from askew.tolerance.threshold import Threshold, empirical, exact

__all__ = ["PromiseKeeper"]

_CAVEAT = {"empirical": 'method="empirical" counts on the calibration rows only'}
_DRIFTED = "new negatives contradicted the tolerance (drift)"


class PromiseKeeper:
    """The part of `ToleranceClassifier` that answers for a threshold once there is one.

    Works on what ``fit`` leaves: ``calibration_``, the certificate, the score and the target.
    """

    def retolerance(self, tolerance, confidence=None):
        """Move the threshold to another tolerance without any refit.

        Each tolerance has its own promise. Among several that were tried, the one picked for its outcome has
        not: share 1 − confidence among them instead.

        Parameters
        ----------
        tolerance : float in (0, 1)
        confidence : float in (0, 1), default=None
            Unchanged by default.

        Returns
        -------
        self : ToleranceClassifier
            With ``tolerance``, ``confidence`` and ``threshold_`` changed; unchanged when it raises.
        """
        check_is_fitted(self, "threshold_")
        with self._changing():
            confidence = self.confidence if confidence is None else confidence
            check_open_unit(tolerance=tolerance, confidence=confidence)
            placed = self._place(self.calibration_, self._certificate_, tolerance, confidence)
            self.tolerance, self.confidence = tolerance, confidence
            return self._adopt(self.calibration_, placed)

    def update(self, scores, *, groups=None, replace=False) -> DriftTest:
        """Take in negatives that arrived since: test the promise on them, then calibrate on them too.

        First the new negatives are held against the threshold in force by an exact binomial test. If they
        contradict the tolerance, a `DriftWarning` is given, nothing is taken in, and `report` promises
        nothing until ``replace=True`` or a new fit. Otherwise their scores join the calibration and the
        threshold is placed again.

        Promised: if the new negatives are independent rows of the population of the calibration ones (after a fit
        with ``sample_weight`` the weighted one, of which each new row counts once), the
        threshold in force after an update has a false positive rate above ``tolerance`` with probability
        at most 1 − confidence. Not promised: that this holds for all updates at once, or at an update
        chosen for how it looks; that slow drift is seen in time; anything, if the new negatives are not a
        fair sample, for instance because only alarms are ever investigated.

        Updates from several threads are counted one after the other.

        Parameters
        ----------
        scores : array-like of shape (m,)
            Scores of new negatives, from `score_samples`.
        groups : array-like of shape (m,), default=None
            Their groups, required iff groups were given to ``fit``. They must be new groups.
        replace : bool, default=False
            Forget the old calibration negatives and calibrate on these alone, as after a drift.

        Returns
        -------
        DriftTest
            Alarms among the new negatives at the threshold that was in force, and the p-value.
        """
        check_is_fitted(self, "threshold_")
        if replace and self._certificate_ is not None:
            raise ParameterError('method="moments" has no calibration negatives to replace. Fit again.')
        fresh = Calibration.of(self._score_.sign * self._units(scores, groups))
        if fresh.n == 0:
            raise DataError("`scores` is empty; an update needs at least one new negative.")
        with self._changing():
            test, is_taken_in = self._counted(fresh, replace)
        if not is_taken_in:
            finding = find(
                "ASK301", n_alarms=test.n_alarms, n_new=test.n_new, tolerance=self.tolerance, p_value=test.p_value
            )
            warn(finding, DriftWarning)
        return test

    def report(self, *, prevalence=None) -> Report:
        """Promise and evidence: threshold, guaranteed rate, TPR with interval, alerts per million.

        Parameters
        ----------
        prevalence : float in [0, 1), default=None
            Share of positives among the rows (groups) to be scored, for the alerts. By default that of the
            rows (groups) given to ``fit``, whatever their weight; 0 where they had no labels.

        Returns
        -------
        Report
            Prints as text and shows as a page in a notebook; ``html()``, ``json()``. The facts of the promise are its
            attributes, ``as_dict()`` gives them as plain data.
        """
        check_is_fitted(self, "threshold_")
        share = self._prevalence_ if prevalence is None else prevalence
        if not 0.0 <= share < 1.0:
            raise ParameterError(f"prevalence={prevalence!r} must lie in [0, 1).")
        with self._changing():
            promise, calibration, placed = self._promise(share), self.calibration_, self._placed_
            has_band = self.method == "order_statistic" and len(calibration.positives)
            title, event = type(self.estimator_).__name__, "unusual rows"
        if hasattr(self, "classes_"):
            event = f"class {self.classes_[self._target_.alarm]}"

        def summarised():
            moved = calibration.distances(placed.value)
            return summarise(
                title=f"{title}: alarms for {event}",
                event=event,
                positive_scores=moved.positives,
                negative_scores=moved.negatives,
                tolerance=promise.tolerance,
                promise=promise,
                threshold=0.0,
                base_rate=share if share > 0.0 else None,
                settings={"method": title, "tolerance": promise.tolerance, "confidence": promise.confidence},
                notes=["A row on this page is a group of rows."] if promise.unit == "group" else (),
                np_roc=np_roc(moved, confidence=promise.confidence) if has_band else None,
            )

        return Report(promise, summarised if calibration.n else None)

    def _promise(self, prevalence) -> Promise:
        """What the threshold in force promises, with its evidence."""
        placed, calibration = self._placed_, self.calibration_
        return Promise.of(
            n_calibration=calibration.n,
            n_alarms=calibration.negatives_above(placed.value),
            n_positives=len(calibration.positives),
            n_caught=calibration.positives_above(placed.value),
            guaranteed_rate=placed.guaranteed_rate,
            guarantee_confidence=placed.confidence,
            expected_rate=placed.expected_rate,
            confidence=self.confidence,
            prevalence=prevalence,
            caveat=self._caveat_,
            method=self.method,
            tolerance=self.tolerance,
            threshold=self.threshold_,
            alarm_side=self.alarm_side_,
            unit="group" if self._is_grouped_ else "row",
            weight_bound=self.weight_bound_,
            n_above_weight_bound=self.n_above_weight_bound_,
        )

    def np_roc(self, *, tolerances=None, confidence=None) -> NpRoc:
        """What every tolerance would catch, with a confidence band; see `askew.tolerance.np_roc`.

        Parameters
        ----------
        tolerances : array-like, default=None
            By default 200 from the smallest that the calibration negatives can promise.
        confidence : float in (0, 1), default=None
            That of the fit by default.

        Returns
        -------
        NpRoc
            With thresholds on the score of the estimator, like ``threshold_``.
        """
        check_is_fitted(self, "threshold_")
        level = self.confidence if confidence is None else confidence
        curve = np_roc(self.calibration_, tolerances=tolerances, confidence=level)
        return replaced(curve, threshold=self._score_.sign * curve.threshold)

    def _place(self, calibration: Calibration, certificate, tolerance, confidence) -> Threshold:
        if certificate is not None:
            return certificate.threshold(tolerance)
        if self.method == "empirical":
            return empirical(calibration, tolerance)
        return exact(calibration, tolerance, confidence)

    def _adopt(self, calibration: Calibration, placed: Threshold):
        """Make a threshold the one in force; counts of alarms start again."""
        self.calibration_, self._placed_ = calibration, placed
        self.threshold_ = self._score_.sign * placed.value
        self.alarm_side_ = "above" if self._score_.sign > 0 else "below"
        self.n_calibration_ = calibration.n
        self._monitor_ = DriftMonitor(self.tolerance, self.drift_level)
        self._caveat_ = _CAVEAT.get(self.method, "")
        self.drift_ = None
        return self

    def _counted(self, fresh: Calibration, replace: bool) -> tuple[DriftTest, bool]:
        """The test of new negatives, and whether they were taken in."""
        monitor, test = self._monitor_.observe(n_new=fresh.n, n_alarms=fresh.negatives_above(self._placed_.value))
        is_taken_in = replace or not (test.drifted or self._caveat_ == _DRIFTED)
        if not is_taken_in:
            self._monitor_, self._caveat_ = monitor, _DRIFTED
        elif replace:
            calibration = Calibration.of(fresh.negatives, self.calibration_.positives)
            placed = self._place(calibration, None, self.tolerance, self.confidence)
            self._adopt(calibration, placed)
            self.weight_bound_, self.n_above_weight_bound_ = None, 0  # those of the rows forgotten
        else:
            if self._certificate_ is None:
                calibration = self.calibration_.extended(fresh.negatives)
                placed = self._place(calibration, None, self.tolerance, self.confidence)
                self._adopt(calibration, placed)
            self._monitor_ = monitor
        self.drift_ = test
        return test, is_taken_in

    def _changing(self) -> Any:
        """The lock under which counts and threshold change together, one for each process.

        A lock that another thread held while the process was forked would stay locked in the child for ever.
        """
        return self.__dict__.setdefault("_locks", {}).setdefault(os.getpid(), RLock())

    def __getstate__(self):
        """Everything but the locks, which belong to this object in this process."""
        state = dict(super().__getstate__())
        state.pop("_locks", None)
        return state

    def __setstate__(self, state):
        """What models of earlier versions lack is what they did: they knew no bound on weights."""
        if "threshold_" in state:
            state = {"weight_bound_": None, "n_above_weight_bound_": 0, **state}
        super().__setstate__(state)

    def _units(self, scores, groups):
        """New scores, one per row or one per group, whichever the promise counts."""
        if np.ma.is_masked(scores):
            raise DataError(
                f"{np.ma.count_masked(scores)} of {np.ma.size(scores)} entries of `scores` are masked, and it is not "
                "known what they stand for. Pass the others alone, scores.compressed(), where they may be left out."
            )
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim != 1:
            raise DataError(
                f"`scores` must have one dimension, one score for each new negative; got shape {scores.shape}. "
                "`update` takes what `score_samples` gives, not rows of features."
            )
        if (groups is not None) != self._is_grouped_:
            raise ParameterError(
                "`groups` must be given to `update` iff they were given to `fit`: the promise counts "
                f"{'groups' if self._is_grouped_ else 'rows'}."
            )
        if groups is None:
            return scores
        if np.shape(groups) != scores.shape:
            raise DataError(
                f"`groups` must hold one group for each score, shape {scores.shape}; got shape {np.shape(groups)}."
            )
        return one_per_group(scores, groups)
