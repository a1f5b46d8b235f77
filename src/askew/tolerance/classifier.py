"""A decision with a guaranteed false positive rate, around any score."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from askew.exceptions import DataError, ParameterError
from askew.findings import find, warn
from askew.fitting import ScoresAnywhere, blank, commit, scored_anywhere
from askew.sources import is_beyond_memory
from askew.tolerance import order_statistic
from askew.tolerance.calibration import Calibration, one_per_group
from askew.tolerance.certificate import certificate_of, own_positive
from askew.tolerance.fit_params import FitParams
from askew.tolerance.holdout import Holdout, take_rows
from askew.tolerance.parameters import check_parameters
from askew.tolerance.promise import PromiseKeeper
from askew.tolerance.score import Score, is_detector, refuse_nan
from askew.tolerance.target import Target

__all__ = ["ToleranceClassifier"]


class ToleranceClassifier(ScoresAnywhere, PromiseKeeper, ClassifierMixin, BaseEstimator):
    """Turn any score into a decision whose false positive rate is guaranteed.

    ``ToleranceClassifier(model, tolerance=0.01, confidence=0.95)`` trains the model on one part of the
    data and places its threshold on the rest, so that with probability 0.95 at most 1 % of all future
    negatives raise an alarm. The promise is exact for finite samples and asks nothing of the model; it
    asks that future negatives come from where the calibration negatives came from, independently of each
    other.

    Use it when a false alarm costs and a limit on them has to be kept. For the best trade of both errors
    without a limit use scikit-learn's ``TunedThresholdClassifierCV``.

    Parameters
    ----------
    estimator : classifier or one-class detector
        Anything with ``decision_function``, ``predict_proba`` or ``score_samples``; a Pipeline too.
        Transformers that learn from data belong inside that Pipeline: one in front of ToleranceClassifier
        has seen the calibration rows, and then the promise holds only approximately.
    tolerance : float in (0, 1), default=0.01
        Largest false positive rate.
    confidence : float in (0, 1), default=0.95
        Probability, over the draw of the calibration negatives, that the rate is kept.
    method : {"order_statistic", "moments", "empirical"}, default="order_statistic"
        - ``"order_statistic"``: exact binomial rule on held-out negatives.
        - ``"moments"``: Cantelli's bound from mean and covariance of the negatives; no negative is held out. For a
          `MomentSVC`, or for any linear score when ``moments`` is given. It holds for every distribution with
          these moments, and is cautious therefore; ``confidence`` has no part in it.
        - ``"empirical"``: a share ``tolerance`` of the held-out negatives lies above. Nothing is promised;
          new data exceed the tolerance about half of the time.
    calibration : float in (0, 1) or "prefit", default=0.5
        Share of the negatives (of the groups, when groups are given) that places the threshold and trains
        nothing. ``"prefit"``: the estimator is fitted already, on other rows, and all rows given to
        ``fit`` are calibration rows; negatives alone will do.
    positive_calibration : float in [0, 1), default=0.2
        Share of the positives held out to estimate the true positive rate. The promise does not depend on it;
        0 trains on every positive and leaves the rate unknown.
    weight_bound : float > 0, default=None
        Largest weight a held-out row counts with in the promise; heavier rows count as that. By default the largest
        weight among the training rows of the same class; with ``calibration="prefit"`` and weights that differ within a
        class it must be given. It must not be chosen by a look at the calibration rows, see Notes.
    moments : Moments or object with ``mean`` and ``covariance``, default=None
        Of the negatives, for ``method="moments"`` with a linear score.
    mean_radius : float, default=0.0
        Radius of an uncertain mean in ``method="moments"``: (x̄ − x̄₀)'Σ⁻¹(x̄ − x̄₀) ≤ mean_radius².
    pos_label : label, default=None
        Label of the positive class, the one an alarm stands for. By default the one that a fitted estimator
        was fitted for (``pos_label_``); else the larger of {0, 1}, {-1, 1} and {False, True}, and of other
        labels the rarer class, which is said in a warning (ASK104). For detectors see Notes.
    response_method : {"auto", "decision_function", "predict_proba", "score_samples"}, default="auto"
        The score. "auto" takes the first of these that the estimator has.
    drift_level : float in (0, 1), default=0.01
        Largest probability of a false drift alarm over all calls of `update`.
    random_state : int, RandomState instance or None, default=None
        Draws the calibration rows.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    threshold_ : float
        On the score of ``estimator_``, see `score_samples`. Strictly beyond it is an alarm. It is the chosen
        order statistic raised by a few units in the last place, so that ties cannot slip past by rounding.
    alarm_side_ : {"above", "below"}
        Where the alarms are; "below" for detectors and when ``pos_label_`` is ``classes_[0]``.
    n_calibration_ : int
        Number of held-out negatives (of groups, when groups are given). ``method="moments"`` needs and has none,
        except when prefit: there they are evidence for the report. With ``sample_weight`` those kept, see Notes.
    weight_bound_ : float or None
        Largest weight that a calibration negative counts with; None without ``sample_weight``.
    n_above_weight_bound_ : int
        Held-out negatives (or groups of them) that were heavier, and count as ``weight_bound_``.
    classes_ : ndarray of shape (2,)
        The labels; absent for an unlabelled detector.
    pos_label_ : label
        The one an alarm stands for; absent for an unlabelled detector.
    calibration_ : Calibration
        Scores of the held-out rows.
    drift_ : DriftTest or None
        Outcome of the latest `update`.
    n_features_in_, feature_names_in_
        As in the fitted estimator, where it has them.

    See Also
    --------
    askew.tolerance.np_roc : What every tolerance would catch.

    Notes
    -----
    *Detectors.* With ``pos_label=None`` a wrapped detector stays one: ``fit(X)`` takes normal rows,
    ``predict`` gives +1 for normal and −1 for an alarm, ``decision_function`` is ≥ 0 for normal rows, and
    a false positive is an alarm on a normal row. With ``pos_label`` set, ``fit(X, y)`` trains the detector
    on the negatives only, keeps all positives to estimate the true positive rate, and ``predict`` gives
    labels.

    *sample_weight*, passed to ``fit``, goes to the estimator and also says which population the promise is
    about: the one in which a negative of weight w counts min(w, M) times, where M is ``weight_bound_``. A held-out
    row is kept with probability min(w, M)/M, which leaves a plain sample of that population. No rule holds for weights
    without a bound, and one read off the calibration rows is none: the heavy rows they have missed would not count. A
    bound far above the mean weight keeps few rows, roughly the mean weight divided by M of them; a low one counts heavy
    rows for less than they weigh. Weights that are equal among the negatives, as class weights are, change nothing
    (unless a larger ``weight_bound`` is given). A group counts with the largest weight of its negative rows.

    *groups*, passed to ``fit``: rows of one group (a customer) are not independent. Groups are then never
    split, a group counts once, with the highest score of its negative rows, and the promise becomes: at
    most a share ``tolerance`` of new groups sees any false alarm.

    *Time.* The promise is about one threshold, chosen once. See `update` for data that keep arriving.

    References
    ----------
    Tong, Feng and Li (2018), "Neyman–Pearson classification algorithms and NP receiver operating
    characteristics", Science Advances 4(2).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from askew.tolerance import ToleranceClassifier
    >>> X, y = make_classification(4000, weights=[0.9], random_state=0)
    >>> model = ToleranceClassifier(LogisticRegression(), tolerance=0.02, random_state=0)
    >>> model = model.fit(X[:2000], y[:2000])
    >>> alarms = model.predict(X[2000:])[y[2000:] == 0]
    >>> bool(alarms.mean() <= 0.02)
    True
    """

    def __init__(
        self,
        estimator,
        tolerance=0.01,
        confidence=0.95,
        *,
        method="order_statistic",
        calibration=0.5,
        positive_calibration=0.2,
        weight_bound=None,
        moments=None,
        mean_radius=0.0,
        pos_label=None,
        response_method="auto",
        drift_level=0.01,
        random_state=None,
    ):
        self.estimator = estimator
        self.tolerance = tolerance
        self.confidence = confidence
        self.method = method
        self.calibration = calibration
        self.positive_calibration = positive_calibration
        self.weight_bound = weight_bound
        self.moments = moments
        self.mean_radius = mean_radius
        self.pos_label = pos_label
        self.response_method = response_method
        self.drift_level = drift_level
        self.random_state = random_state

    def fit(self, X, y=None, *, groups=None, **params):
        """Train the estimator on one part of the rows and place the threshold on the other.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Rows, as the estimator takes them.
        y : array-like of shape (n,), default=None
            Labels of two classes. Left out for an unlabelled detector, whose rows are all normal.
        groups : array-like of shape (n,), default=None
            Whom a row belongs to. Rows of one group stay together and count once.
        **params : dict
            Passed to the estimator's ``fit``: by scikit-learn's metadata routing where that is enabled, as
            they are otherwise. Entries with one value per row are split with the rows. ``sample_weight``
            also weighs the population of the promise, see Notes.

        Returns
        -------
        self : ToleranceClassifier
        """
        check_parameters(self)
        _check_in_memory(X, y, params)
        X, y, groups = indexable(X, y, groups)
        groups = None if groups is None else np.asarray(groups)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        params = FitParams.routed(self, n_rows, groups, params)
        target = self._target(n_rows, y, params.weight)
        parts = self._parts(target, groups, params.weight)
        self._check_feasible(parts, groups)

        estimator = self._trained(X, y, target, parts.train, params)
        is_low_alarm = is_detector(self.estimator) or target.alarm == 0
        score = Score.of(estimator, self.response_method, -1.0 if is_low_alarm else 1.0)
        calibration = Calibration.of(
            *(_scores_of(estimator, score, X, rows, groups) for rows in (parts.negatives, parts.positives))
        )
        certificate = None
        if self.method == "moments":
            certificate = certificate_of(estimator, score, self.moments, self.mean_radius)
        placed = self._place(calibration, certificate, self.tolerance, self.confidence)

        new = blank(self)
        new.estimator_, new._score_, new._certificate_ = estimator, score, certificate
        new._target_, new._is_grouped_ = target, groups is not None
        new._prevalence_ = target.prevalence(groups)
        new.weight_bound_, new.n_above_weight_bound_ = parts.weight_bound, parts.n_above_bound
        if not self._stays_detector():
            new.classes_, new.pos_label_ = target.labels, target.labels[target.alarm]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(new, name, getattr(estimator, name))
        return commit(self, new._adopt(calibration, placed))

    @scored_anywhere
    def predict(self, X):
        """Labels of the rows: an alarm iff the score is strictly beyond ``threshold_``.

        An unlabelled detector gives −1 for an alarm and +1 otherwise. A row whose score is NaN is an error.
        """
        is_alarm = self._alarm_scores(X) > self._placed_.value
        alarm = self._target_.alarm
        return self._target_.labels[np.where(is_alarm, alarm, 1 - alarm)]

    @scored_anywhere
    def decision_function(self, X):
        """Distance of the score from the threshold, pointing to ``classes_[1]`` as in scikit-learn.

        Zero is never an alarm. For an unlabelled detector it points to the normal rows.
        """
        scores, threshold = self._alarm_scores(X), self._placed_.value
        distance = np.zeros_like(scores)  # at the threshold, also where both are infinite
        np.subtract(scores, threshold, out=distance, where=scores != threshold)
        return distance if self._target_.alarm == 1 else -distance

    @scored_anywhere
    def score_samples(self, X):
        """The estimator's own score of each row: what ``threshold_`` is held against and `update` takes."""
        check_is_fitted(self, "threshold_")
        return np.asarray(self._score_.raw(self.estimator_, X), dtype=np.float64)

    @property
    def offset_(self):
        """Same as ``threshold_``; a detector's name for it."""
        if not self._stays_detector() or not hasattr(self, "threshold_"):
            raise AttributeError("offset_ belongs to a fitted, unlabelled detector")
        return self.threshold_

    def get_metadata_routing(self):
        """Requests of this classifier (``groups``) and of the estimator's ``fit``."""
        fit_to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=fit_to_fit)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        if self._stays_detector():
            tags.estimator_type, tags.classifier_tags = "outlier_detector", None
            tags.target_tags.required = False
        else:
            tags.classifier_tags.multi_class = False
        return tags

    def _reader(self):
        return self.estimator_._reader() if isinstance(self.estimator_, ScoresAnywhere) else None

    def _stays_detector(self):
        return self.pos_label is None and is_detector(self.estimator)

    def _alarm_scores(self, X):
        scores = self.score_samples(X)  # refuses where nothing is fitted yet
        refuse_nan(scores)
        if np.isnan(self._placed_.value):
            raise DataError("The threshold is NaN, so no row can be judged: the model is damaged. Fit it again.")
        return self._score_.sign * scores

    def _target(self, n_rows, y, weight):
        if self._stays_detector():
            if y is not None and len(np.unique(np.asarray(y))) > 1:
                warn(find("ASK302"))
            return Target.of_normal(n_rows)
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. "
                "Only a one-class detector without pos_label is fitted without labels."
            )
        known, positive = None, self.pos_label
        if self.calibration == "prefit":
            known = getattr(self.estimator, "classes_", None)
            positive = own_positive(self.estimator) if positive is None else positive
        return Target.of_classes(y, positive, known, weight)

    def _parts(self, target, groups, weight):
        random_state = check_random_state(self.random_state)
        if self.calibration == "prefit":
            parts = Holdout.of_everything(target.is_negative)
        else:
            share = 0.0 if self.method == "moments" else self.calibration
            positive_share = 1.0 if is_detector(self.estimator) else self.positive_calibration
            parts = Holdout.split(target.is_negative, share, positive_share, random_state, groups)
        if weight is None:
            return parts
        return parts.weighed(weight, target.is_negative, self.weight_bound, random_state, groups)

    def _check_feasible(self, parts, groups):
        """Refuse before the estimator is trained, which may take hours."""
        if self.method == "moments":
            return
        held = parts.negatives if groups is None else np.unique(groups[parts.negatives])
        if self.method == "order_statistic":
            is_split = self.calibration != "prefit"
            remedy = f"raise `calibration` (now {self.calibration:g}), " if is_split else ""
            if parts.weight_bound is not None:
                remedy += f"lower `weight_bound` (now {parts.weight_bound:.4g}; a row is kept by its share of that), "
            order_statistic.rank(len(held), self.tolerance, self.confidence, remedy=remedy)
        elif len(held) == 0:
            raise DataError("no negatives are left for calibration; add negatives.")

    def _trained(self, X, y, target, train, params):
        """The estimator, fitted on the training rows; a detector on the negatives among them."""
        if self.calibration == "prefit":
            check_is_fitted(self.estimator)
            if set(params.values) - {"sample_weight"}:
                raise ParameterError(f'calibration="prefit" trains nothing; got fit parameters {[*params.values]}.')
            return self.estimator
        if get_tags(self.estimator).input_tags.pairwise:
            raise ParameterError(
                "a precomputed kernel or distance matrix cannot be split by rows alone. Fit the estimator on "
                "the training block and pass the block (calibration rows, training rows) with "
                'calibration="prefit".'
            )
        labels = ()
        if is_detector(self.estimator):
            train = train[target.is_negative[train]]
        else:
            labels = (np.asarray(y)[train],)
        return clone(self.estimator).fit(take_rows(X, train), *labels, **params.of_rows(train))


def _check_in_memory(X, y, params):
    """Refuse what would have to be read from a source: rows are split at random here, and scored one by one."""
    if is_beyond_memory(X):
        raise ParameterError(
            "ToleranceClassifier fits rows in memory, since it splits them into training and calibration rows; got "
            f"{type(X).__name__}. Fit the estimator on the source, as in model = MomentSVC().fit(source, "
            "target='fraud'); then calibrate it on a sample of other rows: ToleranceClassifier(model, "
            "calibration='prefit').fit(X_sample, y_sample). Or load the rows first."
        )
    if y is None and isinstance(params.get("target"), str):
        raise ParameterError(
            f"ToleranceClassifier takes labels as y; got target={params['target']!r}. "
            "Pass the column itself, as in fit(frame.drop(columns='fraud'), frame['fraud'])."
        )


def _scores_of(estimator, score, X, rows, groups):
    if len(rows) == 0:
        return np.empty(0)
    scores = score.alarm(estimator, take_rows(X, rows))
    return scores if groups is None else one_per_group(scores, groups[rows])
