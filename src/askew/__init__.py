"""askew: support vector machines for skewed data."""

from askew.estimators import SVC, SVDD, OneClassSVM

__all__ = ["SVC", "SVDD", "OneClassSVM"]
__version__ = "0.1.0"
