"""Reading one number per row off an estimator, and knowing which end of it is the alarm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils import get_tags

from askew.exceptions import DataError, ParameterError

__all__ = ["RESPONSES", "Score", "alarm_scores", "is_detector", "refuse_nan"]

RESPONSES = ("decision_function", "predict_proba", "score_samples")


@dataclass(frozen=True)
class Score:
    """Which method of an estimator is its score, and the sign that makes high mean alarm.

    Parameters
    ----------
    response : {"decision_function", "predict_proba", "score_samples"}
        The method asked. Of ``predict_proba`` the second column counts, the probability of ``classes_[1]``.
    sign : {1, -1}
        +1 when a high score is the alarm; -1 when a low one is, as with one-class detectors.
    """

    response: str
    sign: float

    @classmethod
    def of(cls, estimator: object, response_method: str, sign: float) -> Score:
        """Take the first method the estimator has, or the one asked for."""
        wanted = RESPONSES if response_method == "auto" else (response_method,)
        for response in wanted:
            if hasattr(estimator, response):
                return cls(response, sign)
        raise ParameterError(
            f"{type(estimator).__name__} has none of {', '.join(wanted)}, so there is no score to put a threshold on."
        )

    def raw(self, estimator: object, X: object) -> NDArray[np.floating]:
        """The estimator's own score of each row, in its own direction."""
        values = np.asarray(getattr(estimator, self.response)(X))
        if self.response == "predict_proba":
            values = values[:, 1]
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise DataError(
                f"{self.response} of {type(estimator).__name__} gave shape {values.shape}; one score per row "
                "is needed, as a two-class problem has."
            )
        return values

    def alarm(self, estimator: object, X: object) -> NDArray[np.floating]:
        """Score of each row, turned so that high means alarm."""
        return self.sign * self.raw(estimator, X)


def alarm_scores(estimator: object, X: object, pos_label: object = None) -> NDArray[np.floating]:
    """Scores of a fitted estimator, high for the positive class: ``classes_[1]`` by default, or the outliers.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> scores = alarm_scores(model, [[0.0], [1.0]])
    >>> bool(scores[1] > scores[0])
    True
    """
    is_first = pos_label is not None and pos_label == getattr(estimator, "classes_", [None])[0]
    sign = -1.0 if is_first or is_detector(estimator) else 1.0
    return Score.of(estimator, "auto", sign).alarm(estimator, X)


def refuse_nan(scores: NDArray[np.floating], what: str = "scores") -> None:
    """An error if a score is NaN. Infinite scores are in order: +inf is above every finite threshold, -inf below."""
    n_missing = int(np.isnan(scores).sum())
    if n_missing:
        raise DataError(
            f"{n_missing} of {len(scores)} {what} are NaN. A row without a score can be neither an alarm nor quiet: "
            "remove or impute such rows. If rows without a missing or huge number have no score either, the model is "
            "damaged: fit it again."
        )


def is_detector(estimator: object) -> bool:
    """Whether a high score means "normal": one-class detectors and densities."""
    if is_classifier(estimator):
        return False
    is_density = get_tags(estimator).estimator_type in (None, "density_estimator")
    return is_outlier_detector(estimator) or (is_density and hasattr(estimator, "score_samples"))
