"""t-AUC: the area under the ROC curve over the false positive rates a user tolerates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.metrics.sample import ScoredSample, check_rate

__all__ = ["tolerance_auc", "tolerance_auc_score"]


def tolerance_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    tolerance: float,
    *,
    normalize: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    """Area under the ROC curve from FPR 0 to ``tolerance``, ∫₀ᵗ TPR dFPR.

    Use it to compare or select scores when only a few false positives are acceptable: the rest of the
    curve, which no one will use, has no say. It is not scikit-learn's ``roc_auc_score(max_fpr=…)``,
    which is standardised so that chance gives 0.5.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Scores, higher for the positive class. Ties count as a straight segment.
    tolerance : float in (0, 1]
        Largest false positive rate that counts; the curve is interpolated linearly there.
    normalize : bool, default=False
        Divide by ``tolerance``, so that a perfect ranking gives 1 instead of ``tolerance``. The value is
        then the mean TPR over the window.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; a weight of two is a row given twice.
    pos_label : label, default=None
        The positive class; by default the greater of the two labels.

    Returns
    -------
    float
        In [0, tolerance], or in [0, 1] when normalised. Chance gives ``tolerance**2 / 2``, normalised
        ``tolerance / 2``.

    Examples
    --------
    >>> from askew.metrics import tolerance_auc_score
    >>> y = [0, 0, 0, 0, 1, 1]
    >>> score = [0.1, 0.2, 0.3, 0.9, 0.8, 1.0]
    >>> tolerance_auc_score(y, score, 0.5)
    0.375
    >>> tolerance_auc_score(y, score, 0.5, normalize=True)
    0.75

    As a scorer for cross-validation:

    >>> from sklearn.metrics import make_scorer
    >>> scorer = make_scorer(
    ...     tolerance_auc_score, response_method=("decision_function", "predict_proba"), tolerance=0.1
    ... )
    """
    limit = check_rate("tolerance", tolerance)
    sample = ScoredSample.of(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    area = float(tolerance_auc(sample.positive, sample.score, limit, sample.weight))
    return area / limit if normalize else area


def tolerance_auc(
    positive: NDArray[np.bool_],
    scores: NDArray[np.floating],
    tolerance: float,
    weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """t-AUC of one score or of every column of many, one sort each and nothing checked.

    For loops that have checked their data once: both classes present, no NaN, 0 < tolerance ≤ 1.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    scores : ndarray of floats, shape (n,) or (n, k)
    tolerance : float
    weight : ndarray, shape (n,), default=None

    Returns
    -------
    ndarray
        0-d for one score, shape (k,) for k columns.

    Examples
    --------
    >>> positive = np.array([False, False, True, True])
    >>> scores = np.array([[0.1, 3.0], [0.6, 2.0], [0.4, 1.0], [0.8, 0.0]])
    >>> tolerance_auc(positive, scores, 1.0).tolist()
    [0.75, 0.0]
    """
    true, false = _counts_above(positive, np.ascontiguousarray(scores.T), weight)
    # Each row is a segment from the point before it; its width is cut where FPR reaches the tolerance.
    rise, run = np.diff(true, prepend=0.0), np.diff(false, prepend=0.0)
    width = np.clip(tolerance * false[..., -1:] - (false - run), 0.0, run)
    share = np.divide(width, run, out=np.zeros_like(run), where=run > 0.0)
    area = np.sum(width * (true - rise + 0.5 * share * rise), axis=-1)
    return np.asarray(area / (true[..., -1] * false[..., -1]))


def _counts_above(
    positive: NDArray[np.bool_], scores: NDArray[np.floating], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of positives and of negatives down to each row of the ranking, best first, along the last axis.

    Inside a run of ties there is no point of the curve, so those rows repeat the point before the run:
    their segment is empty and the last row of the run spans it whole.
    """
    order = np.argsort(-scores, axis=-1)
    ranked = np.take_along_axis(scores, order, axis=-1)
    is_positive = positive[order]
    each = np.ones(is_positive.shape) if weight is None else weight[order]
    true = np.cumsum(np.where(is_positive, each, 0.0), axis=-1)
    false = np.cumsum(np.where(is_positive, 0.0, each), axis=-1)
    tied = ranked[..., :-1] == ranked[..., 1:]
    if tied.any():
        for count in (true, false):
            count[..., :-1][tied] = 0.0
            np.maximum.accumulate(count, axis=-1, out=count)
    return true, false
