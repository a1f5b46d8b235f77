"""The road without calibration data: a threshold from mean and covariance of the negatives alone.

For a linear score s(x) = w'x + b₀ and negatives with mean x̄ and covariance Σ, the score has mean m = x̄'w
+ b₀ and deviation d = √(w'Σw), and Cantelli's inequality gives, for every distribution with these moments,
P(s > m + (√((1 − t)/t) + r)·d) ≤ t, where r is the radius of an uncertain mean. A `MomentSVC` carries its
own moments and answers for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError, ParameterError
from askew.methods.moment import cantelli
from askew.tolerance.score import Score
from askew.tolerance.threshold import Threshold

__all__ = ["Certificate", "LinearCertificate", "OwnCertificate", "certificate_of"]


class Certificate(Protocol):
    """Anything that names a threshold for a tolerance, in units of the alarm score."""

    def threshold(self, tolerance: float) -> Threshold: ...


@dataclass(frozen=True)
class LinearCertificate:
    """Certificate of a linear alarm score, from the moments of the negatives.

    Examples
    --------
    >>> certificate = LinearCertificate(mean=0.0, deviation=2.0)
    >>> threshold = certificate.threshold(0.1)
    >>> threshold.value, round(threshold.guaranteed_rate, 12)
    (6.0, 0.1)
    """

    mean: float
    deviation: float
    mean_radius: float = 0.0

    def threshold(self, tolerance: float) -> Threshold:
        value = float(cantelli.threshold_for(tolerance, self.mean, self.deviation, self.mean_radius))
        kappa = cantelli.kappa_for(tolerance)
        return Threshold(
            value=value,
            expected_rate=float(cantelli.gaussian_estimate(kappa + self.mean_radius)),
            guaranteed_rate=float(tolerance),
        )


@dataclass(frozen=True)
class OwnCertificate:
    """Certificate of an estimator with ``threshold_for`` and ``false_positive_bound``."""

    estimator: object

    def threshold(self, tolerance: float) -> Threshold:
        try:
            value = float(self.estimator.threshold_for(tolerance))
        except AttributeError as error:  # a kernel that no moments bound
            raise ParameterError(f'method="moments" is not to be had: {error}') from error
        estimate = getattr(self.estimator, "false_positive_estimate", None)
        return Threshold(
            value=value,
            expected_rate=None if estimate is None else float(estimate(value)),
            guaranteed_rate=float(self.estimator.false_positive_bound(value)),
        )


def certificate_of(estimator: object, score: Score, moments: object, mean_radius: float) -> Certificate:
    """Certificate of a fitted estimator, or ParameterError where it can have none.

    Parameters
    ----------
    estimator : object
        Fitted; a Pipeline is judged by its last step.
    score : Score
        How its score is read; only ``decision_function`` is linear.
    moments : object with ``mean`` and ``covariance``, or None
        Of the negatives, in the space the linear score sees.
    mean_radius : float
        Radius, in units of Σ, within which the mean is uncertain.
    """
    if score.response != "decision_function":
        raise ParameterError(
            f'method="moments" bounds a linear score, and {score.response} is none. Use '
            'response_method="decision_function".'
        )
    steps = getattr(estimator, "steps", None)
    last = _last_step(estimator)
    if moments is None:
        if hasattr(last, "threshold_for") and hasattr(last, "false_positive_bound"):
            return _own(last, score.sign)
        raise ParameterError(
            'method="moments" needs a score that certifies itself (MomentSVC), or a linear score and '
            f"`moments` of the negatives; {type(last).__name__} got moments=None. "
            'Pass moments=Moments.of(X_negative), or use method="order_statistic".'
        )
    if steps is not None and len(steps) > 1:
        raise ParameterError(
            "`moments` describe the columns of X, but the linear score stands behind the transformers of a "
            "Pipeline. Make ToleranceClassifier the last step of the Pipeline, with the moments of the "
            "transformed negatives."
        )
    return _linear(last, score.sign, moments, mean_radius)


def own_positive(estimator: object) -> object:
    """The class that a fitted estimator, or the last step of a Pipeline, takes for positive; None if it tells none."""
    last = _last_step(estimator)
    return getattr(last, "pos_label_", getattr(last, "pos_label", None))


def _last_step(estimator: object) -> object:
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def _own(estimator: object, sign: float) -> OwnCertificate:
    """The estimator's certificate, if the class it certifies alarms of is the one alarms are raised for."""
    named = own_positive(estimator)
    own_sign = -1.0 if named is not None and named == estimator.classes_[0] else 1.0
    if own_sign != sign:
        certified, asked = estimator.classes_[[int(own_sign > 0), int(sign > 0)]]
        raise ParameterError(
            f"{type(estimator).__name__} certifies alarms for {certified!s}, but pos_label here is {asked!s}. "
            "Give both the same pos_label."
        )
    return OwnCertificate(estimator)


def _linear(estimator: object, sign: float, moments: object, mean_radius: float) -> LinearCertificate:
    if not hasattr(estimator, "coef_") or not hasattr(estimator, "intercept_"):
        raise ParameterError(
            f'method="moments" needs a linear score (coef_, intercept_); {type(estimator).__name__} has '
            'none. Use method="order_statistic".'
        )
    w = sign * _dense(estimator.coef_)
    mean = np.asarray(moments.mean, dtype=np.float64).ravel()
    if mean.shape != w.shape:
        raise DataError(f"`moments` have {len(mean)} features, the linear score has {len(w)}.")
    intercept = sign * float(np.asarray(estimator.intercept_).ravel()[0])
    variance = max(_score_variance(moments, w), 0.0)
    return LinearCertificate(float(mean @ w) + intercept, float(np.sqrt(variance)), mean_radius)


def _score_variance(moments: object, w: NDArray[np.float64]) -> float:
    """Largest w'Σw that the moments allow; diagonal moments know how, a bare covariance must be full."""
    if hasattr(moments, "score_variance"):
        return float(moments.score_variance(w))
    if np.ndim(moments.covariance) != 2:
        raise DataError(
            f"`moments.covariance` must be a full matrix, shape ({len(w)}, {len(w)}): variances alone do not "
            f"bound the variance of a sum; got shape {np.shape(moments.covariance)}."
        )
    return float(w @ np.asarray(moments.covariance @ w).ravel())


def _dense(coefficients: object) -> NDArray[np.float64]:
    dense = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    return np.asarray(dense, dtype=np.float64).ravel()
