"""Moments of the negatives and the structures their covariance may have."""

from askew.moments.choice import CovarianceModel
from askew.moments.low_rank_moments import LowRankMoments
from askew.moments.moments import BaseMoments, DiagonalMoments, Moments

__all__ = ["BaseMoments", "CovarianceModel", "DiagonalMoments", "LowRankMoments", "Moments"]
