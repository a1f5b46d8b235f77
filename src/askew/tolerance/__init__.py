"""Thresholds with a guaranteed false positive rate."""

from askew.tolerance.calibration import Calibration
from askew.tolerance.classifier import ToleranceClassifier
from askew.tolerance.drift import DriftTest, DriftWarning
from askew.tolerance.np_roc import NpRoc, np_roc
from askew.tolerance.order_statistic import negatives_required
from askew.tolerance.threshold import Threshold

__all__ = [
    "Calibration",
    "DriftTest",
    "DriftWarning",
    "NpRoc",
    "Threshold",
    "ToleranceClassifier",
    "negatives_required",
    "np_roc",
]
