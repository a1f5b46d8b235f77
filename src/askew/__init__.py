"""askew: support vector machines for skewed data."""

from askew.estimators import (
    SVC,
    SVDD,
    AsymmetricSVC,
    CovarianceOneClassSVM,
    KernelScaledSVC,
    MomentSVC,
    OneClassSVM,
)
from askew.tolerance import ToleranceClassifier

__all__ = [
    "SVC",
    "SVDD",
    "AsymmetricSVC",
    "CovarianceOneClassSVM",
    "KernelScaledSVC",
    "MomentSVC",
    "OneClassSVM",
    "ToleranceClassifier",
]
__version__ = "0.1.0"
