"""Bends: positive functions D that turn k(x, x') into D(x)k(x, x')D(x')."""

from askew.kernels.bends.asymmetric import Asymmetric
from askew.kernels.bends.bend import Bend, Sight, Slopes
from askew.kernels.bends.boundary import Boundary, balanced_share
from askew.kernels.bends.distances import Distances, NegativeDistance, squared_distances
from askew.kernels.bends.radial import Adaptive, Support, on_rows, with_unit_mean_square
from askew.kernels.bends.symmetric import Symmetric

__all__ = [
    "Adaptive",
    "Asymmetric",
    "Bend",
    "Boundary",
    "Distances",
    "NegativeDistance",
    "Sight",
    "Slopes",
    "Support",
    "Symmetric",
    "balanced_share",
    "on_rows",
    "squared_distances",
    "with_unit_mean_square",
]
