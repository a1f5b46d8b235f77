"""The certificate of a linear score against negatives known by their moments, as an estimator's methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from askew.exceptions import ParameterError
from askew.methods import cantelli


class MomentCertificate:
    """False positive rates that hold for every distribution with the moments of the negatives.

    A mixin. The estimator sets ``_score_means`` and ``_score_deviations`` (of a negative's score, per machine), and
    has a parameter ``mean_radius``. Thresholds are on the score of the positive class: ``decision_function`` itself,
    or its negative when ``pos_label`` is the first of two classes.
    """

    def false_positive_bound(self, threshold: float = 0.0) -> Any:
        """Largest possible rate of negatives with a score ≥ ``threshold``.

        Holds for every distribution with the fitted mean (within ``mean_radius``) and covariance (within ``rho_``); on
        the rows the moments were taken from it is never exceeded.

        Parameters
        ----------
        threshold : float or array of shape (n_machines,)

        Returns
        -------
        float, or array of shape (n_machines,) for several classes
        """
        return self._per_machine(cantelli.bound(self._kappa(threshold)))

    def false_positive_estimate(self, threshold: float = 0.0) -> Any:
        """Rate of negatives with a score ≥ ``threshold`` if their scores were normal: an estimate, no guarantee.

        Parameters
        ----------
        threshold : float or array of shape (n_machines,)
        """
        return self._per_machine(cantelli.gaussian_estimate(self._kappa(threshold)))

    def threshold_for(self, tolerance: float) -> Any:
        """Smallest threshold on the score that certifies a false positive rate of ``tolerance``.

        Parameters
        ----------
        tolerance : float
            In (0, 1].
        """
        self._check_linear()
        if not 0.0 < tolerance <= 1.0:
            raise ParameterError(f"tolerance must be in (0, 1]; got {tolerance!r}.")
        thresholds = [
            float(cantelli.threshold_for(tolerance, mean, deviation, self.mean_radius))
            for mean, deviation in zip(self._score_means, self._score_deviations, strict=True)
        ]
        return self._per_machine(np.array(thresholds))

    @property
    def false_positive_bound_(self) -> Any:
        """``false_positive_bound()`` at the threshold of ``predict``."""
        return self.false_positive_bound(0.0)

    def _kappa(self, threshold: Any) -> NDArray[np.float64]:
        self._check_linear()
        thresholds = np.broadcast_to(np.asarray(threshold, dtype=np.float64), self._score_means.shape)
        return np.array(
            [
                float(cantelli.kappa_of(t, mean, deviation, self.mean_radius))
                for t, mean, deviation in zip(thresholds, self._score_means, self._score_deviations, strict=True)
            ]
        )

    def _check_linear(self) -> None:
        check_is_fitted(self)
        if self.kernel != "linear":
            raise AttributeError(
                f"The moments of the negatives bound a linear score only; this one has kernel={self.kernel!r}. "
                "Use kernel='linear', or ToleranceClassifier with calibration rows."
            )

    def _per_machine(self, values: NDArray[np.float64]) -> Any:
        return float(values[0]) if len(values) == 1 else values
