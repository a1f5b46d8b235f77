"""A scored sample: labels, scores and weights, checked once so that no metric has to look again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.exceptions import DataError, ParameterError

__all__ = ["ScoredSample", "check_rate"]


@dataclass(frozen=True)
class ScoredSample:
    """Which rows are positive, how high each scores, and what each weighs.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
        True for rows of the positive class. Both classes are present with positive weight.
    score : ndarray of float64, shape (n,)
        Higher means more likely positive. No NaN; infinities are allowed and rank as such.
    weight : ndarray of float64, shape (n,), or None
        Non-negative weights; None stands for one each.

    Examples
    --------
    >>> ScoredSample.of(["ham", "spam"], [0.1, 0.7]).positive.tolist()
    [False, True]
    """

    positive: NDArray[np.bool_]
    score: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
    ) -> ScoredSample:
        """Check labels, scores and weights.

        ``pos_label=None`` takes the greater of the two labels, the class that scikit-learn's
        ``decision_function`` points to.
        """
        score = _checked_scores(y_score)
        positive = _checked_labels(y_true, len(score), pos_label)
        weight = None if sample_weight is None else _checked_weights(sample_weight, positive)
        return cls(positive, score, weight)


def check_rate(name: str, rate: float, *, zero_allowed: bool = False) -> float:
    """Return a false positive rate as a float; raise ParameterError outside (0, 1], or [0, 1] with zero."""
    try:
        value = float(rate)
    except (TypeError, ValueError):
        value = np.nan
    if not (0.0 <= value <= 1.0) or (value == 0.0 and not zero_allowed):
        interval = "[0, 1]" if zero_allowed else "(0, 1]"
        raise ParameterError(
            f"{name}={rate!r} must be a false positive rate in {interval}. Give a fraction, not a percentage."
        )
    return value


def _checked_scores(y_score: ArrayLike) -> NDArray[np.float64]:
    score = np.asarray(y_score)
    if score.ndim == 2 and score.shape[1] == 1:
        score = score[:, 0]
    if score.ndim != 1:
        raise DataError(
            f"y_score must have one score per row, shape (n,); got shape {score.shape}. "
            "Of predict_proba, pass the column of the positive class."
        )
    try:
        score = score.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"y_score must be numbers; got dtype {score.dtype}.") from error
    if np.isnan(score).any():
        raise DataError(
            f"y_score holds {int(np.isnan(score).sum())} NaN of {len(score)} scores. "
            "A row without a score has no rank: drop it or mend the scorer."
        )
    return score


def _checked_labels(y_true: ArrayLike, n_scores: int, pos_label: object) -> NDArray[np.bool_]:
    label = np.asarray(y_true)
    if label.ndim == 2 and label.shape[1] == 1:
        label = label[:, 0]
    if label.shape != (n_scores,):
        raise DataError(f"y_true must have one label per score, shape ({n_scores},); got shape {label.shape}.")
    if label.dtype.kind == "f" and not np.isfinite(label).all():
        raise DataError("y_true holds NaN or infinity. Drop the rows without a label.")
    seen = np.unique(label)
    if len(seen) != 2:
        held = f"only the class {seen[0]!s}" if len(seen) == 1 else f"{len(seen)} classes"
        raise DataError(
            f"a ROC curve needs rows of exactly two classes; y_true holds {held} in {n_scores} rows. "
            "With more classes, score one class against the rest."
        )
    if pos_label is None:
        return label == seen[1]
    if pos_label not in seen.tolist():
        raise ParameterError(f"pos_label={pos_label!r} must be one of the labels {seen.tolist()}.")
    return label == pos_label


def _checked_weights(sample_weight: ArrayLike, positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != positive.shape:
        raise DataError(
            f"sample_weight must have one weight per row, shape {positive.shape}; got shape {weight.shape}."
        )
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise DataError("sample_weight must be finite and not negative.")
    if weight[positive].sum() <= 0.0 or weight[~positive].sum() <= 0.0:
        raise DataError("sample_weight is zero on every row of one class, which leaves one class only.")
    return weight
