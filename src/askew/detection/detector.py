"""What a fit leaves behind: rows in, scores and alarms out, with a promise about false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.exceptions import DataError
from askew.sources import Source, SparseBlock
from askew.sources.names import nearest
from askew.tolerance import ToleranceClassifier

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Detector:
    """A fitted preparation, score and threshold.

    Attributes
    ----------
    preparation : TablePreparation
    classifier : ToleranceClassifier
        Around the fitted estimator.
    card : dict
        Plain data: the target, the method and its parameters, counts, versions, the command.

    Examples
    --------
    >>> from askew.datasets import Transactions
    >>> from askew.detection import Request, train
    >>> from askew.sources import FrameSource
    >>> table = Transactions(rare=0.02).sample(20_000, random_state=0)
    >>> request = Request(target="is_fraud", method="moment", tolerance=0.01)
    >>> detector = train(FrameSource(table), request)
    >>> detector.score(table).shape
    (20000,)
    """

    preparation: Any
    classifier: ToleranceClassifier
    card: dict[str, Any]

    def score(self, block: Any) -> Vector:
        """Distance of each row's score from the threshold; above 0 is an alarm.

        Parameters
        ----------
        block : data frame of any library, dict of columns, or SparseBlock
        """
        return self.scores_of(self.preparation.transform(block))

    def scores_of(self, X: Any) -> Vector:
        """The same for rows that are prepared already."""
        try:
            distance = np.asarray(self.classifier.decision_function(X), dtype=np.float64)
        except DataError:
            raise
        except ValueError as error:  # of scikit-learn: steps with NaN inside hand it on to one that refuses NaN
            told = str(error).split("\n")[0]
            raise DataError(
                f"The prepared rows could not be scored ({told}), so the model is damaged or made for other columns. "
                "Fit it again."
            ) from error
        return -distance if self.is_one_class else distance

    @property
    def is_one_class(self) -> bool:
        return not hasattr(self.classifier, "classes_")

    @property
    def is_linear(self) -> bool:
        """Whether a score is a sum over features, so that each row can be explained."""
        return hasattr(self.classifier.estimator_, "coef_")

    @property
    def held_out(self) -> tuple[Vector, Vector]:
        """Scores of the calibration positives and negatives, ascending, in the units of ``score``."""
        calibration, value = self.classifier.calibration_, self._threshold
        return calibration.positives - value, calibration.negatives - value

    def weights(self) -> list[tuple[str, float]]:
        """Features of a linear score with their weights, the largest first."""
        weights = self._coefficients()
        names = self.preparation.get_feature_names_out()
        return [(str(names[j]), float(weights[j])) for j in np.argsort(-np.abs(weights))]

    def reasons(self, X: Any, top: int = 3) -> list[str]:
        """For each prepared row, the columns that push a linear score up most against the average row.

        Returns
        -------
        list of str
            Such as ``"amount +2.31, country +0.80"``; columns that push down are not reasons for an alarm.
        """
        columns = self.preparation.sources_out_
        names, member = np.unique(columns, return_inverse=True)
        pushes = (_dense(X) - self.preparation.means_out_) * self._coefficients()
        sums = np.zeros((X.shape[0], len(names)))
        np.add.at(sums.T, member, pushes.T)
        order = np.argsort(-sums, axis=1)[:, :top]
        return [
            ", ".join(f"{names[j]} {sums[i, j]:+.2f}" for j in order[i] if sums[i, j] > 0) for i in range(X.shape[0])
        ]

    def check_columns(self, source: Source) -> list[str] | None:
        """The columns to read from a source, or an error that names the ones it lacks."""
        if not source.columns:
            return None
        for name in self.preparation.needed_:
            if name not in source.columns:
                absent = [each for each in self.preparation.needed_ if each not in source.columns]
                more = f" and {len(absent) - 1} more ({', '.join(absent[1:4])})" if len(absent) > 1 else ""
                raise DataError(
                    f"{source.name} lacks the column {name!r}{more}, which the model was fitted with. "
                    f"{nearest(name, source.columns)}"
                )
        if not self.preparation.needed_:
            raise DataError("The model was fitted on svmlight rows; a table has no numbered features. Give svmlight.")
        return list(self.preparation.needed_)

    def check_block(self, block: Any) -> None:
        """Refuse svmlight rows where a table is needed."""
        if isinstance(block, SparseBlock) and self.preparation.needed_:
            raise DataError("The model was fitted on a table with named columns; svmlight rows have none.")

    @property
    def _threshold(self) -> float:
        """On the alarm score, on which the calibration scores stand."""
        value = self.classifier.threshold_
        return value if self.classifier.alarm_side_ == "above" else -value

    def _coefficients(self) -> Vector:
        coefficients = np.asarray(_dense(self.classifier.estimator_.coef_), dtype=np.float64).ravel()
        return coefficients if self.classifier.alarm_side_ == "above" else -coefficients


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
