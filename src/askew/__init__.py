"""askew: support vector machines for skewed data."""

from askew.estimators import (
    SVC,
    SVDD,
    AsymmetricSVC,
    CovarianceOneClassSVM,
    GaussianDescription,
    KernelScaledSVC,
    KNNDescription,
    MomentSVC,
    OneClassSVM,
    ParzenDescription,
)
from askew.tolerance import ToleranceClassifier

__all__ = [
    "SVC",
    "SVDD",
    "AsymmetricSVC",
    "CovarianceOneClassSVM",
    "GaussianDescription",
    "KNNDescription",
    "KernelScaledSVC",
    "MomentSVC",
    "OneClassSVM",
    "ParzenDescription",
    "ToleranceClassifier",
]
__version__ = "0.1.0"
