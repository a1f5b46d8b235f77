"""The one number most users ask first: how many positives are caught at a given false positive rate."""

from __future__ import annotations

from numpy.typing import ArrayLike

from askew.metrics.curve import RocCurve
from askew.metrics.sample import check_rate

__all__ = ["tpr_at_fpr"]


def tpr_at_fpr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr: float,
    *,
    interpolate: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> float:
    """True positive rate at a false positive rate of ``fpr`` on this sample.

    A description of the sample, not a promise: for a threshold whose false positive rate holds on new
    data use `askew.tolerance.ToleranceClassifier`.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels of two classes and scores, higher for the positive class.
    fpr : float in [0, 1]
        False positive rate.
    interpolate : bool, default=False
        False gives the best TPR of a single threshold with FPR ≤ ``fpr``. True reads the ROC curve between
        its vertices, which only a randomised decision reaches, and suits averages over folds.
    sample_weight : array-like of shape (n,), default=None
    pos_label : label, default=None
        The positive class; by default the greater of the two labels.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> from askew.metrics import tpr_at_fpr
    >>> y, score = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 5, 7, 3, 6, 8, 9]
    >>> tpr_at_fpr(y, score, 0.25)
    0.75
    """
    rate = check_rate("fpr", fpr, zero_allowed=True)
    curve = RocCurve.of(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    return float(curve.at(rate) if interpolate else curve.achieved_at(rate))
