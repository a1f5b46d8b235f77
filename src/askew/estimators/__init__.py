"""The scikit-learn face of askew: one file per method."""

from askew.estimators.asymmetric_svc import AsymmetricSVC
from askew.estimators.covariance_one_class_svm import CovarianceOneClassSVM
from askew.estimators.gaussian_description import GaussianDescription
from askew.estimators.kernel_scaled_svc import KernelScaledSVC
from askew.estimators.knn_description import KNNDescription
from askew.estimators.moment_svc import MomentSVC
from askew.estimators.moment_svc_cv import MomentSVCCV
from askew.estimators.one_class_svm import OneClassSVM
from askew.estimators.parzen_description import ParzenDescription
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
