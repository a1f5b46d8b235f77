"""What the parameters of `ToleranceClassifier` may be."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from askew.exceptions import ParameterError
from askew.tolerance.score import RESPONSES, is_detector

__all__ = ["METHODS", "check_open_unit", "check_parameters"]

METHODS = ("order_statistic", "moments", "empirical")


def check_parameters(model: Any) -> None:
    """Raise ParameterError for the first parameter out of bounds."""
    check_open_unit(tolerance=model.tolerance, confidence=model.confidence, drift_level=model.drift_level)
    _check_choice("method", model.method, METHODS)
    _check_choice("response_method", model.response_method, ("auto", *RESPONSES))
    if model.calibration != "prefit" and not _is_number_in(model.calibration, 0.0, 1.0):
        raise ParameterError(f'calibration={model.calibration!r} must be "prefit" or lie in (0, 1).')
    share = model.positive_calibration
    if share != 0 and not _is_number_in(share, 0.0, 1.0):
        raise ParameterError(f"positive_calibration={share!r} must lie in [0, 1).")
    bound = model.weight_bound
    if bound is not None and not _is_number_in(bound, 0.0, float("inf")):
        raise ParameterError(f"weight_bound={bound!r} must be None or a finite number > 0.")
    if model.mean_radius != 0 and not _is_number_in(model.mean_radius, 0.0, float("inf")):
        raise ParameterError(f"mean_radius={model.mean_radius!r} must be a number >= 0.")
    if isinstance(model.estimator, type) or not hasattr(model.estimator, "fit"):
        raise ParameterError(f"estimator must be an estimator instance, such as SVC(); got {model.estimator!r}.")
    if not (is_classifier(model.estimator) or is_detector(model.estimator)):
        raise ParameterError(
            f"estimator must be a classifier, a one-class detector or a density; got {type(model.estimator).__name__}."
        )


def check_open_unit(**rates: float) -> None:
    """Raise ParameterError unless every rate lies strictly between 0 and 1."""
    for name, value in rates.items():
        if not _is_number_in(value, 0.0, 1.0):
            raise ParameterError(f"{name}={value!r} must lie in (0, 1). Give a fraction, not a percentage.")


def _is_number_in(value: Any, low: float, high: float) -> bool:
    try:
        return low < float(value) < high
    except (TypeError, ValueError):
        return False


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")
