"""Three plain descriptions of normal rows, to compare :class:`askew.CovarianceOneClassSVM` with."""

from askew.estimators.baselines.gaussian_description import GaussianDescription
from askew.estimators.baselines.knn_description import KNNDescription
from askew.estimators.baselines.parzen_description import ParzenDescription

__all__ = ["GaussianDescription", "KNNDescription", "ParzenDescription"]
