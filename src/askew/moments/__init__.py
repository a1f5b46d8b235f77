"""Moments of the negatives and the structures their covariance may have."""

from askew.moments.choice import CovarianceModel
from askew.moments.columns import append_columns, place_moments
from askew.moments.low_rank_moments import LowRankMoments
from askew.moments.moments import BaseMoments, DiagonalMoments, Moments
from askew.moments.scaling import diagonal_moments, divide_moments, divide_rows, unit_scale

__all__ = [
    "BaseMoments",
    "CovarianceModel",
    "DiagonalMoments",
    "LowRankMoments",
    "Moments",
    "append_columns",
    "diagonal_moments",
    "divide_moments",
    "divide_rows",
    "place_moments",
    "unit_scale",
]
