"""The rows of a search: data, classes, weights and the folds they are cut into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.metrics import tolerance_auc

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Everything a search knows of its data.

    Attributes
    ----------
    X : array, sparse matrix or frame of n rows
    y : array of shape (n,)
    classes : array of shape (n_classes,)
    codes : array of int, shape (n,)
        Class number of each row.
    weight : array of shape (n,), or None
    folds : list of (train, test)
    tolerance : float
    for_detector : bool
        Whether the estimator describes normal rows: it is then shown those of the first class only, and a low score is
        what points to the second.
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    codes: Indices
    weight: NDArray[np.float64] | None
    folds: list[tuple[Indices, Indices]]
    tolerance: float
    for_detector: bool

    def check(self) -> None:
        """Refuse folds on which a ROC curve, or a fit, does not exist."""
        if len(self.classes) < 2:
            raise DataError(
                f"a search for the best t-AUC needs rows of at least two classes; y holds only one class, "
                f"{self.classes.tolist()[0]!r}. A one-class estimator, too, is judged on rows of both."
            )
        for number, parts in enumerate(self.folds):
            for part, rows in zip(("training", "held-out"), parts, strict=True):
                self._check_part(number, part, rows if self.weight is None else rows[self.weight[rows] > 0])

    def _check_part(self, number: int, part: str, rows: Indices) -> None:
        missing = np.setdiff1d(np.arange(len(self.classes)), self.codes[rows])
        if len(missing):
            count = int(np.sum(self.codes == missing[0]))
            raise DataError(
                f"fold {number} has no {part} row of class {self.classes.tolist()[missing[0]]!r} with positive "
                f"sample_weight; there are {count} such rows. Give cv fewer folds, at most {max(2, count)}, or "
                "stratified ones."
            )

    def training(self, train: Indices) -> Indices:
        """The rows of a fold an estimator is fitted on."""
        return train[self.codes[train] == 0] if self.for_detector else train

    def mask(self, train: Indices) -> NDArray[np.float64]:
        """Weights that are 0 outside the rows an estimator is fitted on."""
        weight = np.zeros(len(self.codes))
        mine = self.training(train)
        weight[mine] = 1.0 if self.weight is None else self.weight[mine]
        return weight

    def judge(self, test: Indices, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """t-AUC of every column of scores on held-out rows of two classes."""
        weight = None if self.weight is None else self.weight[test]
        towards = -scores if self.for_detector else scores
        return tolerance_auc(self.codes[test] == 1, towards, self.tolerance, weight)

    def judge_classes(self, test: Indices, scores: NDArray[np.float64]) -> float:
        """t-AUC of one score per row, or the mean over classes against the rest where a row has one score per class."""
        if scores.ndim == 1:
            return float(self.judge(test, scores))
        weight = None if self.weight is None else self.weight[test]
        areas = [
            tolerance_auc(self.codes[test] == code, scores[:, code], self.tolerance, weight)
            for code in range(len(self.classes))
        ]
        return float(np.mean(areas))

    @property
    def least_shares(self) -> NDArray[np.float64]:
        """The least share of each class in the training rows of any fold and in all rows: what every fit can do."""
        weight = np.ones(len(self.codes)) if self.weight is None else self.weight
        parts = [train for train, _ in self.folds] + [np.arange(len(self.codes))]
        sums = [np.bincount(self.codes[part], weight[part], len(self.classes)) for part in parts]
        return np.min([each / each.sum() for each in sums], axis=0)
