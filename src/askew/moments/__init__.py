"""Moments of the negatives and the structures their covariance may have."""

from askew.moments.choice import CovarianceModel
from askew.moments.low_rank_moments import LowRankMoments
from askew.moments.moments import DiagonalMoments, Moments

__all__ = ["CovarianceModel", "DiagonalMoments", "LowRankMoments", "Moments"]
