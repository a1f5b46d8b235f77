"""The one door through which names that scikit-learn keeps to itself enter askew.

Each is wrapped or re-exported under a name of ours, so that a change over there is mended here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function as one_vs_rest_scores
from sklearn.utils.validation import _check_sample_weight

from askew.exceptions import DataError, ParameterError

__all__ = ["Interval", "StrOptions", "check_parameters", "check_weights", "one_vs_rest_scores"]


def check_parameters(estimator: Any) -> None:
    """Check an estimator's parameters against its ``_parameter_constraints``."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise ParameterError(str(error)) from None


def check_weights(sample_weight: Any, X: Any) -> Any:
    """Sample weights as float64, ones by default; negative weights and weights without any positive are refused."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise DataError(
            "sample_weight must have at least one positive entry; got a weight of zero everywhere. "
            "Pass None to weigh all rows alike."
        )
    return _check_sample_weight(sample_weight, X, dtype="float64", ensure_non_negative=True)
