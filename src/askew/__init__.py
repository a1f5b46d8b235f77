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
    TablePreparation,
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
    "TablePreparation",
    "ToleranceClassifier",
]
__version__ = "0.1.0"
