"""The scikit-learn face of askew: one file per public estimator."""

from askew.estimators.asymmetric_svc import AsymmetricSVC
from askew.estimators.baselines import GaussianDescription, KNNDescription, ParzenDescription
from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from askew.estimators.kernel_scaled_svc import KernelScaledSVC
from askew.estimators.moment_svc import MomentSVC
from askew.estimators.moment_svc_cv import MomentSVCCV
from askew.estimators.one_class_svm import OneClassSVM
from askew.estimators.svc import SVC
from askew.estimators.svdd import SVDD
from askew.estimators.table_preparation import TablePreparation

__all__ = [
    "SVC",
    "SVDD",
    "AsymmetricSVC",
    "CovarianceOneClassSVM",
    "GaussianDescription",
    "KNNDescription",
    "KernelScaledSVC",
    "MomentSVC",
    "MomentSVCCV",
    "OneClassSVM",
    "ParzenDescription",
    "TablePreparation",
]
