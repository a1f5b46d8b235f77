"""The scikit-learn face of askew: one file per method."""

from askew.estimators.one_class_svm import OneClassSVM
from askew.estimators.svc import SVC
from askew.estimators.svdd import SVDD

__all__ = ["SVC", "SVDD", "OneClassSVM"]
